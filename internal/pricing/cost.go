package pricing

import (
	"math/big"
	"slices"

	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/meter"
)

// amountExponent is the unit of amounts, 1e-18: amounts of prices have twelve decimals and are of a million units at most.
const amountExponent = -18

// Usage is what calls of one capability, upstream model, tier and band used on one Beijing day, or over a span of
// Book.Spans under one of its days.
type Usage struct {
	Capability    string
	UpstreamModel string // "": the answers named none
	Tier          string // "": the answers named none
	Band          int64  // of the bands of prices the largest that the call's input is above
	Day           beijing.Day
	Calls         int64 // whose usage was reported, whole or in part
	Beside        int64 // calls that used it beside another model, and are counted there: here only where it has no price
	Meters        Meters
	Unknown       bool // it used something that only a newer version has a name for: nothing here has a price for that
}

// Add adds what was used of a meter, by its name.
func (u *Usage) Add(name string, n int64) {
	m, known := meter.Named(name)
	switch {
	case known:
		u.Meters[m] += n
	case n != 0:
		u.Unknown = true
	}
}

// Cost is what calls cost in one currency; the costs of several currencies are added up by rates alone, as a Total.
type Cost struct {
	// Currency is an ISO 4217 code; "" when none of the calls has a price, and then Amount is not known,
	// which is not 0.
	Currency string
	// Amount is exact, with at most eighteen decimals.
	Amount decimal.Decimal
	// PricedCalls are the calls in Amount.
	PricedCalls int64
	// UnpricedCalls used something for which no price held. They have no currency, so each cost of a sum
	// tells the same number.
	UnpricedCalls int64
}

// Cost is the cost of all rows, as Sum.Costs tells it.
func (b *Book) Cost(rows []Usage) []Cost {
	sum := b.Sum()
	for _, row := range rows {
		sum.Add(b.Charge(row))
	}
	return sum.Costs()
}

// Charge is what one row costs by a book, for the sums of the same book that the row belongs to.
type Charge struct {
	amount   *big.Int
	totals   []*big.Int // the same in each currency that rates lead to; nil: not known
	calls    int64
	currency int // of the book; unpriced: none
}

const unpriced = -1

// Believes tells whether calls of a capability cost what their provider says.
func (b *Book) Believes(capability string) bool { return b.believed[capability] }

// Charge prices what was used: where the provider said what it charges, and is believed, it is that, else by the prices.
func (b *Book) Charge(u Usage) Charge {
	if u.Meters[meter.CostReports] != 0 && b.Believes(u.Capability) {
		currency, _ := slices.BinarySearch(b.currencies, calls.ReportedCurrency)
		c := Charge{calls: u.Calls, currency: currency}
		c.amount = decimal.New(u.Meters[meter.ReportedCost], calls.ReportedCostUnit-amountExponent).BigInt()
		c.totals = b.in(c.currency, u.Day, c.amount)
		return c
	}
	price := b.find(&u)
	if price == nil || u.Unknown || !price.complete(&u.Meters) {
		return Charge{calls: u.Calls + u.Beside, currency: unpriced}
	}
	c := Charge{amount: new(big.Int), calls: u.Calls, currency: price.currency}
	var n, part big.Int
	for _, w := range price.weights {
		if used := u.Meters[w.meter]; used != 0 {
			c.amount.Add(c.amount, part.Mul(w.unit, n.SetInt64(used)))
		}
	}
	c.totals = b.in(c.currency, u.Day, c.amount)
	return c
}

// Sum adds up what was used by one book. It is for one goroutine.
type Sum struct {
	book     *Book
	parts    []part // by currency of the book
	unpriced int64
}

// part is what was charged in one currency.
type part struct {
	calls  int64
	amount big.Int
	totals []total
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
	p.add(c.calls, c.amount)
	for target := range p.totals {
		t := &p.totals[target]
		if in := c.totals[target]; in != nil {
			t.amount.Add(&t.amount, in)
		} else {
			t.calls += c.calls
			t.left.Add(&t.left, c.amount)
		}
	}
}

// AddSum takes in all that another sum of the same book took in.
func (s *Sum) AddSum(of *Sum) {
	s.unpriced += of.unpriced
	for currency := range of.parts {
		other := &of.parts[currency]
		p := s.part(currency)
		p.add(other.calls, &other.amount)
		for target := range p.totals {
			t, of := &p.totals[target], &other.totals[target]
			t.calls += of.calls
			t.amount.Add(&t.amount, &of.amount)
			t.left.Add(&t.left, &of.left)
		}
	}
}

func (s *Sum) part(currency int) *part {
	if s.parts == nil {
		s.parts = make([]part, len(s.book.currencies))
		for currency := range s.parts {
			s.parts[currency].totals = make([]total, len(s.book.targets))
		}
	}
	return &s.parts[currency]
}

func (p *part) add(calls int64, amount *big.Int) {
	p.calls += calls
	p.amount.Add(&p.amount, amount)
}

// Costs tells the sum in each currency, by its code. Without any call it is empty; when no call has a price it
// is one cost without a currency. No number is below 0: rollups of an insert are there one after another, and what lines take
// back from the five numbers may be there before these are.
func (s *Sum) Costs() []Cost {
	var costs []Cost
	unpriced := max(0, s.unpriced)
	for currency := range s.parts {
		p := &s.parts[currency]
		if p.calls == 0 && p.amount.Sign() == 0 { // none, or a repair of a rollup took back what was no call
			continue
		}
		costs = append(costs, Cost{
			Currency: s.book.currencies[currency], Amount: notNegative(&p.amount, amountExponent), PricedCalls: max(0, p.calls), UnpricedCalls: unpriced,
		})
	}
	if len(costs) == 0 && unpriced != 0 {
		return []Cost{{UnpricedCalls: unpriced}}
	}
	return costs
}

// notNegative is a sum of units, 0 where it is below that.
func notNegative(sum *big.Int, exponent int32) decimal.Decimal {
	return decimal.Max(decimal.Zero, decimal.NewFromBigInt(sum, exponent))
}
