// Package beijing is all calendar arithmetic of the service: natural days in Beijing time and
// inclusive ranges of them. Beijing has been UTC+8 without summer
// time since 1991, and the service knows no earlier days, so the offset is fixed arithmetic: no tz
// database has to be installed, and the zone of the server cannot shift a day.
package beijing

import (
	"errors"
	"time"
)

const (
	offset    = 8 * 60 * 60  // seconds east of UTC
	dayLength = 24 * 60 * 60 // seconds
)

// zone has no name that a reader could take for another country's standard time.
var zone = time.FixedZone("UTC+8", offset)

// Day is one natural day in Beijing. Its text and JSON form is YYYY-MM-DD. Days compare with ==
// and <; the distance of two is their difference. The zero value is 1970-01-01.
type Day int32 // days since 1970-01-01

// DayOf returns the day t falls on in Beijing, whatever t's own location is.
func DayOf(t time.Time) Day {
	seconds := t.Unix() + offset
	if seconds < 0 {
		seconds -= dayLength - 1 // round down, not towards zero
	}
	return Day(seconds / dayLength)
}

// Date returns the day of a civil date; overflowing months and days roll over as in time.Date.
func Date(year int, month time.Month, day int) Day {
	return Day(time.Date(year, month, day, 12, 0, 0, 0, time.UTC).Unix() / dayLength)
}

// Start is the first instant of the day, in Beijing time.
func (d Day) Start() time.Time {
	return time.Unix(int64(d)*dayLength-offset, 0).In(zone)
}

// End is the first instant after the day.
func (d Day) End() time.Time { return (d + 1).Start() }

// UTC is midnight UTC of the day, as the stores' drivers take a date.
func (d Day) UTC() time.Time { return time.Unix(int64(d)*dayLength, 0).UTC() }

// String gives YYYY-MM-DD.
func (d Day) String() string { return d.Start().Format(time.DateOnly) }

// Number gives the digits YYYYMMDD as a number, the form in which ClickHouse names a day's partition.
func (d Day) Number() uint32 {
	year, month, day := d.Start().Date()
	return uint32(year*10_000 + int(month)*100 + day) //nolint:gosec // eight digits
}

// MarshalText gives YYYY-MM-DD.
func (d Day) MarshalText() ([]byte, error) {
	return d.Start().AppendFormat(make([]byte, 0, len(time.DateOnly)), time.DateOnly), nil
}

// UnmarshalText takes YYYY-MM-DD and nothing else.
func (d *Day) UnmarshalText(text []byte) error {
	parsed, err := ParseDay(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

var errNotADay = errors.New("not a date of the form YYYY-MM-DD")

// ParseDay reads YYYY-MM-DD. A date that does not exist, such as 2023-02-29, is an error.
func ParseDay(text string) (Day, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || len(text) != len(time.DateOnly) {
		return 0, errNotADay
	}
	return Date(t.Date()), nil
}

// Today is the day of now in Beijing.
func Today(now time.Time) Day { return DayOf(now) }

const layout = "2006-01-02T15:04:05.000Z07:00"

// Format gives t as RFC 3339 with milliseconds and +08:00. Finer digits are cut
// off, so that a time never shows as a later one.
func Format(t time.Time) string {
	return t.In(zone).Format(layout)
}

// Parse reads what Format gives, and nothing else.
func Parse(text string) (t time.Time, ok bool) {
	t, err := time.Parse(layout, text)
	return t, err == nil && Format(t) == text
}
