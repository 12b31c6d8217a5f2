package pricing

import (
	"cmp"
	"math/big"
	"slices"
	"sort"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/meter"
)

// Book is the price book as it was at one moment. It never changes and may be asked by many at once.
type Book struct {
	prices     map[subject][]band
	currencies []string  // codes, in order
	targets    []string  // codes that rates lead to, in order
	rates      [][]dated // of each of currencies to each of targets, ascending
	believed   map[string]bool
	begins     map[string]beijing.Day // first day of any price, by capability
	version    uuid.UUID
}

// Version tells books apart that were loaded: one that was changed since has another one.
func (b *Book) Version() uuid.UUID { return b.version }

// subject is what has prices by band and day.
type subject struct{ capability, upstreamModel, tier string }

// band is the history of a subject's prices for calls of some length, by their first day, ascending. Those for longer
// calls come before those for shorter ones.
type band struct {
	from    int64
	history []priced
}

// priced is a price as costs are made of it.
type priced struct {
	Price
	weights  []weight
	missing  []meter.Meter // that are no part of tokens and have no amount
	currency int           // where its code stands in the book
}

// weight is what a unit of a meter adds to a cost, in 1e-18: of a part, how much more than its whole it costs, which may
// be below 0.
type weight struct {
	meter meter.Meter
	unit  *big.Int
}

// NewBook returns the book of these prices and rates. Of two of the same subject, band and day the later one in prices counts;
// the database holds no such two.
func NewBook(prices []Price, rates ...Exchange) *Book { return newBook(prices, rates, nil) }

// newBook makes one that believes what the providers of some capabilities say that calls cost.
func newBook(prices []Price, rates []Exchange, believed []Believed) *Book {
	b := &Book{prices: map[subject][]band{}, believed: map[string]bool{}, begins: map[string]beijing.Day{}}
	for _, p := range prices {
		b.currencies = append(b.currencies, p.Currency)
		if first, has := b.begins[p.CapabilityID]; !has || p.From < first {
			b.begins[p.CapabilityID] = p.From
		}
	}
	for _, of := range believed {
		b.believed[of.CapabilityID] = true
		b.currencies = append(b.currencies, calls.ReportedCurrency)
	}
	slices.Sort(b.currencies)
	b.currencies = slices.Compact(b.currencies)
	b.exchange(rates)
	for _, p := range prices {
		of := subject{p.CapabilityID, p.UpstreamModel, p.Tier}
		at := slices.IndexFunc(b.prices[of], func(l band) bool { return l.from == p.FromBand })
		if at < 0 {
			at = len(b.prices[of])
			b.prices[of] = append(b.prices[of], band{from: p.FromBand})
		}
		in := &b.prices[of][at]
		currency, _ := slices.BinarySearch(b.currencies, p.Currency)
		weights, missing := p.weights()
		in.history = append(in.history, priced{p, weights, missing, currency})
	}
	for _, of := range b.prices {
		slices.SortFunc(of, func(a, b band) int { return cmp.Compare(b.from, a.from) })
		for _, in := range of {
			slices.SortStableFunc(in.history, func(a, b priced) int { return cmp.Compare(a.From, b.From) })
		}
	}
	return b
}

// weights are what costs are made of, and the meters for which there is nothing.
func (r *Rates) weights() (weights []weight, missing []meter.Meter) {
	var of [meter.NumPriced]*big.Int // what a unit costs
	for m := range meter.NumPriced { // a whole comes before its parts
		amount, has := r.amount(m)
		whole := table[m].whole
		switch {
		case has:
			of[m] = amount.Shift(-amountExponent - table[m].per).BigInt()
		case whole == none:
			missing = append(missing, m)
			continue
		default:
			of[m] = of[whole]
		}
		more := new(big.Int).Set(of[m])
		if whole != none {
			more.Sub(more, of[whole])
		}
		if more.Sign() != 0 {
			weights = append(weights, weight{m, more})
		}
	}
	return weights, missing
}

// Price gives the price that holds on a Beijing day for calls of any tier and length: the newest one of the upstream
// model that had begun by then, else the newest one of any model; false: the day is unpriced.
func (b *Book) Price(capability, upstreamModel string, day beijing.Day) (Price, bool) {
	return b.PriceOf(Usage{Capability: capability, UpstreamModel: upstreamModel, Day: day})
}

// PriceOf gives the price that holds for what was used; false: none does.
func (b *Book) PriceOf(u Usage) (Price, bool) {
	p := b.find(&u)
	if p == nil {
		return Price{}, false
	}
	return p.Price, true
}

// Holding gives the prices that hold on a Beijing day, by capability: each capability's by model, tier and band, ascending.
func (b *Book) Holding(day beijing.Day) map[string][]Price {
	all := map[string][]Price{}
	for of, bands := range b.prices {
		for _, in := range bands {
			if p := newest(in.history, day); p != nil {
				all[of.capability] = append(all[of.capability], p.Price)
			}
		}
	}
	for _, prices := range all {
		slices.SortFunc(prices, func(a, b Price) int {
			return cmp.Or(cmp.Compare(a.UpstreamModel, b.UpstreamModel), cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.FromBand, b.FromBand))
		})
	}
	return all
}

// find gives the price that holds, or nil.
func (b *Book) find(u *Usage) *priced {
	for _, model := range own(u.UpstreamModel, AnyModel) {
		for _, tier := range own(u.Tier, AnyTier) {
			for _, in := range b.prices[subject{u.Capability, model, tier}] {
				if in.from > u.Band {
					continue
				}
				if p := newest(in.history, u.Day); p != nil {
					return p
				}
			}
		}
	}
	return nil
}

// own gives in which order names are looked for.
func own(name, whatever string) []string {
	both := [...]string{name, whatever}
	if name == whatever {
		return both[1:]
	}
	return both[:]
}

// newest gives the last price of a history that had begun by day, or nil.
func newest(history []priced, day beijing.Day) *priced {
	n := sort.Search(len(history), func(i int) bool { return history[i].From > day })
	if n == 0 {
		return nil
	}
	return &history[n-1]
}

// complete tells whether the price has an amount for all that was used.
func (p *priced) complete(used *Meters) bool {
	return !slices.ContainsFunc(p.missing, func(m meter.Meter) bool { return used[m] != 0 })
}

// UpstreamModels are the models of upstreams that have a price of their own, of any capability, in order.
func (b *Book) UpstreamModels() []string {
	return b.each(func(p *priced) (string, bool) { return p.UpstreamModel, p.UpstreamModel != AnyModel })
}

// Tiers are the service tiers that have a price of their own, of any capability, in order: what was used in another one
// costs what it costs in AnyTier.
func (b *Book) Tiers() []string {
	return b.each(func(p *priced) (string, bool) { return p.Tier, p.Tier != AnyTier })
}

// Bands are the bands that have a price of their own, of any capability, ascending, without 0: what was used in another
// one costs what it costs in the largest of these that is not above it, or in 0.
func (b *Book) Bands() []int64 {
	froms := []int64{}
	for _, of := range b.prices {
		for _, in := range of {
			if in.from > 0 {
				froms = append(froms, in.from)
			}
		}
	}
	slices.Sort(froms)
	return slices.Compact(froms)
}

// each gives what the prices of the book name, in order.
func (b *Book) each(name func(*priced) (string, bool)) []string {
	names := []string{}
	for _, of := range b.prices {
		if named, has := name(&of[0].history[0]); has { // a subject's prices name the same
			names = append(names, named)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Spans cuts a range of days wherever any price or rate of the book begins, so that within one span each of them stays
// what it is: what was used may be summed over a span, under any of its days, and cost what it costs day by day.
func (b *Book) Spans(r beijing.Range) []beijing.Range {
	var begins []beijing.Day
	for _, of := range b.prices {
		for _, in := range of {
			for _, p := range in.history {
				if r.Start < p.From && p.From <= r.End {
					begins = append(begins, p.From)
				}
			}
		}
	}
	for _, day := range b.begin() {
		if r.Start < day && day <= r.End {
			begins = append(begins, day)
		}
	}
	slices.Sort(begins)
	var spans []beijing.Range
	start := r.Start
	for _, day := range slices.Compact(begins) {
		spans = append(spans, beijing.Range{Start: start, End: day - 1})
		start = day
	}
	return append(spans, beijing.Range{Start: start, End: r.End})
}
