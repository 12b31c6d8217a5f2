package verify

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/meter"
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
	t.rows = append(t.rows, other.rows...)
}

// figures are those of some of the rows beside m.
func (t *tokens) figures(m stats.Metrics, of func(tokenRow) bool) openapi.MetricsFields {
	var sum rowTokens
	costs := map[string]*openapi.Cost{}
	amounts, totals := map[string]decimal.Decimal{}, map[string]*exchanged{}
	for _, currency := range t.book.Targets() {
		totals[currency] = &exchanged{left: map[string]bool{}}
	}
	var unpriced int64
	for _, row := range t.rows {
		if !of(row) {
			continue
		}
		addTokens(&sum, row.rowTokens)
		for _, line := range row.lines() {
			amount, in, known := t.cost(row, line)
			if !known {
				unpriced += line.calls
				continue
			}
			if costs[in] == nil {
				costs[in] = &openapi.Cost{Currency: &in}
			}
			if line.first {
				costs[in].PricedCalls += line.calls
			}
			amounts[in] = amounts[in].Add(amount)
			for currency, total := range totals {
				if rate, known := t.book.Exchange(in, currency, row.Day); known {
					total.amount = total.amount.Add(amount.Mul(rate))
				} else if line.first && line.calls > 0 || !amount.IsZero() {
					total.left[in] = true
				}
			}
		}
	}
	cost := listed(costs, amounts, unpriced)
	return openapi.MetricsFields{
		Calls: m.Calls, Successes: m.Successes, Failures: m.Failures, SuccessRate: m.SuccessRate, AvgDurationMs: m.AvgDurationMs,
		P50Ms: m.P50Ms, P95Ms: m.P95Ms, P99Ms: m.P99Ms,
		Tokens: openapi.Tokens{
			Input: sum.Input, Output: sum.Output, Cached: sum.Cached, CacheWrite: sum.CacheWrite, Reasoning: sum.Reasoning,
			ReportedCalls: sum.Reported, PartialCalls: sum.Partial, AbsentCalls: sum.Absent, UnreadableCalls: sum.Unreadable,
			StreamedCalls: sum.Streamed, StreamedAbsentCalls: sum.StreamedAbsent,
		},
		Cost: cost, Totals: totaled(totals, cost),
	}
}

// exchanged is what was charged, in one currency; left is by currency what there is no rate for.
type exchanged struct {
	amount decimal.Decimal
	left   map[string]bool
}

func totaled(of map[string]*exchanged, cost []openapi.Cost) []openapi.CostTotal {
	all := []openapi.CostTotal{}
	for _, currency := range slices.Sorted(maps.Keys(of)) {
		if len(cost) == 0 || cost[0].Currency == nil {
			continue
		}
		total := openapi.CostTotal{Currency: currency, Missing: append([]string{}, slices.Sorted(maps.Keys(of[currency].left))...)}
		if len(total.Missing) == 0 {
			amount := of[currency].amount.String()
			total.Amount = &amount
		}
		all = append(all, total)
	}
	return all
}

// listed are costs in the order of their currencies.
func listed(costs map[string]*openapi.Cost, amounts map[string]decimal.Decimal, unpriced int64) []openapi.Cost {
	all := []openapi.Cost{}
	for currency, cost := range costs {
		if cost.PricedCalls == 0 && amounts[currency].IsZero() {
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

// parts are the meters that are part of another, by it, and perMeter of how many units an amount of the others is, as a power
// of ten.
var (
	parts = map[string][]string{
		"input":       {"cached_input", "cache_write", "input_audio", "input_image", "input_video"},
		"cache_write": {"cache_write_5m", "cache_write_30m", "cache_write_1h", "cache_write_12h"},
		"output":      {"reasoning", "output_audio", "output_image"},
	}
	perMeter = map[string]int32{"input": 6, "output": 6, "search_units": 3, "web_searches": 3, "tool_calls": 3, "images": 0, "pages": 0, "characters": 6, "milliseconds": 3}
)

// ofCost are meters that say what the provider charges, and not what was used.
var ofCost = []string{"cost_reports", "reported_cost"}

// cost is what a line of a row costs, and in which currency; false: it has no price, or none for something of it.
func (t *tokens) cost(row tokenRow, line usedLine) (amount decimal.Decimal, currency string, known bool) {
	if !line.meters["cost_reports"].IsZero() && t.book.Believes(row.Model) {
		return line.meters["reported_cost"].Shift(-10), "USD", true
	}
	price, found := t.book.PriceOf(pricing.Usage{Capability: row.Model, UpstreamModel: line.model, Tier: line.tier, Band: int64(line.band), Day: row.Day})
	if !found {
		return amount, "", false
	}
	amount, known = amountOf(line, price.Rates)
	return amount, price.Currency, known
}

// amountOf is what a line costs; false: there is no amount for something of it, or nobody here knows what that is.
func amountOf(line usedLine, rates pricing.Rates) (sum decimal.Decimal, complete bool) {
	for name, n := range line.meters {
		if _, known := meter.Named(name); !known && !n.IsZero() {
			return sum, false
		}
	}
	for meter, per := range perMeter {
		amount, given := amountFor(meter, rates)
		if !given && !line.meters[meter].IsZero() {
			return sum, false
		}
		sum = sum.Add(line.cost(meter, amount, rates).Shift(-per))
	}
	return sum, true
}

// cost is what a meter costs by an amount for each: its parts by their own where they have one, and the rest.
func (l *usedLine) cost(meter string, amount decimal.Decimal, rates pricing.Rates) (sum decimal.Decimal) {
	rest := l.meters[meter]
	for _, part := range parts[meter] {
		own, given := amountFor(part, rates)
		if !given {
			own = amount
		}
		rest, sum = rest.Sub(l.meters[part]), sum.Add(l.cost(part, own, rates))
	}
	return sum.Add(rest.Mul(amount))
}

func amountFor(name string, rates pricing.Rates) (decimal.Decimal, bool) {
	optional := func(amount *decimal.Decimal) (decimal.Decimal, bool) {
		if amount == nil {
			return decimal.Zero, false
		}
		return *amount, true
	}
	switch name {
	case "input":
		return rates.Input, true
	case "output":
		return rates.Output, true
	case "cached_input":
		return optional(rates.Cached)
	case "cache_write":
		return optional(rates.CacheWrite)
	}
	of, known := meter.Named(name)
	amount, given := rates.Amounts[of]
	return amount, known && given
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
