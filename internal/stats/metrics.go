package stats

import (
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Metrics are the figures of some set of calls. The zero value is that
// of no calls.
type Metrics struct {
	Calls         int64
	Successes     int64
	Failures      int64
	SuccessRate   *float64 // 0 to 1, 4 decimals, truncated: 1 means no failure; nil without calls
	AvgDurationMs *float64 // over all calls, 1 decimal; nil without calls
	P50Ms         *int64   // nearest rank, error <= 2 %; nil without calls
	P95Ms         *int64
	P99Ms         *int64
}

// figures are the columns every usage query takes from the rollup rows of a group, in the order of
// scanMetrics; the table's alias must be u.
//
// The percentiles are those of the bucket numbers. quantilesTiming counts numbers below 1,024 in a
// plain array, ten times faster than sumMap merges them. Three things make it exact: weights times
// 1,000 keep it from its other way of counting few values; as unsigned numbers they wrap, so that a
// repair's negative ones still add up; and levels a hair too low undo the rounding of
// ceil(level * count), so that the rank is the nearest one. A group of which repairs took everything
// away has no quantile, and its not-a-number no integer.
const figures = `
    sum(u.calls) AS total, sum(u.successes), sum(u.duration_ms),
    arrayMap(bucket -> toUInt16(if(isFinite(bucket), bucket, 0)), quantilesTimingWeightedArray(0.4999999, 0.9499999, 0.9899999)(
        u.durations.1, arrayMap(n -> toUInt64(n * 1000), u.durations.2)))`

// scanMetrics reads into leading and then the columns of figures.
func scanMetrics(rows driver.Rows, leading ...any) (Metrics, error) {
	var calls, successes, durationMs int64
	var buckets []uint16
	if err := rows.Scan(append(leading, &calls, &successes, &durationMs, &buckets)...); err != nil {
		return Metrics{}, unavailable(err, "read usage")
	}
	return NewMetrics(calls, successes, durationMs, buckets), nil
}

// NewMetrics are the figures of calls of which the 50th, 95th and 99th percentiles of durations lie in buckets; without calls there are
// none. It works in integers, so that no figure depends on how a float was rounded on the way.
func NewMetrics(calls, successes, durationMs int64, buckets []uint16) Metrics {
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
