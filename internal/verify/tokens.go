package verify

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/stats"
)

// tokens are what the rows of calls say of tokens, and what these cost: each row priced by itself, in decimals, and
// then added up.
type tokens struct {
	book *pricing.Book
	rows []tokenRow
}

func (v *verifier) tokens(ctx context.Context, id uuid.UUID, days beijing.Range) (t tokens, err error) {
	if t.book, err = v.Pricing.Book(ctx); err != nil {
		return t, err
	}
	t.rows, err = v.tokenRows(ctx, id, days)
	return t, err
}

// add takes in those of another application of the same account.
func (t *tokens) add(other tokens) {
	t.book, t.rows = other.book, append(t.rows, other.rows...)
}

// figures are those of some of the rows beside m.
func (t *tokens) figures(m stats.Metrics, of func(tokenRow) bool) openapi.MetricsFields {
	var sum rowTokens
	costs := map[string]*openapi.Cost{}
	amounts := map[string]decimal.Decimal{}
	var unpriced int64
	for _, row := range t.rows {
		if !of(row) {
			continue
		}
		addTokens(&sum, row.rowTokens)
		price, found := t.book.Price(row.Model, row.UpstreamModel, row.Day)
		if !found {
			unpriced += row.Counted
			continue
		}
		if costs[price.Currency] == nil {
			costs[price.Currency] = &openapi.Cost{Currency: &price.Currency}
		}
		costs[price.Currency].PricedCalls += row.Counted
		amounts[price.Currency] = amounts[price.Currency].Add(amountOf(row, price.Rates))
	}
	return openapi.MetricsFields{
		Calls: m.Calls, Successes: m.Successes, Failures: m.Failures, SuccessRate: m.SuccessRate, AvgDurationMs: m.AvgDurationMs,
		P50Ms: m.P50Ms, P95Ms: m.P95Ms, P99Ms: m.P99Ms,
		Tokens: openapi.Tokens{
			Input: sum.Input, Output: sum.Output, Cached: sum.Cached, CacheWrite: sum.CacheWrite, Reasoning: sum.Reasoning,
			ReportedCalls: sum.Reported, PartialCalls: sum.Partial, AbsentCalls: sum.Absent, UnreadableCalls: sum.Unreadable,
			StreamedCalls: sum.Streamed, StreamedAbsentCalls: sum.StreamedAbsent,
		},
		Cost: listed(costs, amounts, unpriced),
	}
}

// listed are costs in the order of their currencies.
func listed(costs map[string]*openapi.Cost, amounts map[string]decimal.Decimal, unpriced int64) []openapi.Cost {
	all := []openapi.Cost{}
	for currency, cost := range costs {
		if cost.PricedCalls == 0 {
			continue
		}
		amount := amounts[currency].String()
		cost.Amount, cost.UnpricedCalls = &amount, unpriced
		all = append(all, *cost)
	}
	if len(all) == 0 && unpriced > 0 {
		all = append(all, openapi.Cost{UnpricedCalls: unpriced})
	}
	slices.SortFunc(all, func(a, b openapi.Cost) int { return cmp.Compare(deref(a.Currency), deref(b.Currency)) })
	return all
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// amountOf is what a row costs, by amounts for a million tokens.
func amountOf(row tokenRow, rates pricing.Rates) decimal.Decimal {
	n := func(count *int64) decimal.Decimal {
		if count == nil {
			return decimal.Zero
		}
		return decimal.NewFromInt(*count)
	}
	cached, written := rates.Input, rates.Input
	if rates.Cached != nil {
		cached = *rates.Cached
	}
	if rates.CacheWrite != nil {
		written = *rates.CacheWrite
	}
	reasoned, given := rates.Amounts[pricing.Reasoning]
	if !given {
		reasoned = rates.Output
	}
	return n(row.Input).Sub(n(row.Cached)).Sub(n(row.CacheWrite)).Mul(rates.Input).
		Add(n(row.Cached).Mul(cached)).Add(n(row.CacheWrite).Mul(written)).
		Add(n(row.Output).Sub(n(row.Reasoning)).Mul(rates.Output)).Add(n(row.Reasoning).Mul(reasoned)).Shift(-6)
}

func addTokens(to *rowTokens, of rowTokens) {
	add := func(to **int64, n *int64) {
		if n == nil {
			return
		}
		sum := *n
		if *to != nil {
			sum += **to
		}
		*to = &sum
	}
	add(&to.Input, of.Input)
	add(&to.Output, of.Output)
	add(&to.Cached, of.Cached)
	add(&to.CacheWrite, of.CacheWrite)
	add(&to.Reasoning, of.Reasoning)
	to.Reported, to.Partial, to.Absent, to.Unreadable = to.Reported+of.Reported, to.Partial+of.Partial, to.Absent+of.Absent, to.Unreadable+of.Unreadable
	to.Streamed, to.StreamedAbsent = to.Streamed+of.Streamed, to.StreamedAbsent+of.StreamedAbsent
}

func all(tokenRow) bool { return true }

func (t *tokens) summary(m stats.Metrics) openapi.MetricsFields { return t.figures(m, all) }

func (t *tokens) day(m stats.DayMetrics) openapi.DayMetrics {
	return openapi.DayMetrics{Date: m.Date, MetricsFields: t.figures(m.Metrics, func(r tokenRow) bool { return r.Day == m.Date })}
}

func (t *tokens) model(m stats.ModelMetrics, name string) openapi.ModelMetrics {
	return openapi.ModelMetrics{Model: m.Model, Name: name, MetricsFields: t.figures(m.Metrics, func(r tokenRow) bool { return r.Model == m.Model })}
}
