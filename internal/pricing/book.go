package pricing

import (
	"cmp"
	"slices"
	"sort"

	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
)

// Book is the price book as it was at one moment. It never changes and may be asked by many at once.
type Book struct {
	prices     map[subject][]priced // of each subject by their first day, ascending
	currencies []string             // codes, in order
}

// priced is a price with its rates as integers: of uncached input, cached input, input written to a cache, and
// output, in ten-thousandths, below 10^13.
type priced struct {
	Price
	rates    [4]int64
	currency int // where its code stands in the book
}

// subject is what has one price a day.
type subject struct{ capability, upstreamModel string }

// NewBook returns the book of these prices. Of two of the same capability, model and day the later one in
// prices counts; the database holds no such two.
func NewBook(prices []Price) *Book {
	b := &Book{prices: map[subject][]priced{}}
	for _, p := range prices {
		b.currencies = append(b.currencies, p.Currency)
	}
	slices.Sort(b.currencies)
	b.currencies = slices.Compact(b.currencies)
	for _, p := range prices {
		of := subject{p.CapabilityID, p.UpstreamModel}
		currency, _ := slices.BinarySearch(b.currencies, p.Currency)
		b.prices[of] = append(b.prices[of], priced{p, p.integers(), currency})
	}
	for _, history := range b.prices {
		slices.SortStableFunc(history, func(a, b priced) int { return cmp.Compare(a.From, b.From) })
	}
	return b
}

// integers are the rates that a cost is made of.
func (r Rates) integers() (integers [4]int64) {
	rates := [4]decimal.Decimal{r.Input, r.Input, r.Input, r.Output}
	if r.Cached != nil {
		rates[1] = *r.Cached
	}
	if r.CacheWrite != nil {
		rates[2] = *r.CacheWrite
	}
	for i, rate := range rates {
		integers[i] = rate.Shift(-rateExponent).IntPart()
	}
	return integers
}

// Price gives the price that holds on a Beijing day: the newest one of the upstream model that had begun by
// then, else the newest one of any model; false: the day is unpriced.
func (b *Book) Price(capability, upstreamModel string, day beijing.Day) (Price, bool) {
	p := b.find(capability, upstreamModel, day)
	if p == nil {
		return Price{}, false
	}
	return p.Price, true
}

func (b *Book) find(capability, upstreamModel string, day beijing.Day) *priced {
	if upstreamModel != AnyModel {
		if p := newest(b.prices[subject{capability, upstreamModel}], day); p != nil {
			return p
		}
	}
	return newest(b.prices[subject{capability, AnyModel}], day)
}

// newest gives the last price of a history that had begun by day, or nil.
func newest(history []priced, day beijing.Day) *priced {
	n := sort.Search(len(history), func(i int) bool { return history[i].From > day })
	if n == 0 {
		return nil
	}
	return &history[n-1]
}

// UpstreamModels are the models of upstreams that have a price of their own, of any capability, in order.
func (b *Book) UpstreamModels() []string {
	models := []string{}
	for of := range b.prices {
		if of.upstreamModel != AnyModel {
			models = append(models, of.upstreamModel)
		}
	}
	slices.Sort(models)
	return slices.Compact(models)
}

// Spans cuts a range of days wherever any price of the book begins, so that within one span every price stays
// what it is: tokens may be summed over a span, under any of its days, and cost what they cost day by day.
func (b *Book) Spans(r beijing.Range) []beijing.Range {
	var begins []beijing.Day
	for _, history := range b.prices {
		for _, p := range history {
			if r.Start < p.From && p.From <= r.End {
				begins = append(begins, p.From)
			}
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
