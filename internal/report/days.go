package report

import (
	"context"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/days"
	"callgate/internal/stats"
)

// DaySource answers for the figures that days are closed with.
type DaySource struct{ r *Report }

// DaySource is what days are closed with: the figures of each application that exists and called.
func (r *Report) DaySource() DaySource { return DaySource{r} }

// Through is before which everything that ended is in the figures.
func (s DaySource) Through(ctx context.Context) (time.Time, error) {
	standing, err := alertSource(s).Standing(ctx)
	return standing.Through, err
}

// Day gives the figures of every application that exists and has calls on the day.
func (s DaySource) Day(ctx context.Context, day beijing.Day) ([]days.Application, error) {
	all, _, err := s.r.Applications.Everyones(ctx)
	if err != nil {
		return nil, err
	}
	owners := make(map[uuid.UUID]uuid.UUID, len(all))
	for _, a := range all {
		owners[a.ID] = a.OwnerID
	}
	book, err := s.r.Pricing.Book(ctx)
	if err != nil {
		return nil, err
	}
	totals := newPricedBy[uuid.UUID](book)
	err = s.r.Stats.TokensOfDay(ctx, day, book.UpstreamModels(), func(row *stats.ModelTokens) { totals.add(row.Application, row) })
	if err != nil {
		return nil, err
	}
	called, err := s.r.Stats.DayCalls(ctx, day)
	if err != nil {
		return nil, err
	}
	figures := make([]days.Application, 0, len(called))
	for _, c := range called {
		if owner, exists := owners[c.Application]; exists {
			figures = append(figures, days.Application{ID: c.Application, Owner: owner, Figures: dayFigures(c, totals.at(c.Application))})
		}
	}
	return figures, nil
}

func dayFigures(c stats.DayCalls, t *priced) days.Figures {
	f := days.Figures{
		Calls: c.Calls, Successes: c.Successes, DurationMs: c.DurationMs, Costs: []days.Cost{},
		Tokens: days.Tokens{
			Input: t.Input.Pointer(), Output: t.Output.Pointer(), Cached: t.Cached.Pointer(), CacheWrite: t.CacheWrite.Pointer(), Reasoning: t.Reasoning.Pointer(),
			Reported: t.Reported, Partial: t.Partial, Absent: t.Absent, Unreadable: t.Unreadable,
		},
	}
	for _, cost := range t.sum.Costs() {
		f.Unpriced = cost.UnpricedCalls
		if cost.Currency != "" {
			f.Costs = append(f.Costs, days.Cost{Currency: cost.Currency, Amount: cost.Amount, Priced: cost.PricedCalls})
		}
	}
	return f
}
