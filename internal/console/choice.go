package console

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/stats"
)

// maxSought is how many characters a text may have that names are searched for.
const maxSought = 64

// choice is which of an owner's applications are listed and in which order. The zero value is all, newest first.
type choice struct {
	text   string // part of name or id, in lower case
	status string
	order  string
	days   beijing.Range // for the orders byCalls and byFailures
}

// The orders of applications.
const (
	newest     = "newest"
	byName     = "name"
	byCalls    = "calls"
	byFailures = "failures"
	byLastCall = "lastCall"
)

// choiceOf reads q, status and sort.
func choiceOf(ctx *fiber.Ctx) (by choice, err error) {
	wrong := fault.Fields{}
	switch status := ctx.Query("status"); status {
	case "", application.Active, application.Disabled:
		by.status = strings.Clone(status)
	default:
		wrong.Add("status", "must be active or disabled, or left out")
	}
	switch order := ctx.Query("sort"); order {
	case "", newest:
	case byName, byCalls, byFailures, byLastCall:
		by.order = strings.Clone(order)
	default:
		wrong.Add("sort", "must be newest, name, calls, failures or lastCall")
	}
	if by.text, err = textParam(ctx, "q"); err != nil {
		return by, err
	}
	wrong.Text("q", by.text, 0, maxSought)
	by.text = strings.ToLower(by.text)
	return by, wrong.Err()
}

// chosen lists a page of an owner's applications as chosen, and how many there are.
func (c *Console) chosen(ctx context.Context, owner uuid.UUID, by choice, page, size int) ([]application.Application, int, error) {
	if by.text == "" && by.status == "" && by.order == "" {
		return c.Applications.List(ctx, owner, page, size)
	}
	all, err := c.Applications.All(ctx, owner)
	if err != nil {
		return nil, 0, err
	}
	all = slices.DeleteFunc(all, func(a application.Brief) bool {
		return by.status != "" && a.Status != by.status ||
			!strings.Contains(strings.ToLower(a.Name), by.text) && !strings.Contains(a.ID.String(), by.text)
	})
	ids := make([]uuid.UUID, len(all))
	for i, a := range all {
		ids[i] = a.ID
	}
	before, err := c.inOrder(ctx, by, ids)
	if err != nil {
		return nil, 0, err
	}
	slices.SortStableFunc(all, before)
	first := min(int64(page-1)*int64(size), int64(len(all)))
	shown := all[first:min(first+int64(size), int64(len(all)))]
	ids = ids[:len(shown)]
	for i, a := range shown {
		ids[i] = a.ID
	}
	found, err := c.Applications.Some(ctx, owner, ids)
	return found, len(all), err
}

// inOrder compares applications as chosen; those that stand equal keep their order, newest first.
func (c *Console) inOrder(ctx context.Context, by choice, ids []uuid.UUID) (func(a, b application.Brief) int, error) {
	switch by.order {
	case byName:
		return func(a, b application.Brief) int {
			return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.Name, b.Name))
		}, nil
	case byLastCall:
		last, err := c.Stats.LastCalls(ctx, ids)
		return func(a, b application.Brief) int { return last[b.ID].Compare(last[a.ID]) }, err
	case byCalls, byFailures:
		totals, err := c.Stats.Totals(ctx, ids, by.days)
		of := func(m stats.Metrics) int64 { return m.Calls }
		if by.order == byFailures {
			of = func(m stats.Metrics) int64 { return m.Failures }
		}
		return descending(func(id uuid.UUID) int64 { return of(totals[id]) }), err
	}
	return func(application.Brief, application.Brief) int { return 0 }, nil
}

func descending(of func(uuid.UUID) int64) func(a, b application.Brief) int {
	return func(a, b application.Brief) int { return cmp.Compare(of(b.ID), of(a.ID)) }
}
