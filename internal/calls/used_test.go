package calls

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func of(numbers ...any) (meters []Meter) {
	for i := 0; i < len(numbers); i += 2 {
		meters = append(meters, Meter{numbers[i].(string), uint64(numbers[i+1].(int))})
	}
	return meters
}

func TestLinesAreKeptWhereTheFiveNumbersDoNotSayAll(t *testing.T) {
	long := strings.Repeat("é", 60)
	many := make([]Line, 12)
	for i := range many {
		many[i] = Line{Model: string(rune('a' + i)), Meters: of("input", 200_001)}
	}
	const all = UsageInput | UsageOutput | UsageCached | UsageCacheWrite | UsageReasoning
	for name, c := range map[string]struct {
		lines []Line
		usage Usage
		kept  []Line
	}{
		"nothing": {},
		"an ordinary call": {[]Line{{Model: "m", Tier: "default", Meters: of("input", 9, "output", 5, "cached_input", 4, "cache_write", 3, "reasoning", 0, "input_audio", 0)}},
			Usage{Model: "m", Known: all, Input: 9, Output: 5, Cached: 4, CacheWrite: 3}, nil},
		"nothing used":   {[]Line{{Model: "m", Tier: "flex", Meters: of("input", 0)}}, Usage{Model: "m", Known: UsageInput}, nil},
		"a tier":         {[]Line{{Model: "m", Tier: "Flex", Meters: of("output", 5)}}, Usage{Model: "m", Known: UsageOutput, Output: 5}, []Line{{Model: "m", Tier: "flex", Meters: of("output", 5)}}},
		"below a band":   {[]Line{{Model: "m", Meters: of("input", 128_000)}}, Usage{Model: "m", Known: UsageInput, Input: 128_000}, nil},
		"above a band":   {[]Line{{Model: "m", Meters: of("input", 272_001)}}, Usage{Model: "m", Known: UsageInput, Input: 272_001}, []Line{{Model: "m", Band: 272_000, Meters: of("input", 272_001)}}},
		"another meter":  {[]Line{{Model: "m", Meters: of("pages", 3)}}, Usage{Model: "m"}, []Line{{Model: "m", Meters: of("pages", 3)}}},
		"a model beside": {[]Line{{Model: "m"}, {Model: "n", Meters: of("input", 3)}}, Usage{Model: "m", Known: UsageInput, Input: 3}, []Line{{Model: "n", Meters: of("input", 3)}}},
		"one kind twice": {[]Line{{Model: "m", Meters: of("input", 3)}, {Model: "m", Meters: of("input", 4, "output", 1)}}, Usage{Model: "m", Known: UsageInput | UsageOutput, Input: 7, Output: 1}, nil},
		"long names":     {[]Line{{Model: long, Tier: long, Meters: of("input", 3)}}, Usage{Model: long[:100], Known: UsageInput, Input: 3}, []Line{{Model: long[:100], Tier: long[:100], Meters: of("input", 3)}}},
		"beyond a number": {[]Line{{Model: "m", Meters: of("input", 1<<32-1)}, {Model: "n", Meters: of("input", 5)}}, Usage{Model: "m", Known: UsageInput, Input: 1<<32 - 1},
			[]Line{{Model: "m", Band: 1_000_000, Meters: of("input", 1<<32-1)}, {Model: "n", Meters: of("input", 5)}}},
		"many models": {many, Usage{Model: "a", Known: UsageInput, Input: 12 * 200_001}, append(func() (first []Line) {
			for _, l := range many[:7] {
				l.Band = 200_000
				first = append(first, l)
			}
			return first
		}(), Line{Model: "other", Meters: of("input", 5*200_001)})},
	} {
		var r Record
		r.SetLines(c.lines)
		if r.Usage != c.usage || !reflect.DeepEqual(r.Lines, c.kept) {
			t.Errorf("%s: %+v %+v", name, r.Usage, r.Lines)
		}
	}
}

func TestWhatTheProviderChargesIsInTheLines(t *testing.T) {
	one := []Line{{Model: "m", Meters: of("input", 9)}}
	two := append(slices.Clone(one), Line{Model: "n", Meters: of("input", 1)})
	for name, c := range map[string]struct {
		charged Charge
		lines   []Line
		kept    []Line
	}{
		"half up to ten decimals": {Charge{"0.00120000005", "USD"}, two,
			[]Line{{Model: "m", Meters: of("input", 9, "cost_reports", 1, "reported_cost", 12_000_001)}, {Model: "n", Meters: of("input", 1, "cost_reports", 1)}}},
		"for nothing":     {Charge{"0", "USD"}, one, []Line{{Model: "m", Meters: of("input", 9, "cost_reports", 1)}}},
		"of nothing used": {Charge{"1", "USD"}, []Line{{Model: "m"}}, nil},
		"below 0":         {Charge{"-1", "USD"}, one, nil},
		"too much":        {Charge{"10000.1", "USD"}, one, nil},
		"other money":     {Charge{"1", "EUR"}, one, nil},
		"no number":       {Charge{"free", "USD"}, one, nil},
	} {
		r := Record{Charged: c.charged}
		r.SetLines(c.lines)
		if !reflect.DeepEqual(r.Lines, c.kept) {
			t.Errorf("%s: %+v", name, r.Lines)
		}
	}
}
