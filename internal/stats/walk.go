package stats

import (
	"context"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
)

// Walk hands every call of a query to yield, newest first and in the order of Calls, whatever the
// page, and stops at yield's first error. It reads day by day and holds a block of rows at a time, on a
// connection that no other question uses: however slow yield is, they do not wait for it.
// Faults: Unavailable, also after some calls were handed over.
func (r *Reader) Walk(ctx context.Context, q CallsQuery, yield func(OwnedCall) error) error {
	if len(q.Applications) == 0 {
		return nil
	}
	q = r.within(q)
	if q.fromRows() {
		buckets := dayBuckets(r.kept(q))
		slices.Reverse(buckets)
		return r.walkParts(ctx, q, buckets, yield)
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
		if err := r.walkParts(ctx, q, []timeBucket{s}, yield); err != nil {
			return err
		}
	}
	return nil
}

// walkParts walks through days, newest first: at once where the rows stand in their order, else, as they are put in order in memory,
// one after the other, and long ones by hour.
func (r *Reader) walkParts(ctx context.Context, q CallsQuery, days []timeBucket, yield func(OwnedCall) error) error {
	if len(days) == 0 {
		return nil
	}
	if len(q.Applications) == 1 {
		return r.walk(ctx, q, days, yield)
	}
	for _, d := range days {
		parts := []timeBucket{d}
		if d.rows > r.limits.day {
			parts = d.hours()
		}
		for _, part := range parts {
			if err := r.walk(ctx, q, []timeBucket{part}, yield); err != nil {
				return err
			}
		}
	}
	return nil
}

// hours are those of a day, newest first.
func (s timeBucket) hours() (hours []timeBucket) {
	for end := s.end(); end > s.start; end -= int64(hour) {
		hours = append(hours, timeBucket{start: end - int64(hour), unit: hour})
	}
	return hours
}

func (r *Reader) walk(ctx context.Context, q CallsQuery, buckets []timeBucket, yield func(OwnedCall) error) error {
	query, parameters := selectCalls(q, buckets, "DESC")
	return r.stream(ctx, r.slow, "export calls", query, parameters, func(rows driver.Rows) error {
		c, err := scanOwnedCall(rows)
		if err != nil {
			return err
		}
		return yield(c)
	})
}
