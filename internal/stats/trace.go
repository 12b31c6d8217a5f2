package stats

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"callgate/internal/beijing"
)

// ofTrace is the query's trace filter. No rollup knows traces: a skip index finds their few calls.
const ofTrace = `trace_id = {trace:String}`

// daysOfTrace are the days that a trace's calls are looked for in; none when the range is empty.
func daysOfTrace(days beijing.Range) (buckets []timeBucket) {
	if days.Days() < 1 {
		return nil
	}
	for d := range days.Each() {
		buckets = append(buckets, timeBucket{start: d.Start().Unix(), unit: day})
	}
	return buckets
}

// tracedPage is page for the calls of one trace: counted and read from the rows themselves.
func (r *Reader) tracedPage(ctx context.Context, q CallsQuery, page *CallsPage) error {
	if q.Until == nil {
		now := r.now()
		q.Until = &now
	}
	page.Until, page.Page, page.Items = *q.Until, q.Page, []Call{}
	buckets := daysOfTrace(r.keptCalls(q.Range))
	if len(buckets) == 0 {
		return nil
	}
	newer, err := r.countTraced(ctx, q, buckets, page)
	if err != nil {
		return err
	}
	if q.At != nil {
		page.Page = int(max(min(newer, page.Total-1), 0)/PageSize) + 1
	}
	query, parameters := selectCalls(q, buckets, "DESC", "count", int64(PageSize), "offset", int64(page.Page-1)*PageSize)
	return r.each(ctx, "calls of a trace", query+" LIMIT {count:Int64} OFFSET {offset:Int64}", parameters, func(rows driver.Rows) error {
		c, err := scanCall(rows)
		page.Items = append(page.Items, c)
		return err
	})
}

// countTraced sets the page's summary and total and counts the matching calls that started after q.At.
func (r *Reader) countTraced(ctx context.Context, q CallsQuery, buckets []timeBucket, page *CallsPage) (newer int64, err error) {
	condition, bounds := within(buckets)
	matches := map[Result]string{AnyResult: "true", OnlySuccesses: "success", OnlyFailures: "NOT success"}[q.Result]
	at := int64(0)
	if q.At != nil {
		at = q.At.UnixMilli()
	}
	query := `
SELECT toInt64(count()), toInt64(countIf(success)), toInt64(countIf(` + matches + ` AND start_time > fromUnixTimestamp64Milli({at:Int64})))
FROM calls
WHERE application_id = {application:UUID} AND (` + condition + `)` + q.listed()
	err = r.each(ctx, "count calls of a trace", query, q.parameters(append(bounds, "at", at)...), func(rows driver.Rows) error {
		s := &page.Summary
		if err := rows.Scan(&s.Calls, &s.Successes, &newer); err != nil {
			return unavailable(err, "count calls of a trace")
		}
		s.Failures = s.Calls - s.Successes
		return nil
	})
	page.Total = map[Result]int64{AnyResult: page.Summary.Calls, OnlySuccesses: page.Summary.Successes, OnlyFailures: page.Summary.Failures}[q.Result]
	return newer, err
}
