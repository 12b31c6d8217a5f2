package report

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/stats"
)

// ApplicationChoice is which of an owner's applications are listed and in which order. The zero value is all, newest first.
type ApplicationChoice struct {
	Text   string // part of name or id, in lower case
	Status string // application.Active or Disabled; empty: both
	Order  string // Newest, ByName, ByCalls, ByFailures or ByLastCall; empty: Newest
	Days   beijing.Range
}

// The orders of lists, as sort names them.
const (
	Newest        = "newest"
	ByName        = "name"
	ByCalls       = "calls"
	ByFailures    = "failures"
	ByLastCall    = "lastCall"
	ByFailureRate = "failureRate"
	ByTokens      = "tokens"
	ByCost        = "cost"
)

// ChosenApplications lists a page of an owner's applications as chosen, and how many there are.
func (r *Report) ChosenApplications(ctx context.Context, owner uuid.UUID, by ApplicationChoice, page, size int) ([]application.Application, int, error) {
	if by.Text == "" && by.Status == "" && by.Order == "" {
		return r.Applications.List(ctx, owner, page, size)
	}
	all, err := r.Applications.All(ctx, owner)
	if err != nil {
		return nil, 0, err
	}
	all = slices.DeleteFunc(all, func(a application.Brief) bool {
		return by.Status != "" && a.Status != by.Status ||
			!strings.Contains(strings.ToLower(a.Name), by.Text) && !strings.Contains(a.ID.String(), by.Text)
	})
	ids := make([]uuid.UUID, len(all))
	for i, a := range all {
		ids[i] = a.ID
	}
	before, err := r.inOrder(ctx, by, ids)
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
	found, err := r.Applications.Some(ctx, owner, ids)
	return found, len(all), err
}

// inOrder compares applications as chosen; those that stand equal keep their order, newest first.
func (r *Report) inOrder(ctx context.Context, by ApplicationChoice, ids []uuid.UUID) (func(a, b application.Brief) int, error) {
	switch by.Order {
	case ByName:
		return func(a, b application.Brief) int {
			return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.Name, b.Name))
		}, nil
	case ByLastCall:
		last, err := r.Stats.LastCalls(ctx, ids)
		return func(a, b application.Brief) int { return last[b.ID].Compare(last[a.ID]) }, err
	case ByCalls, ByFailures:
		totals, err := r.Stats.Totals(ctx, ids, by.Days)
		of := func(m stats.Metrics) int64 { return m.Calls }
		if by.Order == ByFailures {
			of = func(m stats.Metrics) int64 { return m.Failures }
		}
		return descending(func(id uuid.UUID) int64 { return of(totals[id]) }), err
	}
	return func(application.Brief, application.Brief) int { return 0 }, nil
}

func descending(of func(uuid.UUID) int64) func(a, b application.Brief) int {
	return func(a, b application.Brief) int { return cmp.Compare(of(b.ID), of(a.ID)) }
}
