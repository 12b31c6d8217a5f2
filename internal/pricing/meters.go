package pricing

// Meter is something that providers charge for.
type Meter int

// The meters. Every one but those without a whole is part of another; the parts of a whole do not overlap.
const (
	Input       Meter = iota // everything read, from a cache and into one too
	CachedInput              // read from a cache
	CacheWrite               // written to a cache, for whatever time
	CacheWrite5m
	CacheWrite30m
	CacheWrite1h
	CacheWrite12h
	InputAudio
	InputImage
	InputVideo
	Output // everything written, with what was spent on reasoning
	Reasoning
	OutputAudio
	OutputImage
	SearchUnits
	WebSearches
	ToolCalls
	Images
	Pages
	Characters
	Milliseconds
	meters // how many there are
)

// none is the whole of a meter that is no part of another.
const none Meter = -1

// table says of each meter its name, what it is part of, and of how many units a price is, as a power of ten.
var table = [meters]struct {
	name  string
	whole Meter
	per   int32
}{
	Input:         {"input", none, 6},
	CachedInput:   {"cached_input", Input, 6},
	CacheWrite:    {"cache_write", Input, 6},
	CacheWrite5m:  {"cache_write_5m", CacheWrite, 6},
	CacheWrite30m: {"cache_write_30m", CacheWrite, 6},
	CacheWrite1h:  {"cache_write_1h", CacheWrite, 6},
	CacheWrite12h: {"cache_write_12h", CacheWrite, 6},
	InputAudio:    {"input_audio", Input, 6},
	InputImage:    {"input_image", Input, 6},
	InputVideo:    {"input_video", Input, 6},
	Output:        {"output", none, 6},
	Reasoning:     {"reasoning", Output, 6},
	OutputAudio:   {"output_audio", Output, 6},
	OutputImage:   {"output_image", Output, 6},
	SearchUnits:   {"search_units", none, 3},
	WebSearches:   {"web_searches", none, 3},
	ToolCalls:     {"tool_calls", none, 3},
	Images:        {"images", none, 0},
	Pages:         {"pages", none, 0},
	Characters:    {"characters", none, 6},
	Milliseconds:  {"milliseconds", none, 3}, // a price is of a second
}

// String is the meter's name, as contract and database have it.
func (m Meter) String() string { return table[m].name }

// MeterNamed gives the meter of a name.
func MeterNamed(name string) (Meter, bool) {
	for m := range meters {
		if table[m].name == name {
			return m, true
		}
	}
	return none, false
}

// Meters is how much was used, by meter.
type Meters [meters]int64

// bands are the numbers of input tokens above which providers charge other prices.
var bands = []int64{0, 128_000, 200_000, 256_000, 272_000, 1_000_000}
