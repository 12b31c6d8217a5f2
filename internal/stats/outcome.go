package stats

import (
	"context"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// Outcome narrows calls by what became of them. The zero value is any outcome. Reason, UpstreamStatus, Text and Message select
// failures only.
type Outcome struct {
	Reason         *ReasonKind
	Status         uint16  // HTTP status told to the caller; 0: any
	UpstreamStatus *uint16 // of failures the status the upstream answered, 0 when it did not; nil: any
	Text           string  // part of the failure's message, letters alike; empty: any. Failures whose detail is kept
	Message        string  // what MessageGroup says of the failure's message; empty: any. Failures whose detail is kept
}

// ReasonKind is a type of failure and, unless it is empty, its code. The empty type is of failures without a reason.
type ReasonKind struct{ Type, Code string }

func (o Outcome) narrows() bool {
	return o.OnlyFailures() || o.Status != 0
}

// OnlyFailures tells whether it selects failures only.
func (o Outcome) OnlyFailures() bool {
	return o.Reason != nil || o.UpstreamStatus != nil || o.ByMessage()
}

// ByMessage tells whether the details of failures are looked at.
func (o Outcome) ByMessage() bool { return o.Text != "" || o.Message != "" }

// conditions are those of rows of calls; the details of failures are looked for with the condition of their applications.
func (o Outcome) conditions(ofApplications string) string {
	conditions := o.columns()
	if o.OnlyFailures() {
		conditions += " AND NOT success"
	}
	if o.ByMessage() {
		conditions += " AND (start_time, call_id) GLOBAL IN (SELECT start_time, call_id FROM call_failures WHERE " + ofApplications +
			" AND " + since("textFrom") + " AND " + before("textTo")
		if o.Text != "" {
			conditions += " AND positionCaseInsensitiveUTF8(message, {text:String}) > 0"
		}
		if o.Message != "" {
			conditions += " AND " + messageGroup + " = {message:String}"
		}
		conditions += ")"
	}
	return conditions
}

// columns are the conditions of the columns that calls and failures_daily have in common.
func (o Outcome) columns() (conditions string) {
	if o.Reason != nil {
		conditions = " AND reason_type = {reason:String}"
		if o.Reason.Code != "" {
			conditions += " AND reason_code = {code:String}"
		}
	}
	if o.Status != 0 {
		conditions += " AND status_code = {status:UInt16}"
	}
	if o.UpstreamStatus != nil {
		conditions += " AND upstream_status = {upstream:UInt16}"
	}
	return conditions
}

func (o Outcome) parameters() (pairs []any) {
	if o.Reason != nil {
		pairs = append(pairs, "reason", o.Reason.Type, "code", o.Reason.Code)
	}
	if o.Status != 0 {
		pairs = append(pairs, "status", o.Status)
	}
	if o.UpstreamStatus != nil {
		pairs = append(pairs, "upstream", *o.UpstreamStatus)
	}
	if o.Text != "" {
		pairs = append(pairs, "text", o.Text)
	}
	if o.Message != "" {
		pairs = append(pairs, "message", o.Message)
	}
	return pairs
}

// within cuts the days off that a query's times of day leave out.
func (r *Reader) within(q CallsQuery) CallsQuery {
	if q.From != nil {
		q.Range.Start = max(q.Range.Start, beijing.DayOf(*q.From))
	}
	if q.To != nil {
		q.Range.End = min(q.Range.End, beijing.DayOf(q.To.Add(-time.Millisecond)))
	}
	return q
}

// kept are the days in which calls of a query can be found.
func (r *Reader) kept(q CallsQuery) beijing.Range {
	days := r.KeptCalls(q.Range)
	if q.Outcome.ByMessage() {
		days.Start = max(days.Start, r.days.FailuresFrom(beijing.Today(r.now())))
	}
	return days
}

// narrows tells whether more than capability and time narrow the calls.
func (q CallsQuery) narrows() bool { return q.Outcome.narrows() || q.Key != uuid.Nil }

// with are the limits for a query. What an outcome or a key narrows is counted by hour from rows, which costs what reading them
// does.
func (l scanLimits) with(q CallsQuery) scanLimits {
	if q.narrows() {
		return scanLimits{day: 40 * l.day, hour: 4 * l.hour}
	}
	return l
}

// outcomeDays counts by day, from the rollups: all calls and successes; then, in rows apart, all failures and those of the outcome.
func outcomeDays(q CallsQuery) string {
	listed := "true"
	if q.Model != nil {
		listed = ofModel
	}
	return `
SELECT false AS failures, toInt32(u.day), sum(u.calls), sum(u.successes)
FROM usage_daily AS u
WHERE u.` + q.ofApplications() + ` AND u.day >= {start:Date} AND u.day <= {end:Date}
GROUP BY u.day
UNION ALL
SELECT true, toInt32(f.day), sum(f.calls), sumIf(f.calls, ` + listed + q.Outcome.columns() + `)
FROM failures_daily AS f
WHERE f.` + q.ofApplications() + ` AND f.day >= {start:Date} AND f.day <= {end:Date}
GROUP BY f.day`
}

// outcomeDay is a day of which the rollups count so many failures of an outcome.
type outcomeDay struct {
	timeBucket
	lacking int64 // failures that failures_daily lacks, negative: has too many
}

// take takes a row of outcomeDays.
func (d *outcomeDay) take(failures bool, sums [2]int64) {
	if failures {
		d.lacking -= sums[0]
		d.calls += sums[1]
		return
	}
	d.lacking += sums[0] - sums[1]
	d.rows = sums[0]
}

// countOutcomeDays counts the calls of an outcome by day, from the rollups, and from rows on days of which these do not
// agree: they were not filled yet, or an insert is on its way. The status of a success, and the key of a failure, are in the rows
// alone.
func (r *Reader) countOutcomeDays(ctx context.Context, q CallsQuery, days beijing.Range) (t series, err error) {
	found := map[beijing.Day]*outcomeDay{}
	parameters := q.parameters("start", days.Start, "end", days.End)
	err = r.each(inOneThread(ctx), "count outcomes", outcomeDays(q), parameters, func(rows driver.Rows) error {
		var failures bool
		var of beijing.Day
		var sums [2]int64
		if err := rows.Scan(&failures, (*int32)(&of), &sums[0], &sums[1]); err != nil {
			return unavailable(err, "count outcomes")
		}
		if found[of] == nil {
			found[of] = &outcomeDay{timeBucket: timeBucket{start: of.Start().Unix(), unit: day}}
		}
		found[of].take(failures, sums)
		return nil
	})
	var unsure []uint32
	for of, d := range found {
		if d.lacking != 0 || success(q.Outcome.Status) || q.Key != uuid.Nil {
			unsure = append(unsure, of.Number())
		} else {
			t = append(t, d.timeBucket)
		}
	}
	if err != nil {
		return nil, err
	}
	return r.withRows(ctx, q, t, unsure)
}

// withRows adds some days to a series, counted from rows.
func (r *Reader) withRows(ctx context.Context, q CallsQuery, t series, days []uint32) (series, error) {
	if len(days) == 0 {
		t.sort()
		return t, nil
	}
	counted, err := r.countBuckets(ctx, `
SELECT toInt64(86400) AS unit, intDiv(toUnixTimestamp64Milli(start_time) + 28800000, 86400000) * 86400 - 28800 AS start,`+q.counted()+`
FROM calls
WHERE `+q.ofApplications()+` AND toYYYYMMDD(start_time) IN {days:Array(UInt32)}
GROUP BY start`, q.parameters("days", days))
	t = slices.Concat(t, counted)
	t.sort()
	return t, err
}

// success tells whether a status is one that only successes have.
func success(status uint16) bool { return status/100 == 2 }
