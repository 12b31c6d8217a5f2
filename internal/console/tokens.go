package console

import (
	"context"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/stats"
)

// tokenUsage is what applications together used in a range of days, and what that cost by the prices of now.
type tokenUsage struct {
	stats.TokenUsage
	book    *pricing.Book
	total   *pricing.Sum
	byDay   map[beijing.Day]*pricing.Sum
	byModel map[string]*pricing.Sum
}

// tokenUsage asks for both at once.
func (c *Console) tokenUsage(ctx context.Context, ids []uuid.UUID, days beijing.Range) (*tokenUsage, error) {
	book, err := c.Pricing.Book(ctx)
	if err != nil {
		return nil, err
	}
	u := &tokenUsage{book: book, total: book.Sum(), byDay: map[beijing.Day]*pricing.Sum{}, byModel: map[string]*pricing.Sum{}}
	priced := book.Capabilities()
	var rows []stats.ModelTokens
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		u.TokenUsage, err = c.Stats.Tokens(ctx, ids, days, priced)
		return err
	})
	group.Go(func() (err error) {
		rows, err = c.Stats.DayTokens(ctx, ids, days, priced)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, row := range rows {
		tokens := dayTokens(row)
		u.total.Add(tokens)
		sumAt(book, u.byDay, row.Day).Add(tokens)
		sumAt(book, u.byModel, row.Model).Add(tokens)
	}
	return u, nil
}

func (u *tokenUsage) summary(m stats.Metrics) openapi.MetricsFields {
	return metricsFields(m, u.Summary, costOf(u.book, u.total, u.Summary))
}

func (u *tokenUsage) day(m stats.DayMetrics) openapi.DayMetrics {
	t := u.Daily[m.Date]
	return openapi.DayMetrics{Date: m.Date, MetricsFields: metricsFields(m.Metrics, t, costOf(u.book, u.byDay[m.Date], t))}
}

func (u *tokenUsage) model(m stats.ModelMetrics, name string) openapi.ModelMetrics {
	t := u.Models[m.Model]
	return openapi.ModelMetrics{Model: m.Model, Name: name, MetricsFields: metricsFields(m.Metrics, t, costOf(u.book, u.byModel[m.Model], t))}
}

// tokenTotals is tokenUsage for each application by itself, without days and models.
type tokenTotals struct {
	book   *pricing.Book
	tokens map[uuid.UUID]stats.Tokens
	sums   map[uuid.UUID]*pricing.Sum
}

func (c *Console) tokenTotals(ctx context.Context, ids []uuid.UUID, days beijing.Range) (*tokenTotals, error) {
	book, err := c.Pricing.Book(ctx)
	if err != nil {
		return nil, err
	}
	t := &tokenTotals{book: book, sums: map[uuid.UUID]*pricing.Sum{}}
	priced := book.Capabilities()
	spans := each(book.Spans(days), func(r beijing.Range) beijing.Day { return r.Start })
	var rows []stats.ModelTokens
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		t.tokens, err = c.Stats.TokenTotals(ctx, ids, days, priced)
		return err
	})
	group.Go(func() (err error) {
		rows, err = c.Stats.SpanTokens(ctx, ids, days, spans, priced)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, row := range rows {
		sumAt(book, t.sums, row.Application).Add(dayTokens(row))
	}
	return t, nil
}

func (t *tokenTotals) of(id uuid.UUID, m stats.Metrics) openapi.MetricsFields {
	return metricsFields(m, t.tokens[id], costOf(t.book, t.sums[id], t.tokens[id]))
}

func sumAt[K comparable](book *pricing.Book, sums map[K]*pricing.Sum, key K) *pricing.Sum {
	sum := sums[key]
	if sum == nil {
		sum = book.Sum()
		sums[key] = sum
	}
	return sum
}

func dayTokens(row stats.ModelTokens) pricing.DayTokens {
	return pricing.DayTokens{
		Capability: row.Model, UpstreamModel: row.UpstreamModel, Day: row.Day, Calls: row.Calls,
		Input: row.Input, Cached: row.Cached, CacheWrite: row.CacheWrite, Output: row.Output,
	}
}

// costOf is what the calls of t cost, of which sum holds those of capabilities with a price; nil holds none.
func costOf(book *pricing.Book, sum *pricing.Sum, t stats.Tokens) []pricing.Cost {
	if sum == nil {
		sum = book.Sum()
	}
	sum.Add(pricing.DayTokens{Calls: t.Unpriced})
	return sum.Costs()
}

func tokensView(t stats.Tokens) openapi.Tokens {
	return openapi.Tokens{
		Input: t.Input, Output: t.Output, Cached: t.Cached, CacheWrite: t.CacheWrite, Reasoning: t.Reasoning,
		ReportedCalls: t.Reported, PartialCalls: t.Partial, AbsentCalls: t.Absent, UnreadableCalls: t.Unreadable,
		StreamedCalls: t.Streamed, StreamedAbsentCalls: t.StreamedAbsent,
	}
}

func costView(c pricing.Cost) openapi.Cost {
	view := openapi.Cost{PricedCalls: c.PricedCalls, UnpricedCalls: c.UnpricedCalls}
	if c.Currency != "" {
		amount := c.Amount.String()
		view.Amount, view.Currency = &amount, &c.Currency
	}
	return view
}
