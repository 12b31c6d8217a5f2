package pricing

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/meter"
)

// call is one call as the ledger keeps it.
type call struct {
	capability, model                 string
	day                               beijing.Day
	input, cached, cacheWrite, output int64
}

func (c call) meters() Meters {
	return Meters{meter.Input: c.input, meter.CachedInput: c.cached, meter.CacheWrite: c.cacheWrite, meter.Output: c.output}
}

// entry is a price as it was written on paper.
type entry struct {
	capability, model, currency       string
	from                              beijing.Day
	input, cached, cacheWrite, output string // cached and cacheWrite "" when left out
}

// recomputed is what calls cost by a book, call by call in fractions; it shares no code with the package.
func recomputed(book []entry, calls []call) (amounts map[string]*big.Rat, priced map[string]int64, unpriced int64) {
	amounts, priced = map[string]*big.Rat{}, map[string]int64{}
	rat := func(texts ...string) *big.Rat {
		for _, text := range texts {
			if text != "" {
				r, _ := new(big.Rat).SetString(text)
				return r
			}
		}
		panic("no rate")
	}
	for _, c := range calls {
		var holds *entry
		for _, model := range []string{c.model, ""} {
			for i, e := range book {
				if e.capability == c.capability && e.model == model && e.from <= c.day && (holds == nil || holds.from < e.from) {
					holds = &book[i]
				}
			}
			if holds != nil {
				break
			}
		}
		if holds == nil {
			unpriced++
			continue
		}
		if amounts[holds.currency] == nil {
			amounts[holds.currency] = new(big.Rat)
		}
		for tokens, rate := range map[*big.Rat]*big.Rat{
			big.NewRat(c.input-c.cached-c.cacheWrite, 1_000_000): rat(holds.input),
			big.NewRat(c.cached, 1_000_000):                      rat(holds.cached, holds.input),
			big.NewRat(c.cacheWrite, 1_000_000):                  rat(holds.cacheWrite, holds.input),
			big.NewRat(c.output, 1_000_000):                      rat(holds.output),
		} {
			amounts[holds.currency].Add(amounts[holds.currency], tokens.Mul(tokens, rate))
		}
		priced[holds.currency]++
	}
	return amounts, priced, unpriced
}

// bookOf enters what was written on paper.
func bookOf(t *testing.T, entries []entry) *Book {
	t.Helper()
	optional := func(text string) *string {
		if text == "" {
			return nil
		}
		return &text
	}
	var prices []Price
	for _, e := range entries {
		p, err := Draft{
			CapabilityID: e.capability, UpstreamModel: optional(e.model), From: e.from.String(), Currency: e.currency,
			Input: e.input, Cached: optional(e.cached), CacheWrite: optional(e.cacheWrite), Output: e.output,
		}.check()
		if err != nil {
			t.Fatalf("%+v: %v", e, err)
		}
		prices = append(prices, p)
	}
	return NewBook(prices)
}

// byDay sums calls as the daily rollup does.
func byDay(calls []call) (rows []Usage) {
	at := map[[3]any]int{}
	for _, c := range calls {
		key := [3]any{c.capability, c.model, c.day}
		i, known := at[key]
		if !known {
			i = len(rows)
			at[key] = i
			rows = append(rows, Usage{Capability: c.capability, UpstreamModel: c.model, Day: c.day})
		}
		r := &rows[i]
		r.Calls++
		for m, n := range c.meters() {
			r.Meters[m] += n
		}
	}
	return rows
}

func sumOf(book *Book, rows []Usage) *Sum {
	sum := book.Sum()
	for _, row := range rows {
		sum.Add(book.Charge(row))
	}
	return sum
}

func mustCost(t *testing.T, book []entry, calls []call, costs []Cost) {
	t.Helper()
	amounts, priced, unpriced := recomputed(book, calls)
	if len(amounts) == 0 {
		if unpriced > 0 && (len(costs) != 1 || costs[0].Currency != "" || costs[0].UnpricedCalls != unpriced || costs[0].PricedCalls != 0) || unpriced == 0 && len(costs) != 0 {
			t.Fatalf("nothing is priced, %d calls unpriced: %+v", unpriced, costs)
		}
		return
	}
	if len(costs) != len(amounts) || !slices.IsSortedFunc(costs, func(a, b Cost) int { return int(a.Currency[0]) - int(b.Currency[0]) }) {
		t.Fatalf("costs %+v, want %v", costs, amounts)
	}
	for _, c := range costs {
		want, known := amounts[c.Currency]
		if !known || c.Amount.Rat().Cmp(want) != 0 || c.PricedCalls != priced[c.Currency] || c.UnpricedCalls != unpriced {
			t.Fatalf("cost %+v, want %v of %d calls and %d without a price", c, want, priced[c.Currency], unpriced)
		}
	}
}

func TestAYearOfABookWithThreeChangesAndTwoCurrenciesCostsWhatEachCallCosts(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 9))
	first := beijing.Date(2026, time.January, 1)
	book := []entry{
		{"chat", "", "CNY", first - 40, "2", "0.2", "", "8"},
		{"chat", "", "CNY", first + 90, "1.9999", "", "2.5001", "7.0001"},
		{"chat", "", "USD", first + 181, "0.2857", "0.0285", "", "1.1429"},
		{"chat", "", "USD", first + 300, "0", "0", "0", "0.0001"},
		{"chat", "large-2026", "USD", first + 120, "15", "1.5", "18.75", "75"},
		{"embed", "", "USD", first + 10, "0.02", "", "", "0"},
	}
	for round := range 20 {
		var calls []call
		for range 5000 {
			c := call{capability: []string{"chat", "chat", "embed", "speech"}[random.IntN(4)], model: []string{"", "large-2026", "small"}[random.IntN(3)],
				day: first + beijing.Day(random.IntN(366)), cached: random.Int64N(1e6), cacheWrite: random.Int64N(1e5), output: random.Int64N(1e7)}
			c.input = c.cached + c.cacheWrite + random.Int64N(1e6)
			calls = append(calls, c)
		}
		mustCost(t, book, calls, bookOf(t, book).Cost(byDay(calls)))
		if round == 0 {
			t.Logf("%d calls in %d rows: %+v", len(calls), len(byDay(calls)), bookOf(t, book).Cost(byDay(calls)))
		}
	}
}

func TestRandomBooksCostWhatEachCallCosts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func(of ...string) string { return of[random.IntN(len(of))] }
	rate := func() string {
		return word(fmt.Sprint(random.IntN(100)), fmt.Sprintf("%d.%04d", random.IntN(1000), random.IntN(10_000)), "999999999.9999", "0")
	}
	tokens := func() int64 { return []int64{0, 1, random.Int64N(1e4), random.Int64N(1e12)}[random.IntN(4)] }
	unpriced := 0
	for range 3000 {
		var book []entry
		for taken := map[string]bool{}; len(book) < random.IntN(8); {
			e := entry{word("a", "b"), word("", "m", "n"), word("CNY", "USD", "JPY"), beijing.Day(20_000 + random.IntN(20)), rate(), word("", rate()), word("", rate()), rate()}
			if key := fmt.Sprint(e.capability, e.model, e.from); !taken[key] {
				taken[key] = true
				book = append(book, e)
			}
		}
		var calls []call
		for range random.IntN(40) {
			c := call{word("a", "b"), word("", "m", "n", "o"), beijing.Day(19_998 + random.IntN(24)), 0, tokens(), tokens(), tokens()}
			c.input = c.cached + c.cacheWrite + tokens()
			calls = append(calls, c)
		}
		entered := bookOf(t, book)
		mustCost(t, book, calls, entered.Cost(byDay(calls)))
		if costs := entered.Cost(byDay(calls)); len(costs) == 1 && costs[0].Currency == "" {
			unpriced++
		}

		// The same in two sums.
		rows := byDay(calls)
		cut := random.IntN(len(rows) + 1)
		whole := sumOf(entered, rows[:cut])
		whole.AddSum(sumOf(entered, rows[cut:]))
		mustCost(t, book, calls, whole.Costs())

		// The same by spans in which no price changes.
		days := beijing.Range{Start: 19_998, End: 20_022}
		var bySpan []Usage
		for _, span := range entered.Spans(days) {
			within := slices.DeleteFunc(slices.Clone(calls), func(c call) bool { return !span.Contains(c.day) })
			for i := range within {
				within[i].day = span.Start + beijing.Day(random.IntN(span.Days()))
			}
			bySpan = append(bySpan, byDay(within)...)
		}
		mustCost(t, book, calls, entered.Cost(bySpan))
	}
	if unpriced == 0 {
		t.Error("no book priced nothing")
	}
}

func TestSumsThatNoIntegerHoldsStayExact(t *testing.T) {
	book := bookOf(t, []entry{{"a", "", "USD", 20_000, "999999999.9999", "0.0001", "", "1"}})
	const huge = math.MaxInt64 - 5
	sum := book.Sum()
	want := new(big.Rat)
	for range 5 {
		sum.Add(book.Charge(Usage{Capability: "a", Day: 20_001, Calls: 1, Meters: Meters{meter.Input: huge, meter.CachedInput: 7, meter.Output: huge}}))
		for tokens, rate := range map[int64]string{huge - 7: "999999999.9999", 7: "0.0001", huge: "1"} {
			r, _ := new(big.Rat).SetString(rate)
			want.Add(want, r.Mul(r, big.NewRat(tokens, 1_000_000)))
		}
	}
	if costs := sum.Costs(); len(costs) != 1 || costs[0].Amount.Rat().Cmp(want) != 0 || costs[0].PricedCalls != 5 {
		t.Fatalf("%+v, want %v", costs, want)
	}
	twice := book.Sum()
	twice.AddSum(sum)
	twice.AddSum(sum)
	if costs := twice.Costs(); len(costs) != 1 || costs[0].Amount.Rat().Cmp(want.Add(want, want)) != 0 || costs[0].PricedCalls != 10 {
		t.Fatalf("%+v, want %v", costs, want)
	}
	for range 40 {
		as := book.Sum()
		as.AddSum(twice)
		twice.AddSum(as)
		want.Add(want, want)
	}
	if costs := twice.Costs(); len(costs) != 1 || costs[0].Amount.Rat().Cmp(want) != 0 || costs[0].PricedCalls != 10<<40 {
		t.Fatalf("%+v, want %v", costs, want)
	}
}

func TestNothingReportedCostsNothingAndUnpricedIsNotZero(t *testing.T) {
	book := bookOf(t, []entry{{"free", "", "USD", 20_000, "0", "", "", "0"}})
	if costs := book.Cost(nil); len(costs) != 0 {
		t.Errorf("no calls cost %+v", costs)
	}
	if costs := book.Cost([]Usage{{Capability: "other", Day: 20_001, Calls: 3, Meters: Meters{meter.Input: 5}}}); len(costs) != 1 || costs[0].Currency != "" || costs[0].UnpricedCalls != 3 {
		t.Errorf("an unpriced capability costs %+v", costs)
	}
	costs := book.Cost([]Usage{{Capability: "free", Day: 20_001, Calls: 3, Meters: Meters{meter.Input: 5}}, {Capability: "free", Day: 19_999, Calls: 2, Meters: Meters{meter.Input: 5}}})
	if len(costs) != 1 || costs[0].Currency != "USD" || !costs[0].Amount.Equal(decimal.Zero) || costs[0].PricedCalls != 3 || costs[0].UnpricedCalls != 2 {
		t.Errorf("what is free costs %+v", costs)
	}
}

// A year of fifty applications, summed by day, capability and model as an overview asks for it.
func BenchmarkAYearOfAnOverview(b *testing.B) {
	var prices []Price
	var rows []Usage
	cached := decimal.New(2501, -4)
	for c := range 12 {
		for change := range 4 {
			for _, model := range []string{"", "model-1"} {
				prices = append(prices, Price{CapabilityID: fmt.Sprint("capability-", c), UpstreamModel: model, From: beijing.Day(change * 90), Currency: "USD", Rates: Rates{Input: decimal.New(25000, -4), Cached: &cached, CacheWrite: &cached, Output: decimal.New(100001, -4)}})
			}
		}
		for day := range 366 {
			for m := range 3 {
				rows = append(rows, Usage{Capability: fmt.Sprint("capability-", c), UpstreamModel: fmt.Sprint("model-", m), Day: beijing.Day(day), Calls: 1000,
					Meters: Meters{meter.Input: 1e9, meter.CachedInput: 1e8, meter.CacheWrite: 1e7, meter.Output: 1e8}})
			}
		}
	}
	book := NewBook(prices)
	b.ReportMetric(float64(len(rows)), "rows")
	for b.Loop() {
		total := book.Sum()
		days, models := map[beijing.Day]*Sum{}, map[string]*Sum{}
		for _, r := range rows {
			if days[r.Day] == nil {
				days[r.Day] = book.Sum()
			}
			if models[r.Capability] == nil {
				models[r.Capability] = book.Sum()
			}
			charge := book.Charge(r)
			total.Add(charge)
			days[r.Day].Add(charge)
			models[r.Capability].Add(charge)
		}
		_ = total.Costs()
		for _, s := range days {
			_ = s.Costs()
		}
		for _, s := range models {
			_ = s.Costs()
		}
	}
}
