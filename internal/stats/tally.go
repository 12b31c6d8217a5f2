package stats

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"callgate/internal/beijing"
)

// settled is how old a call must be for the rollups to be asked about its hour: they become visible
// a moment after the rows they count, in commits of their own.
const settled = 10 * time.Minute

// reaches say how many rows may be walked through in a day and in an hour before the span is
// narrowed. To narrow a day costs 24 rows of a rollup, to narrow an hour a read of all its rows.
type reaches struct{ day, hour int64 }

var standard = reaches{day: 20_000, hour: 200_000}

func (r reaches) of(u unit) int64 {
	switch u {
	case day:
		return r.day
	case hour:
		return r.hour
	default:
		return 1 << 62 // nothing is narrower than a second
	}
}

// unit is the length of a span in seconds.
type unit int64

const (
	second unit = 1
	hour   unit = 60 * 60
	day    unit = 24 * hour
)

// span is a day, an hour or a second and what was counted in it.
type span struct {
	start     int64 // Unix seconds
	unit      unit
	rows      int64 // calls of every model: what reading it costs
	calls     int64 // calls of the query's model
	successes int64 // successful ones among them
}

func (s span) end() int64 { return s.start + int64(s.unit) }

func (s span) matches(result Result) int64 {
	switch result {
	case OnlySuccesses:
		return s.successes
	case OnlyFailures:
		return s.calls - s.successes
	default:
		return s.calls
	}
}

// tally is what was counted in a range of days, newest span first, empty spans left out. Spans do
// not overlap.
type tally []span

func (t tally) summary() (sum CallsSummary) {
	for _, s := range t {
		sum.Calls += s.calls
		sum.Successes += s.successes
	}
	sum.Failures = sum.Calls - sum.Successes
	return sum
}

func (t tally) matches(result Result) (sum int64) {
	for _, s := range t {
		sum += s.matches(result)
	}
	return sum
}

// replace puts what was counted inside a span into its place.
func (t *tally) replace(whole span, parts []span) {
	at := slices.IndexFunc(*t, func(s span) bool { return s.start == whole.start && s.unit == whole.unit })
	*t = slices.Replace(*t, at, at+1, parts...)
}

// rolledUp and counted are the two sources of a tally: calls of every model, those of the query's,
// successes among these. Hours are counted in Unix time, which agrees with Beijing hours.
func (q CallsQuery) rolledUp() string {
	if q.Model == nil {
		return ` sum(u.calls) AS n, n, sum(u.successes)`
	}
	return ` sum(u.calls), sumIf(u.calls, ` + ofModel + `), sumIf(u.successes, ` + ofModel + `)`
}

func (q CallsQuery) counted() string {
	if q.Model == nil {
		return ` toInt64(count()) AS n, n, toInt64(countIf(success))`
	}
	return ` toInt64(count()), toInt64(countIf(` + ofModel + `)), toInt64(countIf(success AND ` + ofModel + `))`
}

// ofModel is the query's model filter.
const ofModel = `model = {model:String}`

// daysOf, hoursOf and rowsOf count the calls of a query by day and by hour from the rollups, and by
// hour or second from the rows themselves. Bounds are names of parameters.
func daysOf(q CallsQuery) string {
	return `
SELECT toInt64(86400) AS unit, toInt64(toUnixTimestamp(toDateTime(u.day, 'Asia/Shanghai'))) AS start,` + q.rolledUp() + `
FROM usage_daily AS u
WHERE u.application_id = {application:UUID} AND u.day >= {start:Date} AND u.day <= {end:Date}
GROUP BY u.day`
}

func hoursOf(q CallsQuery) string {
	return `
SELECT toInt64(3600) AS unit, toInt64(toUnixTimestamp(u.hour)) AS start,` + q.rolledUp() + `
FROM usage_hourly AS u
WHERE u.application_id = {application:UUID} AND u.hour >= fromUnixTimestamp({from:Int64}) AND u.hour < fromUnixTimestamp({to:Int64})
GROUP BY u.hour`
}

func rowsOf(q CallsQuery, by unit, from, to string) string {
	return fmt.Sprintf(`
SELECT toInt64(%d) AS unit, intDiv(toUnixTimestamp64Milli(start_time), %d) * %d AS start,`, by, 1000*by, by) + q.counted() + `
FROM calls
WHERE application_id = {application:UUID} AND ` + since(from) + ` AND ` + before(to) + `
GROUP BY start`
}

// openHour is the start of the first hour that is not settled.
func (r *Reader) openHour() int64 {
	at := r.now().Add(-settled).Unix()
	return at - at%int64(hour)
}

// tally counts the calls of a query by day, and by hour where days are not settled: settled days
// and the settled hours of the day that is not over from the rollups, and everything from the first
// hour that is not settled on from the rows themselves.
func (r *Reader) tally(ctx context.Context, q CallsQuery) (tally, error) {
	days := r.retained(q.Range)
	if days.Days() < 1 {
		return nil, nil
	}
	open := r.openHour()
	openDay := beijing.DayOf(time.Unix(open, 0))
	from, to := days.Start.Start().Unix(), days.End.End().Unix()
	var sources []string
	var bounds []any
	if last := min(days.End, openDay-1); days.Start <= last {
		sources, bounds = append(sources, daysOf(q)), append(bounds, "start", days.Start, "end", last)
	}
	if from, to := max(from, openDay.Start().Unix()), min(to, open); from < to {
		sources, bounds = append(sources, hoursOf(q)), append(bounds, "from", from, "to", to)
	}
	if from := max(from, open); from < to {
		sources, bounds = append(sources, rowsOf(q, hour, "open", "last")), append(bounds, "open", from, "last", to)
	}
	return r.count(ctx, strings.Join(sources, "\nUNION ALL"), q.parameters(bounds...))
}

// count runs a query of unit, start, rows, calls, successes.
func (r *Reader) count(ctx context.Context, query string, parameters []any) (tally, error) {
	var t tally
	err := r.each(ctx, "count calls", query, parameters, func(rows driver.Rows) error {
		var s span
		var length int64
		if err := rows.Scan(&length, &s.start, &s.rows, &s.calls, &s.successes); err != nil {
			return unavailable(err, "count calls")
		}
		s.unit = unit(length)
		if s.calls > 0 {
			t = append(t, s)
		}
		return nil
	})
	slices.SortFunc(t, func(a, b span) int { return int(b.start - a.start) })
	return t, err
}

// split counts a day by hour, or an hour by second. The parts of a settled span are remembered.
func (r *Reader) split(ctx context.Context, q CallsQuery, s span) (tally, error) {
	query, settled := rowsOf(q, second, "from", "to"), s.start < r.openHour()
	if s.unit == day { // days are in a tally only when they are settled
		query = hoursOf(q)
	}
	key := partsOf(q, s)
	if settled {
		if t, ok := r.parts.get(key, s); ok {
			return t, nil
		}
	}
	for pause := 2 * time.Millisecond; ; pause *= 2 {
		t, err := r.count(ctx, query, q.parameters("from", s.start, "to", s.end()))
		if err == nil && t.behind(s) && pause <= longestLag {
			time.Sleep(pause)
			continue
		}
		if err == nil && settled {
			r.parts.put(key, t)
		}
		return t, err
	}
}

// longestLag bounds the last pause before parts are counted again: a late call reaches the two
// rollups in commits of their own, and a total must not fall from one page to the next.
const longestLag = 32 * time.Millisecond

// behind tells whether the parts do not yet hold what was counted of the whole.
func (t tally) behind(whole span) bool {
	sum := t.summary()
	return sum.Calls < whole.calls || sum.Successes < whole.successes
}

// within is the condition that a call started in one of the spans, newest first, and its
// parameters. Neighbours become one interval. A page has never more spans than rows.
func within(spans []span) (condition string, bounds []any) {
	var intervals []string
	for i := 0; i < len(spans); {
		from, to := spans[i].start, spans[i].end()
		for i++; i < len(spans) && spans[i].end() == from; i++ {
			from = spans[i].start
		}
		first, last := fmt.Sprintf("from%d", len(intervals)), fmt.Sprintf("to%d", len(intervals))
		intervals = append(intervals, fmt.Sprintf("(%s AND %s)", since(first), before(last)))
		bounds = append(bounds, first, from, last, to)
	}
	return strings.Join(intervals, " OR "), bounds
}

// since and before compare a call's start with a parameter of Unix seconds, so that no zone of
// the server or of this process takes part.
func since(parameter string) string {
	return "start_time >= fromUnixTimestamp64Milli({" + parameter + ":Int64} * 1000)"
}

func before(parameter string) string {
	return "start_time < fromUnixTimestamp64Milli({" + parameter + ":Int64} * 1000)"
}
