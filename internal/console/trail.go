package console

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/audit"
	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/openapi"
	"callgate/internal/report"
)

// maxTold is how many characters a text may have that entries of the audit trail begin with.
const maxTold = 254

var auditHeader = []string{"id", "at", "actor", "action", "targetType", "targetId", "targetName", "changes"}

// auditFilter reads actor, action, target, from and to.
func auditFilter(ctx *fiber.Ctx) (f audit.Filter, err error) {
	wrong := fault.Fields{}
	for name, into := range map[string]*string{"actor": &f.Actor, "action": &f.Action, "target": &f.Target} {
		text, err := textParam(ctx, name)
		if err != nil {
			return f, err
		}
		*into = strings.TrimSpace(text)
		wrong.Text(name, *into, 0, maxTold)
	}
	f.Actor, f.Action = strings.ToLower(f.Actor), strings.ToLower(f.Action)
	if f.From, err = timeParam(ctx, "from"); err != nil {
		return f, err
	}
	if f.To, err = timeParam(ctx, "to"); err != nil {
		return f, err
	}
	if f.From != nil && f.To != nil && !f.To.After(*f.From) {
		wrong.Add("to", "must be after from")
	}
	return f, wrong.Err()
}

func (c *Console) listAudit(ctx *fiber.Ctx) (any, error) {
	filter, err := auditFilter(ctx)
	if err != nil {
		return nil, err
	}
	found, err := pageOf(ctx, auditView, func(ctx context.Context, page, size int) ([]audit.Row, int, error) {
		return audit.List(ctx, c.Pool, filter, page, size)
	})
	return openapi.AuditPage(found), err
}

// exportAudit is listAudit without pages, as CSV.
func (c *Console) exportAudit(ctx *fiber.Ctx) (any, error) {
	filter, err := auditFilter(ctx)
	if err != nil {
		return nil, err
	}
	return c.csvFile(ctx, "audit.csv", func(ctx context.Context, to io.Writer) error { return c.writeAudit(ctx, to, filter) })
}

func (c *Console) writeAudit(ctx context.Context, to io.Writer, filter audit.Filter) error {
	file, err := report.NewSheet(to, auditHeader)
	if err != nil {
		return err
	}
	for before := int64(math.MaxInt64); ; {
		block, err := audit.Before(ctx, c.Pool, filter, before, exportBlock)
		if err != nil {
			return err
		}
		for _, r := range block {
			line, err := auditLine(r)
			if err == nil {
				err = file.Line(line)
			}
			if err != nil {
				return err
			}
			before = r.ID
		}
		if err := file.Flush(); err != nil || len(block) < exportBlock {
			return err
		}
	}
}

// auditLine is an entry under auditHeader.
func auditLine(r audit.Row) ([]string, error) {
	changes, err := json.Marshal(r.Changes)
	return []string{strconv.FormatInt(r.ID, 10), beijing.Format(r.At), r.Actor, r.Action,
		r.TargetType, r.TargetID, r.TargetName, string(changes)}, err
}
