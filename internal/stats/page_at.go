package stats

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// pageAt is the page that holds the newest call which started at or before q.At, or the last one.
func (r *Reader) pageAt(ctx context.Context, q CallsQuery, t series) (int, error) {
	total := t.matches(q.Result)
	newer, err := r.newerThanAt(ctx, q, t)
	if err != nil || total == 0 {
		return 1, err
	}
	return int(min(newer, total-1)/PageSize) + 1, nil
}

// newerThanAt counts the calls of a query that started after q.At.
func (r *Reader) newerThanAt(ctx context.Context, q CallsQuery, t series) (newer int64, err error) {
	at := q.At.UnixMilli()
	for _, s := range t {
		switch {
		case s.matches(q.Result) == 0: // other calls
		case s.start*1000 > at:
			newer += s.matches(q.Result)
		case s.end()*1000 <= at:
			return newer, nil
		case s.unit == day:
			hours, err := r.split(ctx, q, s)
			if err != nil {
				return 0, err
			}
			inside, err := r.newerThanAt(ctx, q, hours)
			return newer + inside, err
		default:
			inside, err := r.rowsAfter(ctx, q, at, s.end())
			return newer + inside, err
		}
	}
	return newer, nil
}

// rowsAfter counts the matching calls that started after a millisecond and before a second.
func (r *Reader) rowsAfter(ctx context.Context, q CallsQuery, afterMs, to int64) (n int64, err error) {
	query := `
SELECT toInt64(count()) FROM calls
WHERE application_id = {application:UUID} AND start_time > fromUnixTimestamp64Milli({after:Int64}, 'Asia/Shanghai') AND ` + before("to") + q.filters()
	err = r.each(ctx, "calls after an instant", query, q.parameters("after", afterMs, "to", to), func(rows driver.Rows) error {
		if err := rows.Scan(&n); err != nil {
			return unavailable(err, "count calls after an instant")
		}
		return nil
	})
	return n, err
}
