package stats

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// UpstreamFigures are what went to the named upstreams in the last hour.
type UpstreamFigures struct {
	Since time.Time
	Items []UpstreamUsage // the most calls first
}

// UpstreamUsage is what went to one of them last.
type UpstreamUsage struct {
	UpstreamID string
	Calls      int64
	Failures   int64
	FailedOver int64       // calls that another upstream was tried for before
	P95Ms      int64       // 0 without calls
	Before     HourFigures // of the hour before
}

const upstreamsQuery = `
SELECT toString(upstream_id) AS upstream, start_time >= fromUnixTimestamp64Milli({since:Int64}, 'Asia/Shanghai') AS lately,
    toInt64(count()), toInt64(countIf(NOT success)), toInt64(countIf(attempts > 1)), toInt64(quantileExact(0.9499999)(duration_ms))
FROM calls
WHERE start_time >= fromUnixTimestamp64Milli({from:Int64}, 'Asia/Shanghai') AND upstream_id != ''`

// Upstreams gives everyone's figures of the last hour. They are read from the calls themselves: no rollup tells upstreams
// apart. Faults: Unavailable.
func (r *Reader) Upstreams(ctx context.Context, who Everyone) (UpstreamFigures, error) {
	figures := UpstreamFigures{Since: r.now().Add(-HourSpan).Truncate(time.Millisecond)}
	condition, pairs := who.condition()
	pairs = append(pairs, "since", figures.Since.UnixMilli(), "from", figures.Since.Add(-HourSpan).UnixMilli())
	found := map[string]*UpstreamUsage{}
	err := r.each(ctx, "upstreams", upstreamsQuery+condition+" GROUP BY upstream, lately", args(pairs...), func(rows driver.Rows) error {
		var u UpstreamUsage
		var lately bool
		if err := rows.Scan(&u.UpstreamID, &lately, &u.Calls, &u.Failures, &u.FailedOver, &u.P95Ms); err != nil {
			return unavailable(err, "read upstreams")
		}
		of := found[u.UpstreamID]
		if of == nil {
			of = &UpstreamUsage{UpstreamID: u.UpstreamID}
			found[u.UpstreamID] = of
		}
		if lately {
			of.Calls, of.Failures, of.FailedOver, of.P95Ms = u.Calls, u.Failures, u.FailedOver, u.P95Ms
		} else {
			of.Before = HourFigures{u.Calls, u.Failures, &u.P95Ms}
		}
		return nil
	})
	for _, u := range found {
		figures.Items = append(figures.Items, *u)
	}
	slices.SortFunc(figures.Items, func(a, b UpstreamUsage) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.UpstreamID, b.UpstreamID))
	})
	return figures, err
}
