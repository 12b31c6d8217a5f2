package beijing

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"callgate/internal/fault"
)

func mustDay(t *testing.T, text string) Day {
	t.Helper()
	d, err := ParseDay(text)
	if err != nil {
		t.Fatalf("ParseDay(%q): %v", text, err)
	}
	return d
}

func TestACallBelongsToTheBeijingDayOfItsStart(t *testing.T) {
	f := func(utc, want string) {
		t.Helper()
		at, err := time.Parse(time.RFC3339Nano, utc)
		if err != nil {
			t.Fatal(err)
		}
		if got := DayOf(at).String(); got != want {
			t.Errorf("DayOf(%s) = %s, want %s", utc, got, want)
		}
	}
	f("2024-03-09T15:59:59.999Z", "2024-03-09")
	f("2024-03-09T16:00:00.000Z", "2024-03-10")
	f("2024-03-09T23:59:59.999+08:00", "2024-03-09")
	f("2024-03-10T00:00:00.000+08:00", "2024-03-10")
	f("2023-12-31T15:59:59.999999999Z", "2023-12-31")
	f("2023-12-31T16:00:00Z", "2024-01-01")
	f("2024-02-28T16:00:00Z", "2024-02-29")
	f("2024-02-29T15:59:59.999Z", "2024-02-29")
	f("2024-02-29T16:00:00Z", "2024-03-01")
	f("2023-02-28T16:00:00Z", "2023-03-01")
	f("1969-12-31T15:59:59.999Z", "1969-12-31")
	f("1969-12-31T16:00:00Z", "1970-01-01")
	f("1960-06-01T00:00:00Z", "1960-06-01")
}

func TestTheZoneOfTheServerShiftsNoDay(t *testing.T) {
	at := time.Date(2024, 12, 31, 15, 59, 59, 999e6, time.UTC)
	defer func(before *time.Location) { time.Local = before }(time.Local)
	for _, hours := range []int{-12, -8, 0, 8, 14} {
		time.Local = time.FixedZone("server", hours*3600)
		if got := DayOf(at.Local()).String(); got != "2024-12-31" {
			t.Errorf("server at UTC%+d: day %s", hours, got)
		}
		if got := DayOf(at.Add(time.Millisecond).Local()).String(); got != "2025-01-01" {
			t.Errorf("server at UTC%+d: next day %s", hours, got)
		}
		if got := Format(at.Local()); got != "2024-12-31T23:59:59.999+08:00" {
			t.Errorf("server at UTC%+d: %s", hours, got)
		}
		if got := mustDay(t, "2024-12-31").Start().UTC(); got != time.Date(2024, 12, 30, 16, 0, 0, 0, time.UTC) {
			t.Errorf("server at UTC%+d: day starts at %s", hours, got)
		}
	}
}

func TestADayStartsWhereTheOneBeforeEnds(t *testing.T) {
	for d := Date(1999, 12, 31); d <= Date(2101, 1, 1); d++ {
		if DayOf(d.Start()) != d || DayOf(d.Start().Add(-1)) != d-1 || DayOf(d.End().Add(-1)) != d || d.End() != (d+1).Start() {
			t.Fatalf("%s does not hold its own edges", d)
		}
		if back := mustDay(t, d.String()); back != d {
			t.Fatalf("%s reads back as %s", d, back)
		}
		if number := strconv.Itoa(int(d.Number())); number != strings.ReplaceAll(d.String(), "-", "") {
			t.Fatalf("%s has the number %s", d, number)
		}
	}
}

func TestDayOfAllocatesNothing(t *testing.T) {
	at := time.Now()
	if n := testing.AllocsPerRun(100, func() { _ = DayOf(at).Start() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestOnlyRealDatesAreRead(t *testing.T) {
	for _, text := range []string{"", "2023-02-29", "2024-13-01", "2024-00-10", "2024-04-31", "2024-1-1", "20240101",
		"2024-01-01 ", " 2024-01-01", "2024-01-01T00:00:00Z", "24-01-01", "+2024-01-1", "today", "２０２４-01-01", "2024/01/01"} {
		if d, err := ParseDay(text); err == nil {
			t.Errorf("%q was read as %s", text, d)
		}
	}
}

func TestADayIsItsTextInJSON(t *testing.T) {
	in := Range{Start: Date(2024, 2, 29), End: Date(2024, 3, 1)}
	text, err := json.Marshal(in)
	if err != nil || string(text) != `{"start":"2024-02-29","end":"2024-03-01"}` {
		t.Fatalf("%s, %v", text, err)
	}
	var out Range
	if err := json.Unmarshal(text, &out); err != nil || out != in {
		t.Fatalf("%v, %v", out, err)
	}
	if err := json.Unmarshal([]byte(`{"start":"2024-02-30"}`), &out); err == nil {
		t.Error("a date that does not exist was read")
	}
}

func TestTimesShowMillisecondsInBeijing(t *testing.T) {
	at := time.Date(2024, 1, 1, 0, 0, 0, 999_999_999, time.UTC)
	if got := Format(at); got != "2024-01-01T08:00:00.999+08:00" {
		t.Error(got)
	}
	if got := Format(at.Truncate(time.Second)); got != "2024-01-01T08:00:00.000+08:00" {
		t.Error(got)
	}
}

func TestOmittedDatesHaveTheirDefaults(t *testing.T) {
	today := Date(2024, 3, 5)
	f := func(start, end, want string) {
		t.Helper()
		r, err := ParseRange(start, end, today)
		if err != nil {
			t.Errorf("%q to %q: %v", start, end, err)
		} else if got := r.Start.String() + " " + r.End.String(); got != want {
			t.Errorf("%q to %q: %s, want %s", start, end, got, want)
		}
	}
	f("", "", "2024-02-28 2024-03-05")
	f("2024-01-31", "", "2024-01-31 2024-03-05")
	f("2024-03-05", "", "2024-03-05 2024-03-05")
	f("", "2024-01-03", "2023-12-28 2024-01-03")
	f("", "2024-12-31", "2024-12-25 2024-12-31")
	f("2024-12-30", "2024-12-31", "2024-12-30 2024-12-31")
	f("2024-01-01", "2024-12-31", "2024-01-01 2024-12-31") // 366 days of a leap year
	f("2023-01-01", "2024-01-01", "2023-01-01 2024-01-01")
	f("2000-01-01", "2000-01-01", "2000-01-01 2000-01-01")
	f("2100-12-31", "2100-12-31", "2100-12-31 2100-12-31")
	f("", "2000-01-01", "1999-12-26 2000-01-01")
}

func TestFaultyRangesAreToldApart(t *testing.T) {
	today := Date(2024, 3, 5)
	f := func(start, end string, want fault.Kind) {
		t.Helper()
		if r, err := ParseRange(start, end, today); err == nil || fault.KindOf(err) != want {
			t.Errorf("%q to %q: %v %v, want kind %d", start, end, r, err, want)
		}
	}
	f("x", "", fault.InvalidDate)
	f("", "2024-02-30", fault.InvalidDate)
	f("1999-12-31", "2000-01-01", fault.InvalidDate)
	f("2100-12-31", "2101-01-01", fault.InvalidDate)
	f("2024-03-05", "2024-03-04", fault.InvalidRange)
	f("2024-03-06", "", fault.InvalidRange) // starts after today
	f("2023-01-01", "2024-01-02", fault.InvalidRange)
	f("2000-01-01", "", fault.InvalidRange)
	f("2000-01-01", "2100-12-31", fault.InvalidRange)
}

func TestARangeYieldsEveryDayOnce(t *testing.T) {
	r := LastDays(3, Date(2024, 3, 1))
	days := slices.Collect(r.Each())
	if !slices.Equal(days, []Day{Date(2024, 2, 28), Date(2024, 2, 29), Date(2024, 3, 1)}) || r.Days() != 3 {
		t.Errorf("%v, %d days", days, r.Days())
	}
	if r.Contains(Date(2024, 2, 27)) || !r.Contains(Date(2024, 2, 28)) || !r.Contains(Date(2024, 3, 1)) || r.Contains(Date(2024, 3, 2)) {
		t.Error("Contains does not agree")
	}
}
