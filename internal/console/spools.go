package console

import (
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/openapi"
)

func (c *Console) listSpools(ctx *fiber.Ctx) (any, error) {
	found, err := pageOf(ctx, spoolView, c.Ledger.Spools)
	return openapi.SpoolPage(found), err
}

func (c *Console) retireSpool(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	return respond(spoolView)(c.Ledger.Retire(ctx.UserContext(), id, principal(ctx).Email))
}

func spoolView(s ledger.Spool) openapi.Spool {
	view := openapi.Spool{
		ID: s.ID, Host: s.Node, State: string(s.State), Through: beijing.Format(s.Through), ReportedAt: beijing.Format(s.UpdatedAt),
	}
	if g := s.Gateway; g != nil {
		view.Host, view.Role, view.Version = g.Host, &g.Role, &g.Version
		view.StartedAt, view.LastSeenAt, view.OldestAt = timeView(&g.StartedAt), timeView(&g.SeenAt), timeView(g.OldestAt)
		view.HeldBytes, view.HeldCalls = &g.HeldBytes, g.Held()
	}
	if gone := s.GivenUp; gone != nil {
		view.RetiredAt, view.RetiredBy, view.MissedCalls = timeView(&gone.At), &gone.By, gone.Calls
	}
	return view
}

func timeView(at *time.Time) *string {
	if at == nil {
		return nil
	}
	text := beijing.Format(*at)
	return &text
}
