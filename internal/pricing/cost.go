package pricing

import (
	"cmp"
	"math/big"

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
		sum.Add(b.Charge(row))
	}
	return sum.Costs()
}

// Charge is what one row costs by a book, for the sums of the same book that the row belongs to.
type Charge struct {
	amount   int128
	calls    int64
	currency int // of the book; unpriced: none
}

const unpriced = -1

// Charge prices the tokens of a row.
func (b *Book) Charge(row DayTokens) Charge {
	price := b.find(row.Capability, row.UpstreamModel, row.Day)
	if price == nil {
		return Charge{calls: row.Calls, currency: unpriced}
	}
	c := Charge{calls: row.Calls, currency: price.currency}
	for kind, n := range [4]int64{row.Input - row.Cached - row.CacheWrite, row.Cached, row.CacheWrite, row.Output} {
		c.amount, _ = c.amount.plus(product(price.rates[kind], n)) // four products below 2^107
	}
	return c
}

// Sum adds up what tokens cost by one book. It is for one goroutine.
type Sum struct {
	book     *Book
	parts    []part // by currency of the book
	unpriced int64
}

// part is what was charged in one currency.
type part struct {
	calls  int64
	amount int128
	more   *big.Int // what no 128 bits hold; nil: 0
}

// Sum returns an empty sum.
func (b *Book) Sum() *Sum { return &Sum{book: b} }

// Add takes in a charge of the sum's book.
func (s *Sum) Add(c Charge) {
	if c.currency == unpriced {
		s.unpriced += c.calls
		return
	}
	p := s.part(c.currency)
	p.calls += c.calls
	p.add(c.amount)
}

// AddSum takes in all that another sum of the same book took in.
func (s *Sum) AddSum(of *Sum) {
	s.unpriced += of.unpriced
	for currency := range of.parts {
		other, p := &of.parts[currency], s.part(currency)
		p.calls += other.calls
		p.add(other.amount)
		if other.more != nil {
			p.more = new(big.Int).Add(cmp.Or(p.more, new(big.Int)), other.more)
		}
	}
}

func (s *Sum) part(currency int) *part {
	if s.parts == nil {
		s.parts = make([]part, len(s.book.currencies))
	}
	return &s.parts[currency]
}

func (p *part) add(amount int128) {
	sum, fits := p.amount.plus(amount)
	if !fits {
		p.more = new(big.Int).Add(cmp.Or(p.more, new(big.Int)), p.amount.big())
		sum = amount
	}
	p.amount = sum
}

func (p *part) total() *big.Int {
	total := p.amount.big()
	if p.more != nil {
		total.Add(total, p.more)
	}
	return total
}

// Costs tells the sum in each currency, by its code. Without any call it is empty; when no call has a price it
// is one cost without a currency.
func (s *Sum) Costs() []Cost {
	var costs []Cost
	for currency := range s.parts {
		p := &s.parts[currency]
		amount := p.total()
		if p.calls == 0 && amount.Sign() == 0 { // none, or a repair of a rollup took back what was no call
			continue
		}
		costs = append(costs, Cost{
			Currency: s.book.currencies[currency], Amount: decimal.NewFromBigInt(amount, amountExponent),
			PricedCalls: p.calls, UnpricedCalls: s.unpriced,
		})
	}
	if len(costs) == 0 && s.unpriced != 0 {
		return []Cost{{UnpricedCalls: s.unpriced}}
	}
	return costs
}
