package meter

import (
	"testing"

	"callgate/internal/calls"
)

func TestEveryMeterHasItsName(t *testing.T) {
	if len(calls.MeterNames) != NumMeters {
		t.Fatalf("%d meters have %d names", NumMeters, len(calls.MeterNames))
	}
	for m, want := range map[Meter]string{Input: "input", CachedInput: "cached_input", Reasoning: "reasoning", CacheWrite1h: "cache_write_1h", OutputImage: "output_image",
		WebSearches: "web_searches", Milliseconds: "milliseconds"} {
		if named, known := Named(want); m.String() != want || named != m || !known {
			t.Errorf("%d is %s, %s is %d %v", m, m, want, named, known)
		}
	}
	if _, known := Named("inputs"); known {
		t.Error("there is no such meter")
	}
}
