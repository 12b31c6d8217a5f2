package pricing

import (
	"callgate/internal/calls"
)

// Tally is what calls used, so that it can be priced by any book: their costs together are the sum's. It is for one goroutine.
type Tally struct {
	used map[tallied]*Usage
	book *Book // that sum is by
	sum  *Sum
}

// tallied is what must be alike for usages to be priced together.
type tallied struct {
	Usage  Usage  // without numbers
	meters uint32 // that were used, as bits: one price may hold for some and none for others
}

// maxTallied bounds what a Tally tells apart: what more models there are cost what the model does that has no name.
const maxTallied = 500

// Add takes in what a call used.
func (t *Tally) Add(r *calls.Record) {
	if t.used == nil {
		t.used = map[tallied]*Usage{}
	}
	for _, u := range usages(r) {
		of := tallied{Usage: u}
		of.Usage.Calls, of.Usage.Beside, of.Usage.Meters = 0, 0, Meters{}
		for m, n := range u.Meters {
			if n != 0 {
				of.meters |= 1 << m
			}
		}
		sum := t.used[of]
		if sum == nil && len(t.used) >= maxTallied {
			of.Usage.UpstreamModel, of.Usage.Tier = "", ""
			sum = t.used[of]
		}
		if sum == nil {
			copied := of.Usage
			sum = &copied
			t.used[of] = sum
		}
		sum.Calls, sum.Beside = sum.Calls+u.Calls, sum.Beside+u.Beside
		for m, n := range u.Meters {
			sum.Meters[m] += n
		}
		t.book = nil
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
