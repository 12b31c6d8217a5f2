package pricing

import "callgate/internal/beijing"

// Tally is what calls used, so that it can be priced by any book: their costs together are the sum's. It is for one goroutine.
type Tally struct {
	used map[tallied]*Usage
	book *Book // that sum is by
	sum  *Sum
}

// tallied is what must be alike for usages to be priced together.
type tallied struct {
	capability, model, tier string
	band                    int64
	day                     beijing.Day
	unknown                 bool
	meters                  uint32 // that were used, as bits: one price may hold for some and none for others
}

// maxTallied bounds what a Tally tells apart: what more models there are cost what the model does that has no name.
const maxTallied = 500

// Add takes in what a call used.
func (t *Tally) Add(used []Usage) {
	if t.used == nil {
		t.used = map[tallied]*Usage{}
	}
	t.book = nil
	for i := range used {
		u := &used[i]
		of := tallied{capability: u.Capability, model: u.UpstreamModel, tier: u.Tier, band: u.Band, day: u.Day, unknown: u.Unknown}
		for m, n := range u.Meters {
			if n != 0 {
				of.meters |= 1 << m
			}
		}
		sum := t.used[of]
		if sum == nil && len(t.used) >= maxTallied {
			of.model, of.tier = "", ""
			sum = t.used[of]
		}
		if sum == nil {
			sum = &Usage{Capability: of.capability, UpstreamModel: of.model, Tier: of.tier, Band: of.band, Day: of.day, Unknown: of.unknown}
			t.used[of] = sum
		}
		sum.Calls, sum.Beside = sum.Calls+u.Calls, sum.Beside+u.Beside
		for m, n := range u.Meters {
			sum.Meters[m] += n
		}
	}
}

// Sum is what all of it costs by a book.
func (t *Tally) Sum(b *Book) *Sum {
	if t.book != b || t.sum == nil {
		t.book, t.sum = b, b.Sum()
		for _, u := range t.used {
			t.sum.Add(b.Charge(*u))
		}
	}
	return t.sum
}
