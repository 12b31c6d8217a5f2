package stats

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
)

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
}

// counts are where to scan what rolledUp and counted select.
func (s *timeBucket) counts() []any { return []any{&s.rows, &s.calls, &s.successes} }

func (s timeBucket) day() beijing.Day { return beijing.DayOf(time.Unix(s.start, 0)) }

func (s timeBucket) end() int64 { return s.start + int64(s.unit) }

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

func (t series) summary() (sum CallsSummary) {
	for _, s := range t {
		sum.Calls += s.calls
		sum.Successes += s.successes
	}
	sum.Failures = sum.Calls - sum.Successes
	return sum
}

func (t series) matches(result Result) (n int64) {
	for _, s := range t {
		n += s.matches(result)
	}
	return n
}

func (t series) sort() {
	slices.SortFunc(t, func(a, b timeBucket) int { return cmp.Compare(b.start, a.start) })
}

func (t series) used() series {
	return slices.DeleteFunc(t, func(s timeBucket) bool { return s.calls <= 0 })
}

// dayBuckets are the days of a range, oldest first; none when it is empty.
func dayBuckets(days beijing.Range) (buckets []timeBucket) {
	if days.Days() < 1 {
		return nil
	}
	for d := range days.Each() {
		buckets = append(buckets, timeBucket{start: d.Start().Unix(), unit: day})
	}
	return buckets
}

// A call flow is paged as of one instant, until: of the days that calls still arrive in, those count that were recorded by
// then, so that later ones move no row. These days are counted from rows, by hour, as are days that From or To cut; older
// ones by day, from the rollups.
const (
	// arrivalWindow is how long before until days begin that are counted from rows. A call that is recorded later (a
	// gateway was cut off for days) is in every list as soon as it is there.
	arrivalWindow = 24 * time.Hour

	// unsettled is how long after a call was recorded it may not yet be seen. An INSERT takes no longer.
	unsettled = 10 * time.Second

	// oldestUntil and skew bound what until may be; outside, the list begins anew. They bound what is counted from rows.
	oldestUntil = 24 * time.Hour
	skew        = time.Minute
)

// inTime is the condition that a call is in the list as of until.
const inTime = `(recorded_at <= fromUnixTimestamp64Milli({until:Int64}, 'Asia/Shanghai') OR start_time < fromUnixTimestamp64Milli({arrivals:Int64}, 'Asia/Shanghai'))`

// arrivals is the first of the days that calls still arrive in, as of an instant.
func arrivals(asOf time.Time) beijing.Day { return beijing.DayOf(asOf.Add(-arrivalWindow)) }

// allInTime tells whether every call of the buckets is in the list, by its start alone.
func (q CallsQuery) allInTime(buckets []timeBucket) bool {
	return q.Until != nil && !slices.ContainsFunc(buckets, func(s timeBucket) bool { return s.day() >= arrivals(*q.Until) })
}

func (r *Reader) inBounds(until time.Time) bool {
	now := r.now()
	return until.After(now.Add(-oldestUntil)) && until.Before(now.Add(skew))
}

// cuts tells whether an instant is inside a bucket and not at its start.
func (s timeBucket) cuts(at *time.Time) bool {
	return at != nil && at.UnixMilli() > s.start*1000 && at.UnixMilli() < s.end()*1000
}

// count counts the calls of a query that were recorded by its until, by day or hour. Without until the list begins, and
// count sets it: to when the last call that was seen was recorded, or a moment ago, for what is being inserted now is later.
func (r *Reader) count(ctx context.Context, q *CallsQuery) (series, error) {
	asOf := r.now()
	if q.Until != nil {
		asOf = *q.Until
	}
	first := arrivals(asOf)
	arriving := slices.DeleteFunc(dayBuckets(r.KeptCalls(q.Range)), func(s timeBucket) bool {
		return s.day() < first && !s.cuts(q.From) && !s.cuts(q.To)
	})
	var days, hours series
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		rolledUp := *q
		rolledUp.Range.End = min(q.Range.End, first-1)
		days, err = r.countDays(groupCtx, rolledUp)
		return err
	})
	if len(arriving) > 0 {
		group.Go(func() (err error) {
			hours, asOf, err = r.countArrived(groupCtx, *q, arriving)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if q.Until == nil {
		q.Until = &asOf
	}
	days = slices.DeleteFunc(days, func(s timeBucket) bool { return s.cuts(q.From) || s.cuts(q.To) })
	t := slices.Concat(days, hours).used()
	t.sort()
	return t, nil
}

// countArrived counts some days by hour from rows, and tells as of when: what was recorded by then can be seen.
func (r *Reader) countArrived(ctx context.Context, q CallsQuery, days []timeBucket) (t series, asOf time.Time, err error) {
	condition, bounds := within(days)
	query := `
SELECT ` + hourOfRow + ` AS start,` + q.counted() + `,
    toUnixTimestamp64Milli(greatest(max(recorded_at), now64(3, 'Asia/Shanghai') - toIntervalMillisecond({unsettled:Int64})))
FROM calls
WHERE ` + q.ofApplications() + ` AND (` + condition + `)
GROUP BY start WITH TOTALS`
	var through int64
	scan := func(to func(...any) error) (s timeBucket, err error) {
		s.unit = hour
		if err := to(slices.Concat([]any{&s.start}, s.counts(), []any{&through})...); err != nil {
			return s, unavailable(err, "count calls that arrived")
		}
		return s, nil
	}
	parameters := q.parameters(append(bounds, "unsettled", unsettled.Milliseconds())...)
	err = r.each(ctx, "count calls that arrived", query, parameters, func(rows driver.Rows) error {
		s, err := scan(rows.Scan)
		t = append(t, s)
		return err
	}, func(rows driver.Rows) error {
		_, err := scan(rows.Totals)
		return err
	})
	return t, time.UnixMilli(through), err
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
	if q.Key != uuid.Nil {
		conditions += " AND " + ofKey
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
	return conditions + q.Outcome.conditions(q.ofApplications()) + q.Dimensions.conditions()
}

// ofModel is the query's model filter.
const ofModel = `model = {model:String}`

// daysOf and hoursOf count the calls of a query by day and by hour from the rollups, everyHourFromRows and secondsOf by hour
// and by second from the rows themselves.
func daysOf(q CallsQuery) string {
	return `
SELECT toInt64(86400) AS unit, toInt64(toUnixTimestamp(toDateTime(u.day, 'Asia/Shanghai'))) AS start,` + q.rolledUp() + `
FROM usage_daily AS u
WHERE u.` + q.ofApplications() + ` AND u.day >= {start:Date} AND u.day <= {end:Date}
GROUP BY u.day`
}

func hoursOf(q CallsQuery) string {
	if q.narrows() { // no rollup tells outcomes or keys by hour
		return everyHourFromRows(q)
	}
	return `
SELECT toInt64(3600) AS unit, toInt64(toUnixTimestamp(u.hour)) AS start,` + q.rolledUp() + `
FROM usage_hourly AS u
WHERE u.` + q.ofApplications() + ` AND u.hour >= toDateTime({from:Int64}, 'Asia/Shanghai') AND u.hour < toDateTime({to:Int64}, 'Asia/Shanghai')
GROUP BY u.hour`
}

// hourOfRow is when the hour of a call's start begins, in Unix seconds.
const hourOfRow = `intDiv(toUnixTimestamp64Milli(start_time), 3600000) * 3600`

func everyHourFromRows(q CallsQuery) string {
	return `
SELECT toInt64(3600) AS unit, ` + hourOfRow + ` AS start,` + q.counted() + `
FROM calls
WHERE ` + q.ofApplications() + ` AND ` + since("from") + ` AND ` + before("to") + `
GROUP BY start`
}

func secondsOf(q CallsQuery) string {
	return `
SELECT toInt64(1) AS unit, intDiv(toUnixTimestamp64Milli(start_time), 1000) AS start,` + q.counted() + `
FROM calls
WHERE ` + q.ofApplications() + ` AND ` + since("from") + ` AND ` + before("to") + `
GROUP BY start`
}

// countDays counts the calls of a query by day, from the rollups, whenever they were recorded; also days that hold other calls
// only.
func (r *Reader) countDays(ctx context.Context, q CallsQuery) (series, error) {
	days := r.KeptCalls(q.Range)
	switch {
	case days.Days() < 1:
		return nil, nil
	case q.Outcome.narrows():
		return r.countOutcomeDays(ctx, q, days)
	case q.Key != uuid.Nil:
		return r.countKeyDays(ctx, q, days)
	default:
		return r.countBuckets(inOneThread(ctx), daysOf(q), q.parameters("start", days.Start, "end", days.End))
	}
}

// countBuckets runs a query of unit, start and the counts of buckets.
func (r *Reader) countBuckets(ctx context.Context, query string, parameters []any) (series, error) {
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

// split counts a day by hour, or an hour by second.
func (r *Reader) split(ctx context.Context, q CallsQuery, s timeBucket) (series, error) {
	query := secondsOf(q)
	if s.unit == day {
		query = hoursOf(q)
	}
	t, err := r.countBuckets(ctx, query, q.parameters("from", s.start, "to", s.end()))
	return t.used(), err
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
