package console

import (
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"golang.org/x/text/currency"

	"callgate/internal/fault"
	"callgate/internal/report"
)

func (c *Console) figuresOverview(ctx *fiber.Ctx) (any, error) {
	days, err := c.daysOf(ctx)
	if err != nil {
		return nil, err
	}
	return c.Report.FiguresOverview(ctx.UserContext(), days)
}

func (c *Console) listCapabilityFigures(ctx *fiber.Ctx) (any, error) {
	days, err := c.daysOf(ctx)
	if err != nil {
		return nil, err
	}
	return c.Report.CapabilityFiguresList(ctx.UserContext(), days)
}

func (c *Console) capabilityFigures(ctx *fiber.Ctx, id string) (any, error) {
	days, err := c.daysOf(ctx)
	if err != nil {
		return nil, err
	}
	return c.Report.CapabilityFigures(ctx.UserContext(), id, days)
}

func (c *Console) listOwnerFigures(ctx *fiber.Ctx) (any, error) {
	by, err := c.figuresOf(ctx)
	if err != nil {
		return nil, err
	}
	return c.Report.OwnerFigures(ctx.UserContext(), by)
}

func (c *Console) listApplicationFigures(ctx *fiber.Ctx) (any, error) {
	by, err := c.figuresOf(ctx)
	if err != nil {
		return nil, err
	}
	return c.Report.ApplicationFigures(ctx.UserContext(), by)
}

func (c *Console) upstreamStatistics(ctx *fiber.Ctx) (any, error) {
	days, err := c.daysOf(ctx)
	if err != nil {
		return nil, err
	}
	return c.Report.UpstreamFigures(ctx.UserContext(), days)
}

func (c *Console) figuresOf(ctx *fiber.Ctx) (by report.FiguresChoice, err error) {
	if by.Days, err = c.daysOf(ctx); err != nil {
		return by, err
	}
	if by.Page, by.Size, err = pageAndSize(ctx); err != nil {
		return by, err
	}
	if by.Text, err = textParam(ctx, "q"); err != nil {
		return by, err
	}
	wrong := fault.Fields{}
	wrong.Text("q", by.Text, 0, maxSought)
	by.Text = strings.ToLower(by.Text)
	switch order := ctx.Query("sort"); order {
	case "":
		by.Order = report.ByCalls
	case report.ByCalls, report.ByFailures, report.ByFailureRate, report.ByTokens, report.ByCost:
		by.Order = strings.Clone(order)
	default:
		wrong.Add("sort", "must be calls, failures, failureRate, tokens or cost")
	}
	if by.Currency = strings.Clone(ctx.Query("currency")); by.Currency != "" {
		if unit, err := currency.ParseISO(by.Currency); err != nil || unit.String() != by.Currency {
			wrong.Add("currency", "must be an ISO 4217 code in capitals, such as CNY or USD")
		}
	}
	by.Owner = ownerParam(ctx, wrong)
	return by, wrong.Err()
}

// ownerParam reads owner; nil is anybody.
func ownerParam(ctx *fiber.Ctx, wrong fault.Fields) *uuid.UUID {
	text := ctx.Query("owner")
	if text == "" {
		return nil
	}
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		wrong.Add("owner", "must be the id of a user")
	}
	return &id
}
