package stats

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// upstreamSpan is what UpstreamFigures cover.
const upstreamSpan = time.Hour

// UpstreamFigures are what went to the named upstreams lately.
type UpstreamFigures struct {
	Since time.Time
	Items []UpstreamUsage // the most calls first
}

// UpstreamUsage is what went to one of them last.
type UpstreamUsage struct {
	UpstreamID string
	Calls      int64
	Failures   int64
	FailedOver int64 // calls that another upstream was tried for before
	P95Ms      uint32
}

const upstreamsQuery = `
SELECT toString(upstream_id) AS upstream, toInt64(count()), toInt64(countIf(NOT success)), toInt64(countIf(attempts > 1)),
    toUInt32(quantile(0.95)(duration_ms))
FROM calls
WHERE start_time >= fromUnixTimestamp64Milli({from:Int64}) AND upstream_id != ''
GROUP BY upstream
ORDER BY count() DESC, upstream`

// Upstreams gives the figures of the last hour, of all applications. They are read from the calls themselves: it is
// the only question that is asked by upstream. Faults: Unavailable.
func (r *Reader) Upstreams(ctx context.Context) (UpstreamFigures, error) {
	figures := UpstreamFigures{Since: r.now().Add(-upstreamSpan).Truncate(time.Millisecond), Items: []UpstreamUsage{}}
	err := r.each(ctx, "upstreams", upstreamsQuery, args("from", figures.Since.UnixMilli()), func(rows driver.Rows) error {
		var u UpstreamUsage
		if err := rows.Scan(&u.UpstreamID, &u.Calls, &u.Failures, &u.FailedOver, &u.P95Ms); err != nil {
			return unavailable(err, "read upstreams")
		}
		figures.Items = append(figures.Items, u)
		return nil
	})
	return figures, err
}
