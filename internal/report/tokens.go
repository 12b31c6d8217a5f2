package report

import (
	"context"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/meter"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/stats"
)

// priced are the tokens of some calls, and what they cost by the prices of now.
type priced struct {
	stats.Tokens
	sum *pricing.Sum
}

func (p *priced) add(row *stats.ModelTokens, charge pricing.Charge) {
	p.Add(&row.Tokens)
	if row.Calls != 0 || row.Meters != nil {
		p.sum.Add(charge)
	}
}

// pricedBy are tokens by a key.
type pricedBy[K comparable] struct {
	book *pricing.Book
	of   map[K]*priced
}

func newPricedBy[K comparable](book *pricing.Book) pricedBy[K] {
	return pricedBy[K]{book, map[K]*priced{}}
}

// chargeOf is what a row costs.
func chargeOf(book *pricing.Book, row *stats.ModelTokens) pricing.Charge {
	u := pricing.Usage{Capability: row.Model, UpstreamModel: row.UpstreamModel, Day: row.Day, Calls: row.Calls, Meters: pricing.Meters{
		meter.Input: row.Input.N, meter.CachedInput: row.Cached.N, meter.CacheWrite: row.CacheWrite.N,
		meter.Output: row.Output.N, meter.Reasoning: row.Reasoning.N,
	}}
	metered(&u, row.Metered)
	return book.Charge(u)
}

// metered makes u what lines add, where they add anything: tokens are 0 then.
func metered(u *pricing.Usage, of stats.Metered) {
	if of.Meters == nil {
		return
	}
	u.Tier, u.Band, u.Beside, u.Meters = of.Tier, of.Band, of.Beside, pricing.Meters{}
	for name, n := range of.Meters {
		u.Add(name, n)
	}
}

// at is those of a key, empty at first.
func (p pricedBy[K]) at(key K) *priced {
	found := p.of[key]
	if found == nil {
		found = &priced{sum: p.book.Sum()}
		p.of[key] = found
	}
	return found
}

// add takes in a row under its key.
func (p pricedBy[K]) add(key K, row *stats.ModelTokens) { p.at(key).add(row, chargeOf(p.book, row)) }

// tokenUsage is what applications together used in a range of days. All comes from one read, so it adds up.
type tokenUsage struct {
	book    *pricing.Book
	byDay   pricedBy[beijing.Day]
	byModel pricedBy[string]
}

func (r *Report) tokenUsage(ctx context.Context, ids []uuid.UUID, days beijing.Range) (*tokenUsage, error) {
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return nil, err
	}
	u := newTokenUsage(book)
	return u, r.Stats.DayTokens(ctx, ids, days, book.UpstreamModels(), u.add)
}

func newTokenUsage(book *pricing.Book) *tokenUsage {
	return &tokenUsage{book: book, byDay: newPricedBy[beijing.Day](book), byModel: newPricedBy[string](book)}
}

func (u *tokenUsage) add(row *stats.ModelTokens) {
	charge := chargeOf(u.book, row)
	u.byDay.at(row.Day).add(row, charge)
	u.byModel.at(row.Model).add(row, charge)
}

// summary adds up the models, which are few.
func (u *tokenUsage) summary(m stats.Metrics) openapi.MetricsFields {
	total := priced{sum: u.book.Sum()}
	for _, p := range u.byModel.of {
		total.Add(&p.Tokens)
		total.sum.AddSum(p.sum)
	}
	return total.beside(m)
}

func (u *tokenUsage) day(m stats.DayMetrics) openapi.DayMetrics {
	return openapi.DayMetrics{Date: m.Date, MetricsFields: u.byDay.at(m.Date).beside(m.Metrics)}
}

func (u *tokenUsage) model(m stats.ModelMetrics, name string) openapi.ModelMetrics {
	return openapi.ModelMetrics{Model: m.Model, Name: name, MetricsFields: u.byModel.at(m.Model).beside(m.Metrics)}
}

// tokenTotals is tokenUsage for each application by itself, without days and models.
func (r *Report) tokenTotals(ctx context.Context, ids []uuid.UUID, days beijing.Range) (pricedBy[uuid.UUID], error) {
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return pricedBy[uuid.UUID]{}, err
	}
	totals := newPricedBy[uuid.UUID](book)
	spans := openapi.Each(book.Spans(days), func(r beijing.Range) beijing.Day { return r.Start })
	err = r.Stats.SpanTokens(ctx, ids, days, spans, book.UpstreamModels(), func(row *stats.ModelTokens) {
		totals.add(row.Application, row)
	})
	return totals, err
}

func (p *priced) beside(m stats.Metrics) openapi.MetricsFields {
	return metricsFields(m, p.Tokens, p.sum)
}

func tokensView(t stats.Tokens) openapi.Tokens {
	return openapi.Tokens{
		Input: t.Input.Pointer(), Output: t.Output.Pointer(), Cached: t.Cached.Pointer(), CacheWrite: t.CacheWrite.Pointer(), Reasoning: t.Reasoning.Pointer(),
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
