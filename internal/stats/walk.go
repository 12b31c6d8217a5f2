package stats

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
)

// Walk hands every call of a query to yield, newest first and in the order of Calls, whatever the
// page, and stops at yield's first error. It reads day by day and holds a block of rows at a time, on a
// connection that no other question uses: however slow yield is, they do not wait for it.
// Faults: Unavailable, also after some calls were handed over.
func (r *Reader) Walk(ctx context.Context, q CallsQuery, yield func(Call) error) error {
	q = r.within(q)
	if q.fromRows() {
		buckets := dayBuckets(r.kept(q))
		if len(buckets) == 0 {
			return nil
		}
		return r.walk(ctx, q, buckets, yield)
	}
	whole := q // any of its days may hold such calls
	whole.Outcome, whole.Key = Outcome{}, uuid.Nil
	days, err := r.countDays(ctx, whole)
	if err != nil {
		return err
	}
	for _, s := range days.used() {
		if s.matches(q.Result) == 0 {
			continue
		}
		if err := r.walk(ctx, q, []timeBucket{s}, yield); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) walk(ctx context.Context, q CallsQuery, buckets []timeBucket, yield func(Call) error) error {
	query, parameters := selectCalls(q, buckets, "DESC")
	return r.stream(ctx, r.slow, "export calls", query, parameters, func(rows driver.Rows) error {
		c, err := scanCall(rows)
		if err != nil {
			return err
		}
		return yield(c)
	})
}
