package pricing

import "callgate/internal/meter"

// none is the whole of a meter that is no part of another.
const none = meter.NumPriced

// table says of each meter what it is part of, and of how many units a price is, as a power of ten. The parts of a whole do
// not overlap.
var table = [meter.NumPriced]struct {
	whole meter.Meter
	per   int32
}{
	meter.Input:         {none, 6},
	meter.CachedInput:   {meter.Input, 6},
	meter.CacheWrite:    {meter.Input, 6},
	meter.CacheWrite5m:  {meter.CacheWrite, 6},
	meter.CacheWrite30m: {meter.CacheWrite, 6},
	meter.CacheWrite1h:  {meter.CacheWrite, 6},
	meter.CacheWrite12h: {meter.CacheWrite, 6},
	meter.InputAudio:    {meter.Input, 6},
	meter.InputImage:    {meter.Input, 6},
	meter.InputVideo:    {meter.Input, 6},
	meter.Output:        {none, 6},
	meter.Reasoning:     {meter.Output, 6},
	meter.OutputAudio:   {meter.Output, 6},
	meter.OutputImage:   {meter.Output, 6},
	meter.SearchUnits:   {none, 3},
	meter.WebSearches:   {none, 3},
	meter.ToolCalls:     {none, 3},
	meter.Images:        {none, 0},
	meter.Pages:         {none, 0},
	meter.Characters:    {none, 6},
	meter.Milliseconds:  {none, 3}, // a price is of a second
}

// Meters is how much was used, by meter.
type Meters [meter.NumMeters]int64
