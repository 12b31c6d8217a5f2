package invoice

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	unixText  = regexp.MustCompile(`^(\d{10})(\d{3})?(\.0+)?$`) // seconds or milliseconds
	plainText = regexp.MustCompile(`^(\d{4})(\d\d)(\d\d)$`)
	dateText  = regexp.MustCompile(`^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:(?:T| +)(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d+)?)?)? ?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?(?: UTC)?$`)
)

// moment is a date, a time, or an instant as a file tells it.
type moment struct {
	at    time.Time // with the offset it tells, or else UTC
	timed bool      // is more than a date
	fixed bool      // tells its offset
}

func momentOf(text string) (m moment, ok bool) {
	if parts := unixText.FindStringSubmatch(text); parts != nil {
		seconds, err := strconv.ParseInt(parts[1], 10, 64)
		return moment{time.Unix(seconds, 0), true, true}, err == nil
	}
	if parts := plainText.FindStringSubmatch(text); parts != nil {
		text = strings.Join(parts[1:], "-")
	}
	parts := dateText.FindStringSubmatch(text)
	if parts == nil {
		return m, false
	}
	m.timed, m.fixed = parts[4] != "", parts[7] != ""
	if !m.timed {
		parts[4], parts[5] = "0", "00"
		if m.fixed {
			return m, false
		}
	}
	if parts[6] == "" {
		parts[6] = "00"
	}
	zone := strings.ReplaceAll(parts[7], ":", "")
	switch {
	case len(zone) == 3 && strings.ContainsAny(zone[:1], "+-"):
		zone += "00"
	case !strings.ContainsAny(zone, "+-"):
		zone = "+0000"
	}
	at, err := time.Parse("2006-1-2 15:4:5 -0700", strings.Join(parts[1:4], "-")+" "+strings.Join(parts[4:7], ":")+" "+zone)
	m.at = at
	return m, err == nil
}

// day is the day of the zone that the line is of. A time without an offset is the zone's own, or UTC's under a heading that
// says so.
func (r reading) day() string {
	m, ok := momentOf(r.date())
	if !ok {
		r.wrong.Add(r.name, "the date must be of the form 2026-10-31 or 2026-10-31T15:04:05+08:00, or seconds since 1970")
		return ""
	}
	inUTC := !m.fixed && r.text(startColumn) == "" && r.text(dateColumn) == ""
	if !m.fixed && !inUTC {
		return m.at.Format(time.DateOnly)
	}
	until := m.at
	if end, ok := momentOf(r.text(endColumn)); ok && (end.fixed || inUTC) && end.at.After(m.at) {
		until = end.at.Add(-time.Second)
	} else if !m.timed {
		until = m.at.Add(24*time.Hour - time.Second)
	}
	day := m.at.In(r.zone).Format(time.DateOnly)
	if until.In(r.zone).Format(time.DateOnly) != day {
		r.wrong.Add(r.name, "the line is of parts of two days of %s; compare it with the time zone of the file's days", r.zone)
	}
	return day
}
