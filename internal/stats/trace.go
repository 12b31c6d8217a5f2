package stats

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// ofTrace is the query's trace filter. No rollup knows traces: a skip index finds their few calls.
const ofTrace = `trace_id = {trace:String}`

// fromRows tells whether the calls of a query are looked for in the rows alone: by trace, by the message of failures, or by what
// their callers say of them.
func (q CallsQuery) fromRows() bool {
	return q.TraceID != "" || q.Outcome.ByMessage() || q.Dimensions.narrows()
}

// rowsPage is page for calls that fromRows tells of: counted and read from the rows themselves.
func (r *Reader) rowsPage(ctx context.Context, q CallsQuery, page *CallsPage) (err error) {
	page.Page, page.Items = q.Page, []OwnedCall{}
	if q.Until == nil {
		now := r.now()
		q.Until = &now
	}
	page.Until = *q.Until
	buckets := dayBuckets(r.kept(q))
	if len(buckets) == 0 {
		return nil
	}
	newer, err := r.countRows(ctx, q, buckets, page)
	if err != nil {
		return err
	}
	if q.At != nil {
		page.Page = int(max(min(newer, page.Total-1), 0)/q.size()) + 1
	}
	query, parameters := selectCalls(q, buckets, "DESC", "count", q.size(), "offset", int64(page.Page-1)*q.size())
	return r.each(ctx, "calls from rows", query+" LIMIT {count:Int64} OFFSET {offset:Int64}", parameters, func(rows driver.Rows) error {
		c, err := scanOwnedCall(rows)
		page.Items = append(page.Items, c)
		return err
	})
}

// countRows sets the page's total and summary, and counts the matching calls that started after q.At.
func (r *Reader) countRows(ctx context.Context, q CallsQuery, buckets []timeBucket, page *CallsPage) (newer int64, err error) {
	condition, bounds := within(buckets)
	matches := map[Result]string{AnyResult: "true", OnlySuccesses: "success", OnlyFailures: "NOT success"}[q.Result]
	at := int64(0)
	if q.At != nil {
		at = q.At.UnixMilli()
	}
	query := `
SELECT toInt64(count()), toInt64(countIf(success)), toInt64(countIf(` + matches + `)), toInt64(countIf(` + matches + ` AND start_time > fromUnixTimestamp64Milli({at:Int64}, 'Asia/Shanghai')))
FROM calls
WHERE ` + q.ofApplications() + ` AND (` + condition + `)` + q.listed()
	parameters := q.parameters(append(append(bounds, "at", at), textDays(buckets)...)...)
	s := &page.Summary
	err = r.each(ctx, "count calls from rows", query, parameters, func(rows driver.Rows) error {
		if err := rows.Scan(&s.Calls, &s.Successes, &page.Total, &newer); err != nil {
			return unavailable(err, "count calls from rows")
		}
		s.Failures = s.Calls - s.Successes
		return nil
	})
	return newer, err
}

// textDays are the parameters between which call_failures is searched.
func textDays(days []timeBucket) []any {
	newest, oldest := days[0], days[0]
	for _, d := range days {
		if d.start > newest.start {
			newest = d
		}
		if d.start < oldest.start {
			oldest = d
		}
	}
	return []any{"textFrom", oldest.start, "textTo", newest.end()}
}

// Trace gives the calls of a trace that some applications made in a range, newest first, at most most of them. Faults:
// Unavailable.
func (r *Reader) Trace(ctx context.Context, applications []uuid.UUID, days beijing.Range, trace string, most int) ([]OwnedCall, error) {
	found := []OwnedCall{}
	buckets := dayBuckets(r.KeptCalls(days))
	if len(buckets) == 0 || len(applications) == 0 {
		return found, nil
	}
	condition, bounds := within(buckets)
	query := `
SELECT` + callColumns + `, application_id
FROM calls
WHERE application_id IN {applications:Array(UUID)} AND (` + condition + `) AND ` + ofTrace + `
ORDER BY start_time DESC, call_id DESC
LIMIT {most:Int64}`
	for some := range slices.Chunk(applications, ofOne) {
		parameters := args(append(slices.Clone(bounds), "applications", some, "trace", trace, "most", int64(most))...)
		err := r.each(ctx, "calls of a trace", query, parameters, func(rows driver.Rows) error {
			c, err := scanOwnedCall(rows)
			found = append(found, c)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, func(a, b OwnedCall) int {
		return cmp.Or(cmp.Compare(b.StartTime, a.StartTime), bytes.Compare(b.CallID[:], a.CallID[:]))
	})
	return found[:min(most, len(found))], nil
}
