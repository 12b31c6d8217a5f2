package invoice

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"callgate/internal/meter"
)

const someDay = "2026-10-02"

// caused tells what a comparison of one model says: its causes, and whether that is all.
func caused(t *testing.T, counted []Counted, line Line) string {
	t.Helper()
	line.Date, line.Model = someDay, "gpt-x"
	for i := range counted {
		counted[i].Date, counted[i].Capability = someDay, "chat"
	}
	for _, item := range Compare(counted, []Line{line}) {
		if item.Model != "gpt-x" {
			continue
		}
		causes, unexplained := item.Causes()
		said := []string{}
		for _, c := range causes {
			said = append(said, fmt.Sprint(c.Reason, " ", c.Calls))
		}
		if unexplained {
			said = append(said, "unexplained")
		}
		return strings.Join(said, ", ")
	}
	t.Fatal("the model is not there")
	return ""
}

func TestADifferenceHasTheReasonsThatCanBeItsCause(t *testing.T) {
	usd := func(text string) map[string]decimal.Decimal {
		return map[string]decimal.Decimal{"USD": decimal.RequireFromString(text)}
	}
	cost := func(text string) Line {
		amount := decimal.RequireFromString(text)
		return Line{Cost: &amount, Currency: "USD"}
	}
	calls := func(n int64) Line { return Line{Calls: &n} }
	x := Counted{UpstreamModel: "gpt-x", Calls: 5, Billable: 5, Meters: input(100), Costs: usd("1.504")}
	with := func(reason Reason, n int64) Counted {
		c := x
		c.Why = map[Reason]int64{reason: n}
		return c
	}
	for name, c := range map[string]struct {
		counted []Counted
		billed  Line
		want    string
	}{
		"the same":                      {[]Counted{with(Partial, 2)}, Line{Meters: input(100)}, ""},
		"more":                          {[]Counted{x}, Line{Meters: input(101)}, "unexplained"},
		"more, with interrupted calls":  {[]Counted{with(Partial, 2)}, Line{Meters: input(101)}, "partial 2"},
		"less, with interrupted calls":  {[]Counted{with(Partial, 2)}, Line{Meters: input(99)}, "unexplained"},
		"more, with calls not reported": {[]Counted{with(Absent, 1)}, Line{Meters: input(101)}, "absent 1"},
		"more, with deferred calls":     {[]Counted{x, {UpstreamModel: "gpt-x", Why: map[Reason]int64{Deferred: 3}}}, Line{Meters: input(101)}, "deferred 3"},
		"deferred calls alone":          {[]Counted{{UpstreamModel: "gpt-x", Why: map[Reason]int64{Deferred: 3}}}, Line{Meters: input(101)}, "deferred 3"},
		"more, with estimates":          {[]Counted{with(Estimated, 4)}, Line{Meters: input(101)}, "estimated 4"},
		"a meter, with a tier":          {[]Counted{with(Tier, 4)}, Line{Meters: input(101)}, "unexplained"},
		"nothing was counted":           {nil, Line{Meters: input(1)}, "unexplained"},
		"half of it is told elsewhere":  {[]Counted{x, {UpstreamModel: meter.OtherModel, Calls: 2, Billable: 2}}, Line{Meters: input(101)}, "elsewhere 2"},
		"less, and some stand elsewhere": {[]Counted{x, {Calls: 2, Billable: 2}},
			Line{Meters: input(99)}, "unexplained"},
		"failed calls elsewhere":           {[]Counted{x, {Calls: 2, Why: map[Reason]int64{Unanswered: 2}}}, Line{Meters: input(101)}, "unexplained"},
		"as many calls more as elsewhere":  {[]Counted{x, {Calls: 2, Billable: 2}}, calls(7), "elsewhere 2"},
		"more calls than stand elsewhere":  {[]Counted{x, {Calls: 2, Billable: 2}}, calls(8), "elsewhere 2, unexplained"},
		"a cost of another tier":           {[]Counted{with(Tier, 4)}, cost("0.75"), "tier 4"},
		"a cost with calls without price":  {[]Counted{with(Unpriced, 4)}, cost("2"), "unpriced 4"},
		"a lower one":                      {[]Counted{with(Unpriced, 4)}, cost("1"), "unexplained"},
		"rounded":                          {[]Counted{x}, cost("1.50"), ""},
		"more than rounded":                {[]Counted{x}, cost("1.51"), "unexplained"},
		"a currency that the book has not": {[]Counted{{UpstreamModel: "gpt-x", Calls: 5, Why: map[Reason]int64{Unpriced: 5}}}, cost("2"), "unpriced 5"},
	} {
		if got := caused(t, c.counted, c.billed); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestWhatHasNoNameIsItsOwnReason: a row of calls without a name has fewer billed of all.
func TestWhatHasNoNameIsItsOwnReason(t *testing.T) {
	billed := int64(3)
	for model, of := range map[string]Counted{
		"other": {Date: someDay, Capability: "chat", UpstreamModel: meter.OtherModel, Calls: 4, Billable: 4, Meters: input(50)},
		"chat":  {Date: someDay, Capability: "chat", Calls: 4, Billable: 1, Meters: input(50), Why: map[Reason]int64{Unanswered: 3}},
	} {
		for _, item := range Compare([]Counted{of}, []Line{{Date: someDay, Model: "gpt-x", Calls: &billed, Meters: input(0)}}) {
			if causes, unexplained := item.Causes(); item.Model == model && (unexplained || len(causes) == 0 || causes[0].Reason != Unnamed) {
				t.Errorf("%s: %+v %v", model, causes, unexplained)
			}
		}
	}
}

// TestPartsOfCacheWritesAreComparedWhereAllOfThemAreKnown.
func TestPartsOfCacheWritesAreComparedWhereAllOfThemAreKnown(t *testing.T) {
	line := Line{Meters: map[meter.Meter]int64{meter.CacheWrite: 70, meter.CacheWrite5m: 40, meter.CacheWrite1h: 30}}
	whole := Counted{UpstreamModel: "gpt-x", Calls: 1, Meters: map[meter.Meter]int64{meter.CacheWrite: 70}}
	if got := caused(t, []Counted{whole}, line); got != "" {
		t.Errorf("the whole alone: %s", got)
	}
	whole.Meters = map[meter.Meter]int64{meter.CacheWrite: 70, meter.CacheWrite5m: 30, meter.CacheWrite1h: 40}
	if got := caused(t, []Counted{whole}, line); got != "unexplained" {
		t.Errorf("other parts: %s", got)
	}
}

// TestEveryMeterCanBeNamed as the contract names it, and columns of one meter stand alone.
func TestEveryMeterCanBeNamed(t *testing.T) {
	for m := range meter.NumPriced {
		lines, _, err := Read([]byte("date,model,"+m.String()+"\n2026-10-02,m,7\n"), october)
		if err != nil || len(lines) != 1 || lines[0].Meters[m] != 7 || len(lines[0].Meters) != 1 {
			t.Errorf("%s: %+v %v", m, lines, err)
		}
	}
	lines, _, err := Read([]byte("date,model,input_audio_tokens,input_cached_audio_tokens\n2026-10-02,m,7,5\n"), october)
	if err != nil || lines[0].Meters[meter.InputAudio] != 12 {
		t.Errorf("what is cached of sound stands apart: %+v %v", lines, err)
	}
	for _, twice := range []string{"cache_write,usage_input_tokens_cache_write_1h", "cached_input,input_cached_tokens", "input_audio,input_audio_tokens"} {
		if _, _, err := Read([]byte("date,model,"+twice+"\n2026-10-02,m,7,7\n"), october); !strings.Contains(said(err), "could both be meant") {
			t.Errorf("%s: %s", twice, said(err))
		}
	}
}
