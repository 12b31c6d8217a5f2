package stats

import (
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Metrics are the figures of some set of calls (api.md, "Metrics block"). The zero value is that
// of no calls.
type Metrics struct {
	Calls         int64    `json:"calls"`
	Successes     int64    `json:"successes"`
	Failures      int64    `json:"failures"`
	SuccessRate   *float64 `json:"successRate"`   // 0 to 1, 4 decimals, truncated: 1 means no failure; nil without calls
	AvgDurationMs *float64 `json:"avgDurationMs"` // over all calls, 1 decimal; nil without calls
	P50Ms         *int64   `json:"p50Ms"`         // nearest rank, error <= 2 %; nil without calls
	P95Ms         *int64   `json:"p95Ms"`
	P99Ms         *int64   `json:"p99Ms"`
}

// figures are the columns every usage query selects of its merged rollup rows, in the order of
// scanMetrics. The percentile p is the bucket of the smallest rank k with k/calls >= p/100.
const figures = `
    calls, successes, duration_ms,
    arrayMap(p -> durations.1[arrayFirstIndex(n -> n * 100 >= p * ranks[-1], arrayCumSum(durations.2) AS ranks)], [50, 95, 99]) AS percentiles`

// merged is the sum over rollup rows that figures is taken from; the table's alias must be u.
const merged = `
    sum(u.calls) AS calls, sum(u.successes) AS successes, sum(u.duration_ms) AS duration_ms, sumMap(u.durations) AS durations`

// scanMetrics reads into leading and then the columns of figures.
func scanMetrics(rows driver.Rows, leading ...any) (Metrics, error) {
	var calls, successes, duration int64
	var buckets []uint16
	if err := rows.Scan(append(leading, &calls, &successes, &duration, &buckets)...); err != nil {
		return Metrics{}, unavailable(err, "read usage")
	}
	return newMetrics(calls, successes, duration, buckets), nil
}

// newMetrics works in integers, so that no figure depends on how a float was rounded on the way.
func newMetrics(calls, successes, durationMs int64, buckets []uint16) Metrics {
	m := Metrics{Calls: calls, Successes: successes, Failures: calls - successes}
	if calls <= 0 {
		return m
	}
	rate := float64(successes*10_000/calls) / 10_000
	average := float64((durationMs*20+calls)/(2*calls)) / 10
	m.SuccessRate, m.AvgDurationMs = &rate, &average
	for i, p := range []**int64{&m.P50Ms, &m.P95Ms, &m.P99Ms} {
		if i < len(buckets) {
			middle := bucketMiddle(buckets[i])
			*p = &middle
		}
	}
	return m
}

// bucketMiddle is the middle of a duration bucket in milliseconds: the inverse of the formula in
// clickhouse/00002_rollups.sql, at most 1/64 off.
func bucketMiddle(bucket uint16) int64 {
	b := int64(bucket)
	if b < 64 {
		return b
	}
	shift := b/32 - 1
	low := (b%32 + 32) << shift
	return low + 1<<shift/2
}
