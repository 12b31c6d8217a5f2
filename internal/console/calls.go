package console

import (
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/fault"
	"callgate/internal/stats"
)

// callsSizes are how many calls of several applications a page may have.
var callsSizes = []int{10, 25, 50, 100}

// listCalls is the call flow. Its own dates, page and filters never depend on those of the lists.
func (c *Console) listCalls(ctx *fiber.Ctx) (any, error) {
	q, err := c.callsOfOne(ctx)
	if err != nil {
		return nil, err
	}
	if err := placeOf(ctx, &q); err != nil {
		return nil, err
	}
	return c.Report.CallPage(ctx.UserContext(), q)
}

// listOwnCalls is listCalls of all own applications, or of some.
func (c *Console) listOwnCalls(ctx *fiber.Ctx) (any, error) {
	q, err := c.callsOfAny(ctx)
	if err != nil {
		return nil, err
	}
	if err := placeOf(ctx, &q); err != nil {
		return nil, err
	}
	if q.Size, err = pageSize(ctx); err != nil {
		return nil, err
	}
	if !slices.Contains(callsSizes, q.Size) {
		return nil, fault.InvalidFields(map[string]string{"size": "must be 10, 25, 50 or 100"})
	}
	return c.Report.OwnCallPage(ctx.UserContext(), principal(ctx).UserID, q)
}

// countOwnCalls tells how many calls listOwnCalls would list by other values of its filters.
func (c *Console) countOwnCalls(ctx *fiber.Ctx) (any, error) {
	q, err := c.callsToRead(ctx)
	if err != nil {
		return nil, err
	}
	return c.Report.CallFacets(ctx.UserContext(), principal(ctx).UserID, q)
}

// groupOwnFailures tells what the messages of the failures that listOwnCalls would list say.
func (c *Console) groupOwnFailures(ctx *fiber.Ctx) (any, error) {
	q, err := c.callsToRead(ctx)
	if err != nil {
		return nil, err
	}
	return c.Report.FailureMessages(ctx.UserContext(), principal(ctx).UserID, q)
}

// callsToRead reads which calls are asked for as of when, where every one of them is read.
func (c *Console) callsToRead(ctx *fiber.Ctx) (stats.CallsQuery, error) {
	q, err := c.callsOfAny(ctx)
	if err != nil {
		return q, err
	}
	if q.Until, err = timeParam(ctx, "until"); err != nil {
		return q, err
	}
	wrong := fault.Fields{}
	checkReadDays(q.Range, wrong)
	return q, wrong.Err()
}

// placeOf reads which page is asked for, and as of when.
func placeOf(ctx *fiber.Ctx, q *stats.CallsQuery) (err error) {
	if q.Page, err = pageNumber(ctx); err != nil {
		return err
	}
	if q.Until, err = timeParam(ctx, "until"); err != nil {
		return err
	}
	if q.At, err = timeParam(ctx, "at"); err != nil {
		return err
	}
	if q.At != nil && ctx.Context().QueryArgs().Has("page") {
		return fault.InvalidFields(map[string]string{"at": "must not be given together with page"})
	}
	return nil
}

// getCall tells why one call failed; of one that succeeded there is nothing to tell (NoFailureDetail).
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

// callsOfOne reads what listCalls and exportCalls have in common and checks the owner.
func (c *Console) callsOfOne(ctx *fiber.Ctx) (stats.CallsQuery, error) {
	q, err := c.callsQuery(ctx)
	if err != nil {
		return q, err
	}
	a, err := c.ownApplication(ctx)
	q.Applications = []uuid.UUID{a.ID}
	return q, err
}

// callsOfAny reads the same of any applications; their owner is not checked.
func (c *Console) callsOfAny(ctx *fiber.Ctx) (stats.CallsQuery, error) {
	q, err := c.callsQuery(ctx)
	if err != nil {
		return q, err
	}
	wrong := fault.Fields{}
	q.Applications = applicationsOf(ctx, wrong)
	return q, wrong.Err()
}

// callsQuery reads which calls are asked for, whatever their applications.
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
	return q, timesOf(ctx, &q)
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
