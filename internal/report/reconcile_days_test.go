package report

import (
	"testing"
	"time"
)

// TestEveryDayOfAMonthBeginsWithItsFirstInstant where clocks go forward or back at midnight, or a date was left out.
func TestEveryDayOfAMonthBeginsWithItsFirstInstant(t *testing.T) {
	for _, c := range []struct {
		zone, month string
		starts      map[int]string // of days that do not begin as any other
	}{
		{"America/Santiago", "2026-09", map[int]string{6: "2026-09-06T01:00:00-03:00"}},
		{"Africa/Cairo", "2026-04", map[int]string{24: "2026-04-24T01:00:00+03:00"}},
		{"America/Asuncion", "2023-10", map[int]string{1: "2023-10-01T01:00:00-03:00"}}, // the month begins with it
		{"America/Havana", "2026-11", map[int]string{1: "2026-11-01T00:00:00-04:00"}},
		{"Asia/Beirut", "2026-03", map[int]string{29: "2026-03-29T01:00:00+03:00"}},
		{"America/Los_Angeles", "2026-11", nil},
		{"UTC", "2024-02", nil},
		{"Asia/Shanghai", "2026-12", nil},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.ParseInLocation("2006-01-02", c.month+"-15", zone)
		if err != nil {
			t.Fatal(err)
		}
		b := BillingMonthOf(at.Year(), at.Month(), zone)
		if days := at.AddDate(0, 1, -at.Day()).Day(); len(b.starts) != days || !b.First.Equal(b.starts[0]) {
			t.Errorf("%s %s: %d days, not %d", c.zone, c.month, len(b.starts), days)
		}
		for i, start := range b.starts {
			want := c.starts[i+1]
			if want == "" {
				want = start.Format(time.DateOnly) + start.Format("T00:00:00Z07:00")
			}
			if got := start.Format(time.RFC3339); got != want || start.Day() != i+1 || start.Add(-time.Second).Day() == i+1 {
				t.Errorf("%s: day %d begins at %s, not %s", c.zone, i+1, got, want)
			}
		}
		if b.until.Day() != 1 || b.until.Hour() != 0 || b.until.Month() == b.First.Month() {
			t.Errorf("%s %s ends at %s", c.zone, c.month, b.until)
		}
	}
}
