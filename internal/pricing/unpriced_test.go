package pricing

import (
	"callgate/internal/meter"
	"fmt"
	"testing"
)

func TestUnpricedIsWhatNoPriceHoldsForOnItsDayMostCallsFirst(t *testing.T) {
	book := bookOf(t, []entry{{"chat", "", "USD", 20_002, "1", "", "", "1"}, {"embed", "m", "USD", 20_000, "1", "", "", "0"}})
	got := book.Unpriced([]Usage{
		{Capability: "chat", UpstreamModel: "m", Day: 20_000, Calls: 1, Meters: Meters{meter.Input: 10, meter.Output: 1}},
		{Capability: "chat", UpstreamModel: "m", Day: 20_001, Calls: 2, Meters: Meters{meter.Input: 20, meter.Output: 2}},
		{Capability: "chat", UpstreamModel: "m", Day: 20_002, Calls: 100},
		{Capability: "embed", UpstreamModel: "m", Day: 20_002, Calls: 100},
		{Capability: "embed", UpstreamModel: "", Day: 20_002, Calls: 4, Meters: Meters{meter.Input: 7}},
		{Capability: "embed", UpstreamModel: "n", Day: 20_002, Calls: 1},
		{Capability: "embed", UpstreamModel: "n", Day: 20_002, Calls: -1}, // a repair
	})
	if want := "[{embed  4 7 0 2024-10-06} {chat m 3 30 3 2024-10-05}]"; fmt.Sprint(got) != want {
		t.Errorf("unpriced %v\nwant     %s", got, want)
	}
}
