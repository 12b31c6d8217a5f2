package pricing

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
)

// Rates are counted in ten-thousandths and are of a million tokens, so amounts are in units of 1e-10.
const (
	rateExponent   = -4
	amountExponent = rateExponent - 6
)

// DayTokens are the tokens that calls of one capability and upstream model reported on one Beijing day, or
// over a span of Book.Spans under one of its days. Input is at least Cached and CacheWrite together.
type DayTokens struct {
	Capability    string
	UpstreamModel string // "": the answers named none
	Day           beijing.Day
	Calls         int64 // whose usage was reported, whole or in part
	Input         int64 // with Cached and CacheWrite
	Cached        int64
	CacheWrite    int64
	Output        int64 // with what was spent on reasoning
}

// Cost is what calls cost in one currency; the costs of several currencies are never added up.
type Cost struct {
	// Currency is an ISO 4217 code; "" when none of the calls has a price, and then Amount is not known,
	// which is not 0.
	Currency string
	// Amount is exact, with at most ten decimals.
	Amount decimal.Decimal
	// PricedCalls are the calls in Amount.
	PricedCalls int64
	// UnpricedCalls reported tokens for which no price held. They have no currency, so each cost of a sum
	// tells the same number.
	UnpricedCalls int64
}

// Cost is the cost of all rows, as Sum.Costs tells it.
func (b *Book) Cost(rows []DayTokens) []Cost {
	sum := b.Sum()
	for _, row := range rows {
		sum.Add(row)
	}
	return sum.Costs()
}

// Sum adds up what tokens cost by one book. It is for one goroutine.
type Sum struct {
	book     *Book
	parts    []part
	unpriced int64
}

// Sum returns an empty sum.
func (b *Book) Sum() *Sum { return &Sum{book: b} }

// part is what cost the same price.
type part struct {
	price  *priced
	calls  int64
	tokens [4]int64 // as rates are ordered
	amount *big.Int // of tokens that were taken out of tokens; nil: 0
}

// Add takes in the tokens of a row.
func (s *Sum) Add(row DayTokens) {
	price := s.book.find(row.Capability, row.UpstreamModel, row.Day)
	if price == nil {
		s.unpriced += row.Calls
		return
	}
	p := s.part(price)
	p.calls += row.Calls
	for i, n := range [4]int64{row.Input - row.Cached - row.CacheWrite, row.Cached, row.CacheWrite, row.Output} {
		p.add(i, n)
	}
}

// AddSum takes in all that another sum of the same book took in.
func (s *Sum) AddSum(of *Sum) {
	s.unpriced += of.unpriced
	for i := range of.parts {
		other := &of.parts[i]
		p := s.part(other.price)
		p.calls += other.calls
		for kind, n := range other.tokens {
			p.add(kind, n)
		}
		if other.amount != nil {
			p.amount = new(big.Int).Add(cmp.Or(p.amount, new(big.Int)), other.amount)
		}
	}
}

// part finds the part of a price; there are few, and the last one is asked for again most often.
func (s *Sum) part(price *priced) *part {
	for i := len(s.parts) - 1; i >= 0; i-- {
		if s.parts[i].price == price {
			return &s.parts[i]
		}
	}
	if s.parts == nil {
		s.parts = make([]part, 0, 16) // most days see a dozen prices: growing to them would cost twice the memory
	}
	s.parts = append(s.parts, part{price: price})
	return &s.parts[len(s.parts)-1]
}

// add counts n tokens of a kind. When an integer would not hold the sum, what there is by now is priced.
func (p *part) add(kind int, n int64) {
	before := p.tokens[kind]
	if (before+n > before) != (n > 0) {
		amount := new(big.Int)
		p.addTo(amount)
		p.amount = amount
		clear(p.tokens[:])
	}
	p.tokens[kind] += n
}

// addTo adds to sum what the part costs.
func (p *part) addTo(sum *big.Int) {
	if p.amount != nil {
		sum.Add(sum, p.amount)
	}
	var tokens, product big.Int
	for kind, n := range p.tokens {
		if n != 0 {
			sum.Add(sum, product.Mul(&p.price.rates[kind], tokens.SetInt64(n)))
		}
	}
}

// Costs tells the sum in each currency, by its code. Without any call it is empty; when no call has a price it
// is one cost without a currency.
func (s *Sum) Costs() []Cost {
	var costs []Cost
	var amounts []*big.Int
	for i := range s.parts {
		p := &s.parts[i]
		at := slices.IndexFunc(costs, func(c Cost) bool { return c.Currency == p.price.Currency })
		if at < 0 {
			at = len(costs)
			costs = append(costs, Cost{Currency: p.price.Currency, UnpricedCalls: s.unpriced})
			amounts = append(amounts, new(big.Int))
		}
		p.addTo(amounts[at])
		costs[at].PricedCalls += p.calls
	}
	for i := range costs {
		costs[i].Amount = decimal.NewFromBigInt(amounts[i], amountExponent)
	}
	// Repairs of a rollup are added rows: what they took back was no call.
	costs = slices.DeleteFunc(costs, func(c Cost) bool { return c.PricedCalls == 0 && c.Amount.IsZero() })
	if len(costs) == 0 && s.unpriced != 0 {
		return []Cost{{UnpricedCalls: s.unpriced}}
	}
	slices.SortFunc(costs, func(a, b Cost) int { return cmp.Compare(a.Currency, b.Currency) })
	return costs
}
