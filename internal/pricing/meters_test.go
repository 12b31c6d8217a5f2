package pricing

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/meter"

	"github.com/shopspring/decimal"
)

// written is a price of any field, as it is entered.
func written(t *testing.T, d Draft) Price {
	t.Helper()
	p, err := d.check()
	if err != nil {
		t.Fatalf("%+v: %v", d, err)
	}
	return p
}

func text(s string) *string { return &s }

// TestWhatHoldsIsTheModelsThenTheTiersThenTheLongestBandsThenTheNewest is the order in which a price is looked for. Each price is
// told apart by what a million tokens of input cost.
func TestWhatHoldsIsTheModelsThenTheTiersThenTheLongestBandsThenTheNewest(t *testing.T) {
	first := beijing.Date(2026, time.January, 1)
	var prices []Price
	enter := func(input, model, tier string, band int64, after int) {
		d := Draft{CapabilityID: "chat", FromBand: &band, From: (first + beijing.Day(after)).String(), Currency: "USD", Input: input, Output: "0"}
		if model != "" {
			d.UpstreamModel = &model
		}
		if tier != "" {
			d.Tier = &tier
		}
		prices = append(prices, written(t, d))
	}
	enter("1", "", "", 0, 0)
	enter("2", "", "", 0, 10)
	enter("3", "", "", 200_000, 5)
	enter("4", "", "flex", 0, 0)
	enter("5", "", "flex", 128_000, 0)
	enter("6", "", "flex", 1_000_000, 20)
	enter("7", "large", "", 0, 3)
	enter("8", "large", "", 256_000, 3)
	enter("9", "large", "priority", 0, 8)
	enter("10", "other", "flex", 272_000, 0)
	book := NewBook(prices)
	for _, c := range []struct {
		model, tier string
		band        int64
		after       int
		want        string
	}{
		{"", "", 0, -1, "none"},
		{"", "", 0, 0, "1"}, {"", "", 0, 9, "1"}, {"", "", 0, 10, "2"},
		{"", "", 128_000, 10, "2"}, {"", "", 200_000, 4, "1"}, {"", "", 200_000, 5, "3"}, {"", "", 1_000_000, 99, "3"},
		{"", "batch", 0, 0, "1"}, {"", "batch", 200_000, 99, "3"},
		{"", "flex", 0, 99, "4"}, {"", "flex", 128_000, 0, "5"}, {"", "flex", 272_000, 99, "5"}, {"", "flex", 1_000_000, 19, "5"}, {"", "flex", 1_000_000, 20, "6"},
		{"", "Flex", 0, 0, "1"},
		{"large", "", 0, 2, "1"}, {"large", "", 0, 3, "7"}, {"large", "", 200_000, 99, "7"}, {"large", "", 256_000, 99, "8"},
		{"large", "flex", 1_000_000, 99, "8"}, {"large", "flex", 0, 2, "4"}, // its own of any tier before the tier's of any model
		{"large", "priority", 0, 7, "7"}, {"large", "priority", 0, 8, "9"}, {"large", "priority", 1_000_000, 8, "9"}, // the tier's own before a longer band of any tier
		{"other", "flex", 256_000, 0, "5"}, {"other", "flex", 272_000, 0, "10"}, {"other", "", 1_000_000, 0, "1"},
	} {
		u := Usage{Capability: "chat", UpstreamModel: c.model, Tier: c.tier, Band: c.band, Day: first + beijing.Day(c.after), Calls: 1, Meters: Meters{meter.Input: 1_000_000}}
		got := "none"
		if costs := book.Cost([]Usage{u}); costs[0].Currency != "" {
			got = costs[0].Amount.String()
		}
		if got != c.want {
			t.Errorf("model %q, tier %q, above %d, day %d: %s, want %s", c.model, c.tier, c.band, c.after, got, c.want)
		}
		if p, holds := book.PriceOf(u); holds != (c.want != "none") || holds && p.Input.String() != c.want {
			t.Errorf("model %q, tier %q, above %d, day %d: %+v holds", c.model, c.tier, c.band, c.after, p)
		}
	}
	if got := fmt.Sprint(book.UpstreamModels(), book.Tiers(), book.Bands()); got != "[large other] [flex priority] [128000 200000 256000 272000 1000000]" {
		t.Errorf("prices of their own: %s", got)
	}
	if empty := NewBook(nil); len(empty.UpstreamModels())+len(empty.Tiers())+len(empty.Bands()) != 0 {
		t.Error("an empty book has prices")
	}
}

// TestWhatEachMeterCosts is of one price a row: what is in a part with an amount of its own costs that, all else what the
// whole costs.
func TestWhatEachMeterCosts(t *testing.T) {
	const m = 1_000_000
	plain := map[string]string{}
	for _, c := range []struct {
		cached, write *string
		amounts       map[string]string
		used          Meters
		want          string
	}{
		{nil, nil, plain, Meters{meter.Input: m, meter.Output: m}, "9"},
		{nil, nil, plain, Meters{meter.Input: 3 * m, meter.CachedInput: m, meter.CacheWrite: 2 * m, meter.CacheWrite1h: m, meter.InputAudio: 0}, "3"},
		{text("0.1"), nil, plain, Meters{meter.Input: 3 * m, meter.CachedInput: m, meter.CacheWrite: m}, "2.1"},
		{nil, text("1.25"), plain, Meters{meter.Input: 3 * m, meter.CacheWrite: 2 * m, meter.CacheWrite5m: m, meter.CacheWrite1h: m}, "3.5"},
		{nil, text("1.25"), map[string]string{"cache_write_1h": "2"}, Meters{meter.Input: 3 * m, meter.CacheWrite: 2 * m, meter.CacheWrite5m: m, meter.CacheWrite1h: m}, "4.25"},
		{nil, nil, map[string]string{"cache_write_1h": "2", "cache_write_5m": "0"}, Meters{meter.Input: 3 * m, meter.CacheWrite: 2 * m, meter.CacheWrite5m: m, meter.CacheWrite1h: m}, "3"},
		{nil, text("1.25"), map[string]string{"cache_write_30m": "1.5", "cache_write_12h": "4"}, Meters{meter.Input: 4 * m, meter.CacheWrite: 4 * m, meter.CacheWrite30m: m, meter.CacheWrite12h: m}, "8"},
		{text("0.1"), nil, map[string]string{"input_audio": "10", "input_image": "5", "input_video": "7"}, Meters{meter.Input: 5 * m, meter.CachedInput: m, meter.InputAudio: m, meter.InputImage: m, meter.InputVideo: m}, "23.1"},
		{nil, nil, plain, Meters{meter.Input: 2 * m, meter.InputAudio: m}, "2"},
		{nil, nil, plain, Meters{meter.Output: 2 * m, meter.Reasoning: m, meter.OutputAudio: m}, "16"},
		{nil, nil, map[string]string{"reasoning": "3", "output_audio": "64", "output_image": "30"}, Meters{meter.Output: 4 * m, meter.Reasoning: m, meter.OutputAudio: m, meter.OutputImage: m}, "105"},
		{nil, nil, map[string]string{"reasoning": "0"}, Meters{meter.Output: m, meter.Reasoning: m}, "0"},
		{nil, nil, map[string]string{"search_units": "2", "web_searches": "10", "tool_calls": "0.5"}, Meters{meter.SearchUnits: 1, meter.WebSearches: 3, meter.ToolCalls: 7}, "0.0355"},
		{nil, nil, map[string]string{"images": "0.04", "pages": "0.001"}, Meters{meter.Images: 2, meter.Pages: 3}, "0.083"},
		{nil, nil, map[string]string{"characters": "15", "milliseconds": "0.0001"}, Meters{meter.Characters: 100, meter.Milliseconds: 1500}, "0.00165"},
		{nil, nil, map[string]string{"web_searches": "10"}, Meters{meter.Images: 1}, "none"},
		{nil, nil, plain, Meters{meter.Input: m, meter.WebSearches: 1}, "none"},
		{nil, nil, map[string]string{"web_searches": "0"}, Meters{meter.Input: m, meter.WebSearches: 1}, "1"},
		{nil, nil, plain, Meters{}, "0"},
	} {
		price := written(t, Draft{CapabilityID: "chat", From: "2026-01-01", Currency: "USD", Input: "1", Cached: c.cached, CacheWrite: c.write, Output: "8", Amounts: c.amounts})
		costs := NewBook([]Price{price}).Cost([]Usage{{Capability: "chat", Day: price.From, Calls: 3, Meters: c.used}})
		got := "none"
		if len(costs) == 1 && costs[0].Currency == "USD" && costs[0].PricedCalls == 3 && costs[0].UnpricedCalls == 0 {
			got = costs[0].Amount.String()
		} else if len(costs) != 1 || costs[0].UnpricedCalls != 3 || costs[0].PricedCalls != 0 {
			t.Errorf("%v: %+v", c.used, costs)
		}
		if got != c.want {
			t.Errorf("%v with %v: %s, want %s", c.used, c.amounts, got, c.want)
		}
	}
}

// TestWhatIsTakenBackBeforeItIsThereCostsNothing: the rollup of lines may be read before that of the five numbers.
func TestWhatIsTakenBackBeforeItIsThereCostsNothing(t *testing.T) {
	day := beijing.Date(2026, time.January, 1)
	book := NewBook([]Price{written(t, Draft{CapabilityID: "chat", From: day.String(), Currency: "USD", Input: "2", Output: "8"})},
		Exchange{Currency: "USD", To: "CNY", From: day, Rate: decimal.NewFromInt(7)})
	sum := book.Sum()
	for _, capability := range []string{"chat", "other"} {
		u := Usage{Capability: capability, Day: day, Calls: -3}
		u.Add("input", -3_000_000)
		sum.Add(book.Charge(u))
	}
	costs, totals := sum.Costs(), sum.Totals()
	if len(costs) != 1 || !costs[0].Amount.IsZero() || costs[0].PricedCalls != 0 || costs[0].UnpricedCalls != 0 || len(totals) != 1 || !totals[0].Amount.IsZero() {
		t.Errorf("%+v, %+v", costs, totals)
	}
}

// TestAMeterOfANewerVersionLeavesItsCallsUnpriced: a newer gateway may record what this process has no name for.
func TestAMeterOfANewerVersionLeavesItsCallsUnpriced(t *testing.T) {
	day := beijing.Date(2026, time.January, 1)
	book := NewBook([]Price{written(t, Draft{CapabilityID: "chat", From: day.String(), Currency: "USD", Input: "2", Output: "8"})})
	of := func(name string, n int64) []Cost {
		u := Usage{Capability: "chat", Day: day, Calls: 3}
		u.Add("input", 1_000_000)
		u.Add(name, n)
		return book.Cost([]Usage{u})
	}
	if got := of("holograms", 1); len(got) != 1 || got[0].Currency != "" || got[0].UnpricedCalls != 3 {
		t.Errorf("with a meter that nobody here knows: %+v", got)
	}
	if got := of("holograms", 0); len(got) != 1 || got[0].PricedCalls != 3 || got[0].Amount.String() != "2" {
		t.Errorf("with none of it: %+v", got)
	}
}

func TestTwelveDecimalsOfAMillionMillionTokensAreExact(t *testing.T) {
	price := written(t, Draft{CapabilityID: "chat", From: "2026-01-01", Currency: "USD", Input: "0.000000000001", Cached: text("999999999.999999999999"), Output: "0.333333333333",
		Amounts: map[string]string{"reasoning": "0.000000000007", "images": "0.000000000003"}})
	cost := NewBook([]Price{price}).Cost([]Usage{{Capability: "chat", Day: price.From, Calls: 1, Meters: Meters{
		meter.Input: 1_000_000_000_001, meter.CachedInput: 1_000_000_000_000, meter.Output: 1_000_000_000_003, meter.Reasoning: 1, meter.Images: 999_999_999_999,
	}}})
	// 1 * 1e-18 + 1e12 * 999999999.999999999999e-6 + 1000000000002 * 0.333333333333e-6 + 7e-18 + 999999999999 * 3e-12
	if want := "1000000000333336.333332666663666674"; len(cost) != 1 || cost[0].Amount.String() != want {
		t.Errorf("%+v, want %s", cost, want)
	}
}

// TestOfAllMetersASumCostsWhatItsCallsCostInFractions recomputes calls of every meter, tier and band one by one, by walking
// down from each whole to its parts.
func TestOfAllMetersASumCostsWhatItsCallsCostInFractions(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 30))
	wholes := map[string]string{"cached_input": "input", "cache_write": "input", "cache_write_5m": "cache_write", "cache_write_30m": "cache_write", "cache_write_1h": "cache_write",
		"cache_write_12h": "cache_write", "input_audio": "input", "input_image": "input", "input_video": "input", "reasoning": "output", "output_audio": "output", "output_image": "output"}
	per := map[string]int64{"search_units": 1e3, "web_searches": 1e3, "tool_calls": 1e3, "images": 1, "pages": 1, "milliseconds": 1e3}
	var names []string
	for m := range meter.NumPriced {
		names = append(names, m.String())
	}
	for range 200 {
		amounts := map[string]string{"input": "0", "output": "0"} // by name
		for _, name := range names {
			if amounts[name] != "" || random.IntN(2) == 0 {
				amounts[name] = fmt.Sprintf("%d.%012d", random.IntN(100), random.Int64N(1e12))
			}
		}
		d := Draft{CapabilityID: "chat", From: "2026-01-01", Currency: "USD", Amounts: map[string]string{}}
		for name, amount := range amounts {
			switch name {
			case "input":
				d.Input = amount
			case "output":
				d.Output = amount
			case "cached_input":
				d.Cached = &amount
			case "cache_write":
				d.CacheWrite = &amount
			default:
				d.Amounts[name] = amount
			}
		}
		price := written(t, d)
		want, priced, unpriced := new(big.Rat), int64(0), int64(0)
		rows := map[bool]*Usage{} // calls that used a unit without an amount are in a row of their own
		for range 50 {
			used := map[string]int64{}
			for i := len(names) - 1; i >= 0; i-- { // parts before their whole
				if random.IntN(3) > 0 {
					used[names[i]] += random.Int64N(1e9)
				}
				if whole := wholes[names[i]]; whole != "" {
					used[whole] += used[names[i]]
				}
			}
			lacks := false
			cost := new(big.Rat)
			for _, name := range names {
				left, at := used[name], name
				for part, whole := range wholes {
					if whole == name {
						left -= used[part]
					}
				}
				for amounts[at] == "" && wholes[at] != "" {
					at = wholes[at]
				}
				if amounts[at] == "" {
					lacks = lacks || left != 0
					continue
				}
				unit := per[name]
				if unit == 0 {
					unit = 1e6
				}
				amount, _ := new(big.Rat).SetString(amounts[at])
				cost.Add(cost, amount.Mul(amount, big.NewRat(left, unit)))
			}
			if lacks {
				unpriced++
			} else {
				priced++
				want.Add(want, cost)
			}
			if rows[lacks] == nil {
				rows[lacks] = &Usage{Capability: "chat", Day: price.From}
			}
			rows[lacks].Calls++
			for m := range meter.NumPriced {
				rows[lacks].Meters[m] += used[m.String()]
			}
		}
		sum := NewBook([]Price{price}).Sum()
		for _, row := range rows {
			sum.Add(sum.book.Charge(*row))
		}
		costs := sum.Costs()
		if len(costs) != 1 || costs[0].PricedCalls != priced || costs[0].UnpricedCalls != unpriced || priced > 0 && costs[0].Amount.Rat().Cmp(want) != 0 {
			t.Fatalf("%+v, want %v of %d, %d unpriced", costs, want, priced, unpriced)
		}
	}
}
