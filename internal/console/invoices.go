package console

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/fault"
	"callgate/internal/invoice"
	"callgate/internal/report"
)

func (c *Console) countedForInvoice(ctx *fiber.Ctx) (any, error) {
	b, err := billingOf(ctx)
	if err != nil {
		return nil, err
	}
	return c.Report.CountedForInvoice(ctx.UserContext(), b.First)
}

func (c *Console) compareInvoice(ctx *fiber.Ctx) (any, error) {
	b, err := billingOf(ctx)
	if err != nil {
		return nil, err
	}
	file, err := readBody(ctx, maxBody)
	if err != nil {
		return nil, err
	}
	billed, ignored, err := invoice.Read(file, b.First)
	if err != nil {
		return nil, err
	}
	return c.Report.CompareInvoice(ctx.UserContext(), b, billed, ignored)
}

var (
	monthText = regexp.MustCompile(`^\d{4}-\d\d$`)
	zoneText  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$`)
)

// billingOf reads month and zone.
func billingOf(ctx *fiber.Ctx) (b report.BillingMonth, err error) {
	wrong := fault.Fields{}
	zone := time.UTC
	if name := cmp.Or(strings.Clone(ctx.Query("zone")), "UTC"); name != "UTC" {
		found := zoneOf(name)
		if zone = cmp.Or(found, time.UTC); found == nil {
			wrong.Add("zone", "must be the name of a time zone, such as UTC, Asia/Shanghai or America/Los_Angeles")
		}
	}
	text := strings.Clone(ctx.Query("month"))
	month, err := time.Parse("2006-01", text)
	if err != nil || !monthText.MatchString(text) || month.Year() < 2000 || month.Year() > 2100 {
		wrong.Add("month", "must be a month of the form 2026-10, from 2000 to 2100")
		return b, wrong.Err()
	}
	b = report.BillingMonthOf(month.Year(), month.Month(), zone)
	if !b.WholeHours() {
		wrong.Add("zone", "must differ from UTC by whole hours: figures are kept by the hour")
	}
	return b, wrong.Err()
}

// zoneOf looks for a zone by a name that is one, nil where there is none; nothing else is looked for in the file system.
func zoneOf(name string) *time.Location {
	if !zoneText.MatchString(name) || name == "Local" {
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return zone
}
