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

// UpstreamUsage is what was sent to one of them: a call that was sent to two counts for both, as a failure for the first.
type UpstreamUsage struct {
	UpstreamID string
	Calls      int64
	Failures   int64
	FailedOver int64       // failures that another upstream was tried after
	P95Ms      int64       // of the time the calls were at it; 0 without calls
	Before     HourFigures // of the hour before
}

// attemptsArray are the attempts of a call at named upstreams: to which, whether it succeeded there, how long it was there
// and whether another one was tried after. Of calls of versions that kept no failed attempt it is the last one alone.
const attemptsArray = `
ARRAY JOIN arrayFilter(attempt -> attempt.1 != '', [
    (toString(upstream_id), success, toInt64(duration_ms) - failed_ms, false),
    (toString(failed_upstream_id), false, toInt64(failed_ms), true)]) AS attempt`

const upstreamsQuery = `
SELECT attempt.1 AS upstream, start_time >= fromUnixTimestamp64Milli({since:Int64}, 'Asia/Shanghai') AS lately,
    toInt64(count()), toInt64(countIf(NOT attempt.2)), toInt64(countIf(attempt.4)), quantileExact(0.9499999)(attempt.3)
FROM calls` + attemptsArray + `
WHERE start_time >= fromUnixTimestamp64Milli({from:Int64}, 'Asia/Shanghai')`

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
