package pricing

import (
	"cmp"
	"slices"

	"callgate/internal/beijing"
	"callgate/internal/meter"
)

// Unpriced is what calls used for which no price held.
type Unpriced struct {
	Capability    string
	UpstreamModel string // "": the answers named none
	Calls         int64
	Input         int64 // tokens
	Output        int64
	LastDay       beijing.Day
}

// Unpriced gives what no price holds for, by capability and upstream model, the most calls first.
func (b *Book) Unpriced(rows []Usage) []Unpriced {
	at := map[[2]string]int{}
	var found []Unpriced
	for _, row := range rows {
		if b.Charge(row).currency != unpriced {
			continue
		}
		of := [2]string{row.Capability, row.UpstreamModel}
		i, known := at[of]
		if !known {
			i = len(found)
			at[of] = i
			found = append(found, Unpriced{Capability: row.Capability, UpstreamModel: row.UpstreamModel, LastDay: row.Day})
		}
		u := &found[i]
		u.Calls, u.Input, u.Output = u.Calls+row.Calls+row.Beside, u.Input+row.Meters[meter.Input], u.Output+row.Meters[meter.Output]
		u.LastDay = max(u.LastDay, row.Day)
	}
	// Repairs of a rollup are added rows: what they took back was no call.
	found = slices.DeleteFunc(found, func(u Unpriced) bool { return u.Calls <= 0 })
	slices.SortFunc(found, func(a, b Unpriced) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Capability, b.Capability), cmp.Compare(a.UpstreamModel, b.UpstreamModel))
	})
	return found
}
