package pricing

import (
	"slices"

	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/calls"
)

// CostOf is what was used costs together: of a call, as the statistics tell it once they have it.
func (b *Book) CostOf(used []Usage) *Sum {
	sum := b.Sum()
	for i := range used {
		sum.Add(b.Charge(used[i]))
	}
	return sum
}

// UsedBy is what a call used, by model, tier and band; nothing where its answer told nothing.
func UsedBy(r *calls.Record) (list []Usage) {
	day := beijing.DayOf(r.Start)
	if len(r.Lines) == 0 {
		u, told := Usage{Capability: r.Model, UpstreamModel: r.Usage.Model, Day: day, Calls: 1}, false
		for i, field := range calls.AllUsageFields {
			n, known := r.Usage.Number(field)
			u.Add(calls.MeterNames[i], int64(n))
			told = told || known && (field == calls.UsageInput || field == calls.UsageOutput)
		}
		if !told {
			return nil
		}
		return []Usage{u}
	}
	for i, line := range r.Lines {
		u := Usage{Capability: r.Model, UpstreamModel: line.Model, Tier: line.Tier, Band: int64(line.Band), Day: day, Calls: 1}
		if i > 0 {
			u.Calls, u.Beside = 0, 1
		}
		for _, m := range line.Meters {
			u.Add(m.Name, int64(m.Amount)) //nolint:gosec // answers are read as numbers of 63 bits
		}
		list = append(list, u)
	}
	return list
}

// In gives all of the sum in one currency, and of how many calls the cost is not known in it: for them no price held, or no rate
// leads to the currency. Without rates to it, it is what was charged in it.
func (s *Sum) In(currency string) (amount decimal.Decimal, unknown int64) {
	unknown = s.unpriced
	target, leads := slices.BinarySearch(s.book.targets, currency)
	for i := range s.parts {
		p := &s.parts[i]
		switch {
		case leads:
			amount = amount.Add(decimal.NewFromBigInt(&p.totals[target].amount, totalExponent))
			unknown += p.totals[target].calls
		case s.book.currencies[i] == currency:
			amount = amount.Add(decimal.NewFromBigInt(&p.amount, amountExponent))
		default:
			unknown += p.calls
		}
	}
	return decimal.Max(decimal.Zero, amount), max(0, unknown)
}

// Prices tells whether any price of a capability holds on a day, of whatever model, or its provider is believed.
func (b *Book) Prices(capability string, day beijing.Day) bool {
	first, has := b.begins[capability]
	return has && first <= day || b.Believes(capability)
}
