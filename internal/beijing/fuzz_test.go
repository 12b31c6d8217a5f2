package beijing

import (
	"testing"

	"callgate/internal/fault"
)

// FuzzRanges reads any two texts: what is taken is a range that may be asked for, what is refused
// is the asker's fault.
func FuzzRanges(f *testing.F) {
	for _, seed := range [][2]string{{"", ""}, {"2026-08-11", "2026-08-17"}, {"2024-02-29", ""}, {"", "2099-12-31"}, {"2026-8-1", "+2026-08-01"}, {"2023-02-29", "0000-00-00"}} {
		f.Add(seed[0], seed[1])
	}
	today := Date(2026, 8, 17)
	f.Fuzz(func(t *testing.T, start, end string) {
		r, err := ParseRange(start, end, today)
		if kind := fault.KindOf(err); err != nil && kind != fault.InvalidDate && kind != fault.InvalidRange {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		if days := r.Days(); days < 1 || days > MaxDays || r.Start < earliest-DefaultDays || r.End > latest {
			t.Fatalf("%q to %q is %v", start, end, r)
		}
		if start != "" && r.Start.String() != start || end != "" && r.End.String() != end {
			t.Fatalf("%q to %q is %v", start, end, r)
		}
	})
}
