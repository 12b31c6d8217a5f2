package stats

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"callgate/internal/beijing"
)

// scanLimits say how many rows may be walked through in a day and in an hour before the bucket is
// narrowed. To narrow a day costs 24 rows of a rollup, to narrow an hour a read of all its rows.
type scanLimits struct{ day, hour int64 }

var defaultScanLimits = scanLimits{day: 5_000, hour: 50_000}

func (l scanLimits) of(u unit) int64 {
	switch u {
	case day:
		return l.day
	case hour:
		return l.hour
	default:
		return 1 << 62 // nothing is narrower than a second
	}
}

// unit is the length of a bucket in seconds.
type unit int64

const (
	second unit = 1
	hour   unit = 60 * 60
	day    unit = 24 * hour
)

// timeBucket is a day, an hour or a second and what was counted in it.
type timeBucket struct {
	start     int64 // Unix seconds
	unit      unit
	rows      int64 // calls of every model: what reading it costs
	calls     int64 // calls of the query
	successes int64 // successful ones among them

	fromRows bool // counted from rows: but for rows all are of calls recorded by the query's until
}

// counts are where to scan what rolledUp and counted select.
func (s *timeBucket) counts() []any { return []any{&s.rows, &s.calls, &s.successes} }

// add counts what another part of the same time holds.
func (s *timeBucket) add(part timeBucket) {
	s.rows += part.rows
	s.calls, s.successes = s.calls+part.calls, s.successes+part.successes
}

func (s timeBucket) day() beijing.Day { return beijing.DayOf(time.Unix(s.start, 0)) }

func (s timeBucket) end() int64 { return s.start + int64(s.unit) }

func (s timeBucket) holds(start int64) bool { return start >= s.start && start < s.end() }

func (s timeBucket) matches(result Result) int64 {
	switch result {
	case OnlySuccesses:
		return s.successes
	case OnlyFailures:
		return s.calls - s.successes
	default:
		return s.calls
	}
}

// series is what was counted in a range of days, newest bucket first, empty buckets left out. Buckets do
// not overlap.
type series []timeBucket

func (t series) sum() (sum timeBucket) {
	for _, s := range t {
		sum.add(s)
	}
	return sum
}

func (t series) summary() CallsSummary {
	sum := t.sum()
	return CallsSummary{Calls: sum.calls, Successes: sum.successes, Failures: sum.calls - sum.successes}
}

func (t series) matches(result Result) int64 { return t.sum().matches(result) }

func (t series) rows() int64 { return t.sum().rows }

func (t series) sort() {
	slices.SortFunc(t, func(a, b timeBucket) int { return cmp.Compare(b.start, a.start) })
}

// replace puts what was counted inside a bucket into its place.
func (t *series) replace(whole timeBucket, parts []timeBucket) {
	at := slices.IndexFunc(*t, func(s timeBucket) bool { return s.start == whole.start && s.unit == whole.unit })
	*t = slices.Replace(*t, at, at+1, parts...)
}

// rolledUp and counted are the two sources of a series: the counts of a timeBucket in their order. The rollups know no
// outcome. Hours are counted in Unix time, which agrees with Beijing hours.
func (q CallsQuery) rolledUp() string {
	if q.Model == nil {
		return ` sum(u.calls) AS n, n, sum(u.successes)`
	}
	return ` sum(u.calls), sumIf(u.calls, ` + ofModel + `), sumIf(u.successes, ` + ofModel + `)`
}

func (q CallsQuery) counted() string {
	counts := ` toInt64(count()) AS n,` + countIf(q.listed()) + `,`
	if q.Outcome.OnlyFailures() {
		return counts + ` toInt64(0)` // no success is one
	}
	return counts + countIf(q.listed()+" AND success")
}

// countIf counts rows that meet conditions, each behind its AND; without any it is the n of counted.
func countIf(conditions string) string {
	if conditions == "" {
		return ` n`
	}
	return ` toInt64(countIf(` + strings.TrimPrefix(conditions, " AND ") + `))`
}

// listed are the conditions of everything but result.
func (q CallsQuery) listed() (conditions string) {
	if q.Model != nil {
		conditions = " AND " + ofModel
	}
	if q.TraceID != "" {
		conditions += " AND " + ofTrace
	}
	if q.From != nil {
		conditions += " AND start_time >= fromUnixTimestamp64Milli({started:Int64}, 'Asia/Shanghai')"
	}
	if q.To != nil {
		conditions += " AND start_time < fromUnixTimestamp64Milli({ended:Int64}, 'Asia/Shanghai')"
	}
	if q.Until != nil {
		conditions += " AND " + inTime
	}
	return conditions + q.Outcome.conditions()
}

// ofModel is the query's model filter.
const ofModel = `model = {model:String}`

// daysOf and hoursOf count the calls of a query by day and by hour from the rollups, hoursFromRows and
// secondsOf by hour and by second from the rows themselves.
func daysOf(q CallsQuery) string {
	return `
SELECT toInt64(86400) AS unit, toInt64(toUnixTimestamp(toDateTime(u.day, 'Asia/Shanghai'))) AS start,` + q.rolledUp() + `
FROM usage_daily AS u
WHERE u.application_id = {application:UUID} AND u.day >= {start:Date} AND u.day <= {end:Date}
GROUP BY u.day`
}

func hoursOf(q CallsQuery) string {
	if q.Outcome.narrows() { // no rollup tells outcomes by hour
		return everyHourFromRows(q)
	}
	return `
SELECT toInt64(3600) AS unit, toInt64(toUnixTimestamp(u.hour)) AS start,` + q.rolledUp() + `
FROM usage_hourly AS u
WHERE u.application_id = {application:UUID} AND u.hour >= toDateTime({from:Int64}, 'Asia/Shanghai') AND u.hour < toDateTime({to:Int64}, 'Asia/Shanghai')
GROUP BY u.hour`
}

// hourOfRow is when the hour of a call's start begins, in Unix seconds.
const hourOfRow = `intDiv(toUnixTimestamp64Milli(start_time), 3600000) * 3600`

func hoursFromRows(q CallsQuery) string {
	return `
SELECT toInt64(3600) AS unit, ` + hourOfRow + ` AS start,` + q.counted() + `
FROM calls
WHERE application_id = {application:UUID} AND ` + since("from") + ` AND ` + before("to") + ` AND ` + hourOfRow + ` IN {hours:Array(Int64)}
GROUP BY start`
}

func everyHourFromRows(q CallsQuery) string {
	return `
SELECT toInt64(3600) AS unit, ` + hourOfRow + ` AS start,` + q.counted() + `
FROM calls
WHERE application_id = {application:UUID} AND ` + since("from") + ` AND ` + before("to") + `
GROUP BY start`
}

func secondsOf(q CallsQuery) string {
	return `
SELECT toInt64(1) AS unit, intDiv(toUnixTimestamp64Milli(start_time), 1000) AS start,` + q.counted() + `
FROM calls
WHERE application_id = {application:UUID} AND ` + since("from") + ` AND ` + before("to") + `
GROUP BY start`
}

// perDay counts the calls of a query by day, today as well, whenever they were recorded. The daily
// rollup follows the rows by a moment; taking every day from it makes a total agree with every other
// statistic and never fall.
func (r *Reader) perDay(ctx context.Context, q CallsQuery) (series, error) {
	days := r.keptCalls(q.Range)
	if days.Days() < 1 {
		return nil, nil
	}
	t, err := r.countDays(ctx, q, days)
	return t.used(), err
}

// countDays is perDay with days that hold other calls only.
func (r *Reader) countDays(ctx context.Context, q CallsQuery, days beijing.Range) (series, error) {
	if q.Outcome.narrows() {
		return r.countOutcomeDays(ctx, q, days)
	}
	return r.countAll(inOneThread(ctx), daysOf(q), q.parameters("start", days.Start, "end", days.End))
}

// count runs a query of unit, start and the counts of buckets, and leaves out those without calls.
func (r *Reader) count(ctx context.Context, query string, parameters []any) (series, error) {
	t, err := r.countAll(ctx, query, parameters)
	return t.used(), err
}

func (t series) used() series {
	return slices.DeleteFunc(t, func(s timeBucket) bool { return s.calls <= 0 })
}

// countAll is count with buckets that hold calls of other models only.
func (r *Reader) countAll(ctx context.Context, query string, parameters []any) (series, error) {
	var t series
	err := r.each(ctx, "count calls", query, parameters, func(rows driver.Rows) error {
		var s timeBucket
		if err := rows.Scan(append([]any{(*int64)(&s.unit), &s.start}, s.counts()...)...); err != nil {
			return unavailable(err, "count calls")
		}
		t = append(t, s)
		return nil
	})
	t.sort()
	return t, err
}

// split counts a day by hour, or an hour by second, and remembers the parts.
func (r *Reader) split(ctx context.Context, q CallsQuery, s timeBucket) (series, error) {
	query := secondsOf(q)
	if s.unit == day {
		query = hoursOf(q)
	}
	key := partsKey(q, s)
	if t, ok := r.cache.get(key, s); ok {
		return t, nil
	}
	for pause := 2 * time.Millisecond; ; pause *= 2 {
		t, err := r.count(ctx, query, q.parameters("from", s.start, "to", s.end()))
		if err != nil {
			return nil, err
		}
		if !t.behind(s) || pause > longestLag {
			r.cache.put(key, t)
			return t, nil
		}
		select {
		case <-ctx.Done():
			return nil, unavailable(ctx.Err(), "count calls")
		case <-time.After(pause):
		}
	}
}

// longestLag bounds the last pause before parts are counted again: the rollups become visible one
// after the other, and a total must not fall from one page to the next.
const longestLag = 32 * time.Millisecond

// behind tells whether the parts do not yet hold what was counted of the whole.
func (t series) behind(whole timeBucket) bool {
	sum := t.sum()
	return sum.calls < whole.calls || sum.successes < whole.successes
}

// within is the condition that a call started in one of the buckets, newest first, and its
// parameters. A page has never more buckets than rows. Neighbours become one interval; days that are none
// are named, which finds their partitions sooner than several intervals do.
func within(buckets []timeBucket) (condition string, bounds []any) {
	var intervals []string
	for i := 0; i < len(buckets); {
		from, to := buckets[i].start, buckets[i].end()
		for i++; i < len(buckets) && buckets[i].end() == from; i++ {
			from = buckets[i].start
		}
		first, last := fmt.Sprintf("from%d", len(intervals)), fmt.Sprintf("to%d", len(intervals))
		intervals = append(intervals, fmt.Sprintf("(%s AND %s)", since(first), before(last)))
		bounds = append(bounds, first, from, last, to)
	}
	if len(intervals) == 1 || slices.ContainsFunc(buckets, func(s timeBucket) bool { return s.unit != day }) {
		return strings.Join(intervals, " OR "), bounds
	}
	days := make([]uint32, len(buckets))
	for i, s := range buckets {
		days[i] = s.day().Number()
	}
	return "toYYYYMMDD(start_time) IN {days:Array(UInt32)}", []any{"days", days}
}

// since and before compare a call's start with a parameter of Unix seconds, so that no zone of
// the server or of this process takes part.
func since(parameter string) string {
	return "start_time >= fromUnixTimestamp64Milli({" + parameter + ":Int64} * 1000, 'Asia/Shanghai')"
}

func before(parameter string) string {
	return "start_time < fromUnixTimestamp64Milli({" + parameter + ":Int64} * 1000, 'Asia/Shanghai')"
}
