package beijing

import (
	"iter"

	"callgate/internal/fault"
)

const (
	// MaxDays is the longest range anybody may ask for.
	MaxDays = 366
	// DefaultDays is the length of a range without a start.
	DefaultDays = 7
)

// First and last day a caller may name.
var (
	earliest = Date(2000, 1, 1)
	latest   = Date(2100, 12, 31)
)

// Range is the days from Start to End, both included.
type Range struct {
	Start Day `json:"start"`
	End   Day `json:"end"`
}

// LastDays returns the n days that end today.
func LastDays(n int, today Day) Range {
	return Range{Start: today - Day(n) + 1, End: today}
}

// WeekOf is the week that a day is in, from Monday on.
func WeekOf(day Day) Range {
	monday := day - (day+3)%7 // day 0 was a Thursday
	return Range{Start: monday, End: monday + 6}
}

// MonthOf is the calendar month that a day is in.
func MonthOf(day Day) Range {
	date := day.Start()
	return Range{Start: Date(date.Year(), date.Month(), 1), End: Date(date.Year(), date.Month()+1, 1) - 1}
}

// Days is the number of days, at least 1 for a range of ParseRange.
func (r Range) Days() int { return int(r.End-r.Start) + 1 }

// Contains tells whether d is one of the days.
func (r Range) Contains(d Day) bool { return r.Start <= d && d <= r.End }

// Each yields every day, ascending.
func (r Range) Each() iter.Seq[Day] {
	return func(yield func(Day) bool) {
		for d := r.Start; d <= r.End; d++ {
			if !yield(d) {
				return
			}
		}
	}
}

// ParseRange reads the query parameters start and end, empty when omitted: both omitted mean the
// last 7 days, start alone runs to today, end alone means the 7 days that end there.
// Future days are allowed. Faults: InvalidDate for what is no date or lies outside
// 2000 to 2100, InvalidRange for an end before the start or more than 366 days.
func ParseRange(start, end string, today Day) (Range, error) {
	r := LastDays(DefaultDays, today)
	var err error
	if end != "" {
		if r.End, err = ParseDate("end", end); err != nil {
			return Range{}, err
		}
		r.Start = r.End - DefaultDays + 1
	}
	if start != "" {
		if r.Start, err = ParseDate("start", start); err != nil {
			return Range{}, err
		}
	}
	switch {
	case r.End < r.Start:
		return Range{}, fault.New(fault.InvalidRange, "end %s is before start %s", r.End, r.Start)
	case r.Days() > MaxDays:
		return Range{}, fault.New(fault.InvalidRange, "%d days are more than the %d that can be asked for", r.Days(), MaxDays)
	}
	return r, nil
}

// ParseDate reads the date that a parameter or field of this name was given. The fault is InvalidDate for
// what is no date or lies outside 2000 to 2100.
func ParseDate(name, text string) (Day, error) {
	d, err := ParseDay(text)
	if err != nil {
		return 0, fault.Wrap(fault.InvalidDate, err, "%s must be a date of the form YYYY-MM-DD", name)
	}
	if d < earliest || latest < d {
		return 0, fault.New(fault.InvalidDate, "%s must lie between %s and %s", name, earliest, latest)
	}
	return d, nil
}
