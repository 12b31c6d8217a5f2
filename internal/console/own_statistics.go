package console

import (
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/report"
)

// applicationStatistics lists the account's applications with the figures of each.
func (c *Console) applicationStatistics(ctx *fiber.Ctx) (any, error) {
	days, err := c.daysOf(ctx)
	if err != nil {
		return nil, err
	}
	page, err := pageNumber(ctx)
	if err != nil {
		return nil, err
	}
	by, err := choiceOf(ctx)
	if err != nil {
		return nil, err
	}
	by.Days = days
	return c.Report.ApplicationList(ctx.UserContext(), principal(ctx).UserID, by, page)
}

// maxSought is how many characters a text may have that names are searched for.
const maxSought = 64

// choiceOf reads q, status and sort.
func choiceOf(ctx *fiber.Ctx) (by report.ApplicationChoice, err error) {
	wrong := fault.Fields{}
	switch status := ctx.Query("status"); status {
	case "", application.Active, application.Disabled:
		by.Status = strings.Clone(status)
	default:
		wrong.Add("status", "must be active or disabled, or left out")
	}
	switch order := ctx.Query("sort"); order {
	case "", report.Newest:
	case report.ByName, report.ByCalls, report.ByFailures, report.ByLastCall:
		by.Order = strings.Clone(order)
	default:
		wrong.Add("sort", "must be newest, name, calls, failures or lastCall")
	}
	if by.Text, err = textParam(ctx, "q"); err != nil {
		return by, err
	}
	wrong.Text("q", by.Text, 0, maxSought)
	by.Text = strings.ToLower(by.Text)
	return by, wrong.Err()
}

// overviewStatistics covers all existing applications, however they are paged.
func (c *Console) overviewStatistics(ctx *fiber.Ctx) (any, error) {
	days, err := c.daysOf(ctx)
	if err != nil {
		return nil, err
	}
	return c.Report.Overview(ctx.UserContext(), principal(ctx).UserID, days)
}

func (c *Console) oneApplicationStatistics(ctx *fiber.Ctx) (any, error) {
	days, err := c.daysOf(ctx)
	if err != nil {
		return nil, err
	}
	a, err := c.ownApplication(ctx)
	if err != nil {
		return nil, err
	}
	return c.Report.ApplicationDetail(ctx.UserContext(), a, days)
}

func (c *Console) applicationReasons(ctx *fiber.Ctx) (any, error) {
	days, model, err := c.daysAndModel(ctx)
	if err != nil {
		return nil, err
	}
	a, err := c.ownApplication(ctx)
	if err != nil {
		return nil, err
	}
	return c.Report.ApplicationReasons(ctx.UserContext(), a.ID, days, model)
}

func (c *Console) applicationKeys(ctx *fiber.Ctx) (any, error) {
	days, err := c.daysOf(ctx)
	if err != nil {
		return nil, err
	}
	interval := ctx.Query("interval")
	if ctx.Context().QueryArgs().Has("interval") && interval != "day" {
		return nil, fault.InvalidFields(map[string]string{"interval": "must be day, or left out"})
	}
	id, err := idParam(ctx, "id")
	if err != nil {
		return nil, err
	}
	return c.Report.ApplicationKeys(ctx.UserContext(), principal(ctx).UserID, id, days, interval != "")
}

func (c *Console) overviewReasons(ctx *fiber.Ctx) (any, error) {
	days, model, err := c.daysAndModel(ctx)
	if err != nil {
		return nil, err
	}
	return c.Report.OverviewReasons(ctx.UserContext(), principal(ctx).UserID, days, model)
}

func (c *Console) applicationHours(ctx *fiber.Ctx) (any, error) {
	day, model, err := c.dayAndModel(ctx)
	if err != nil {
		return nil, err
	}
	a, err := c.ownApplication(ctx)
	if err != nil {
		return nil, err
	}
	return c.Report.Hours(ctx.UserContext(), []uuid.UUID{a.ID}, day, model)
}

func (c *Console) overviewHours(ctx *fiber.Ctx) (any, error) {
	day, model, err := c.dayAndModel(ctx)
	if err != nil {
		return nil, err
	}
	return c.Report.OverviewHours(ctx.UserContext(), principal(ctx).UserID, day, model)
}

// ownApplication is the application of the path; somebody else's is absent.
func (c *Console) ownApplication(ctx *fiber.Ctx) (application.Application, error) {
	id, err := idParam(ctx, "id")
	if err != nil {
		return application.Application{}, err
	}
	return c.Applications.Get(ctx.UserContext(), principal(ctx).UserID, id)
}

// daysOf reads the query parameters start and end. One that is there but empty is no date.
func (c *Console) daysOf(ctx *fiber.Ctx) (beijing.Range, error) {
	for _, name := range []string{"start", "end"} {
		if ctx.Context().QueryArgs().Has(name) && ctx.Query(name) == "" {
			return beijing.Range{}, fault.New(fault.InvalidDate, "%s must be a date of the form YYYY-MM-DD", name)
		}
	}
	return beijing.ParseRange(ctx.Query("start"), ctx.Query("end"), beijing.Today(c.Now()))
}

func (c *Console) daysAndModel(ctx *fiber.Ctx) (days beijing.Range, model *string, err error) {
	if days, err = c.daysOf(ctx); err != nil {
		return days, nil, err
	}
	model, err = modelParam(ctx)
	return days, model, err
}

// dayAndModel reads day, without which it is today, and model.
func (c *Console) dayAndModel(ctx *fiber.Ctx) (day beijing.Day, model *string, err error) {
	if day = beijing.Today(c.Now()); ctx.Context().QueryArgs().Has("day") {
		if ctx.Query("day") == "" {
			return day, nil, fault.New(fault.InvalidDate, "%s must be a date of the form YYYY-MM-DD", "day")
		}
		if day, err = beijing.ParseDate("day", ctx.Query("day")); err != nil {
			return day, nil, err
		}
	}
	model, err = modelParam(ctx)
	return day, model, err
}
