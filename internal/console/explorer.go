package console

import (
	"context"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/openapi"
	"callgate/internal/stats"
)

const (
	topReasons = 20  // that are told apart
	maxTraced  = 100 // calls of a trace
)

// owned are an owner's applications by their ids, and these.
func (c *Console) owned(ctx context.Context, owner uuid.UUID) (all map[uuid.UUID]application.Brief, ids []uuid.UUID, err error) {
	list, err := c.Applications.All(ctx, owner)
	all = make(map[uuid.UUID]application.Brief, len(list))
	for _, a := range list {
		all[a.ID], ids = a, append(ids, a.ID)
	}
	return all, ids, err
}

// findCall answers an own call by its id alone. Only own applications are looked in.
func (c *Console) findCall(ctx *fiber.Ctx) (any, error) {
	call, err := idParam(ctx, "callId")
	if err != nil {
		return nil, err
	}
	all, ids, err := c.owned(ctx.UserContext(), principal(ctx).UserID)
	if err != nil {
		return nil, err
	}
	found, of, err := c.Stats.Find(ctx.UserContext(), ids, call)
	if err != nil {
		return nil, err
	}
	answer := openapi.FoundCall{CallFields: callFields(found.Call), Application: nameOf(all[of])}
	if !found.Success {
		failure := failureView(found.Failure)
		answer.Failure = &failure
	}
	return answer, nil
}

// findCalls answers the own calls of a trace, whichever applications made them.
func (c *Console) findCalls(ctx *fiber.Ctx) (any, error) {
	days, err := c.daysOf(ctx)
	if err != nil {
		return nil, err
	}
	trace, err := traceParam(ctx)
	if err != nil {
		return nil, err
	}
	all, ids, err := c.owned(ctx.UserContext(), principal(ctx).UserID)
	if err != nil {
		return nil, err
	}
	var answer openapi.FoundCalls
	coverage, calls, err := c.coverage(ctx.UserContext(), ids, days)
	if err != nil {
		return nil, err
	}
	answer.Coverage, answer.RetainedFrom = coverage, calls
	found, err := c.Stats.Trace(ctx.UserContext(), ids, days, trace, maxTraced+1)
	if err != nil {
		return nil, err
	}
	if answer.More = len(found) > maxTraced; answer.More {
		found = found[:maxTraced]
	}
	answer.Items = each(found, func(o stats.OwnedCall) openapi.TracedCall {
		return openapi.TracedCall{CallFields: callFields(o.Call), Reason: callReason(o.Reason), Application: nameOf(all[o.Application])}
	})
	return answer, nil
}

func nameOf(a application.Brief) openapi.ApplicationName {
	return openapi.ApplicationName{ID: a.ID, Name: a.Name, Status: a.Status}
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
	return c.ApplicationReasons(ctx.UserContext(), a.ID, days, model)
}

// ApplicationReasons answers why calls of an application failed; model nil is all.
func (c *Console) ApplicationReasons(ctx context.Context, id uuid.UUID, days beijing.Range, model *string) (answer openapi.ApplicationReasons, err error) {
	if answer.Coverage, err = c.coverageOf(ctx, []uuid.UUID{id}, days); err != nil {
		return answer, err
	}
	found, names, err := c.reasons(ctx, []uuid.UUID{id}, days, model)
	if err != nil {
		return answer, err
	}
	answer.Failures, answer.Other = summed(found)
	answer.Items = each(found[:min(topReasons, len(found))], func(f stats.ReasonFigures) openapi.Reason {
		return openapi.Reason{ReasonFields: reasonFields(f, names)}
	})
	return answer, nil
}

func (c *Console) overviewReasons(ctx *fiber.Ctx) (any, error) {
	days, model, err := c.daysAndModel(ctx)
	if err != nil {
		return nil, err
	}
	return c.OverviewReasons(ctx.UserContext(), principal(ctx).UserID, days, model)
}

// OverviewReasons answers why calls of all applications of an owner failed; model nil is all.
func (c *Console) OverviewReasons(ctx context.Context, owner uuid.UUID, days beijing.Range, model *string) (answer openapi.OverviewReasons, err error) {
	all, ids, err := c.owned(ctx, owner)
	if err != nil {
		return answer, err
	}
	if answer.Coverage, err = c.coverageOf(ctx, ids, days); err != nil {
		return answer, err
	}
	found, names, err := c.reasons(ctx, ids, days, model)
	if err != nil {
		return answer, err
	}
	answer.Failures, answer.Other = summed(found)
	answer.Items = each(found[:min(topReasons, len(found))], func(f stats.ReasonFigures) openapi.OverviewReason {
		top := all[f.Top]
		return openapi.OverviewReason{
			ReasonFields: reasonFields(f, names), ApplicationCount: f.Applications,
			TopApplication: openapi.HitApplication{ID: top.ID, Name: top.Name, Status: top.Status, Failures: f.TopFailures},
		}
	})
	return answer, nil
}

// reasons are those of some applications, and the names that capabilities have now.
func (c *Console) reasons(ctx context.Context, ids []uuid.UUID, days beijing.Range, model *string) (found []stats.ReasonFigures, names map[string]string, err error) {
	if found, err = c.Stats.Reasons(ctx, ids, days, model); err != nil {
		return nil, nil, err
	}
	names, err = c.Catalog.Names(ctx)
	return found, names, err
}

// summed are all failures, and those that are not told apart.
func summed(found []stats.ReasonFigures) (failures int64, other openapi.OtherReasons) {
	for i, f := range found {
		failures += f.Failures
		if i >= topReasons {
			other.Reasons++
			other.Failures += f.Failures
		}
	}
	return failures, other
}

func reasonFields(f stats.ReasonFigures, names map[string]string) openapi.ReasonFields {
	fields := openapi.ReasonFields{
		Type: told(f.Type), Code: told(f.Code), Model: f.Model, Name: names[f.Model],
		Failures: f.Failures, FirstSeen: f.FirstSeen, LastSeen: f.LastSeen,
	}
	if f.UpstreamStatus != 0 {
		fields.UpstreamStatus = widened(&f.UpstreamStatus)
	}
	return fields
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
	return c.Hours(ctx.UserContext(), []uuid.UUID{a.ID}, day, model)
}

func (c *Console) overviewHours(ctx *fiber.Ctx) (any, error) {
	day, model, err := c.dayAndModel(ctx)
	if err != nil {
		return nil, err
	}
	_, ids, err := c.owned(ctx.UserContext(), principal(ctx).UserID)
	if err != nil {
		return nil, err
	}
	return c.Hours(ctx.UserContext(), ids, day, model)
}

// Hours answers a day of some applications by the hour; model nil is all.
func (c *Console) Hours(ctx context.Context, ids []uuid.UUID, day beijing.Day, model *string) (answer openapi.HourlyStatistics, err error) {
	if answer.Coverage, err = c.coverageOf(ctx, ids, beijing.Range{Start: day, End: day}); err != nil {
		return answer, err
	}
	hours, err := c.Stats.Hourly(ctx, ids, day, model)
	answer.Hours = each(hours, func(h stats.HourMetrics) openapi.HourMetrics {
		return openapi.HourMetrics{
			Hour: h.Hour, Calls: h.Calls, Successes: h.Successes, Failures: h.Failures, SuccessRate: h.SuccessRate,
			AvgDurationMs: h.AvgDurationMs, P50Ms: h.P50Ms, P95Ms: h.P95Ms, P99Ms: h.P99Ms, FirstByte: openapi.FirstByte(h.FirstByte),
		}
	})
	return answer, err
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
