package console

import (
	"github.com/gofiber/fiber/v2"

	"callgate/internal/fault"
	"callgate/internal/stats"
)

// listCalls is the call flow. Its own dates, page and filters never depend on those of the lists.
func (c *Console) listCalls(ctx *fiber.Ctx) (any, error) {
	q, err := c.callsQuery(ctx)
	if err != nil {
		return nil, err
	}
	if q.Page, err = pageNumber(ctx); err != nil {
		return nil, err
	}
	if q.Until, err = timeParam(ctx, "until"); err != nil {
		return nil, err
	}
	if q.At, err = timeParam(ctx, "at"); err != nil {
		return nil, err
	}
	if q.At != nil && ctx.Context().QueryArgs().Has("page") {
		return nil, fault.InvalidFields(map[string]string{"at": "must not be given together with page"})
	}
	return c.Report.CallPage(ctx.UserContext(), q)
}

// getCall tells why one call failed.
func (c *Console) getCall(ctx *fiber.Ctx) (any, error) {
	a, err := c.ownApplication(ctx)
	if err != nil {
		return nil, err
	}
	call, err := idParam(ctx, "callId")
	if err != nil {
		return nil, err
	}
	return c.Report.FailedCall(ctx.UserContext(), a.ID, call)
}

// findCall answers an own call by its id alone. Only own applications are looked in.
func (c *Console) findCall(ctx *fiber.Ctx) (any, error) {
	call, err := idParam(ctx, "callId")
	if err != nil {
		return nil, err
	}
	return c.Report.FindCall(ctx.UserContext(), principal(ctx).UserID, call)
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
	return c.Report.FindCalls(ctx.UserContext(), principal(ctx).UserID, days, trace)
}

// callsQuery reads what listCalls and exportCalls have in common and checks the owner.
func (c *Console) callsQuery(ctx *fiber.Ctx) (stats.CallsQuery, error) {
	days, err := c.daysOf(ctx)
	if err != nil {
		return stats.CallsQuery{}, err
	}
	q := stats.CallsQuery{Range: days}
	if err := c.narrow(ctx, &q); err != nil {
		return stats.CallsQuery{}, err
	}
	if ctx.Context().QueryArgs().Has("traceId") {
		if q.TraceID, err = traceParam(ctx); err != nil {
			return stats.CallsQuery{}, err
		}
	}
	if err := timesOf(ctx, &q); err != nil {
		return stats.CallsQuery{}, err
	}
	a, err := c.ownApplication(ctx)
	q.Application = a.ID
	return q, err
}

// narrow reads which calls are asked for, wherever they are asked about: of which capability, key, tags and user, and what became
// of them.
func (c *Console) narrow(ctx *fiber.Ctx, q *stats.CallsQuery) (err error) {
	if q.Model, err = modelParam(ctx); err != nil {
		return err
	}
	if ctx.Context().QueryArgs().Has("key") {
		if q.Key, err = keyParam(ctx); err != nil {
			return err
		}
	}
	if q.Dimensions, err = c.dimensionsOf(ctx); err != nil {
		return err
	}
	return outcomeOf(ctx, q)
}
