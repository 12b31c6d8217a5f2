package stats

import (
	"cmp"
	"context"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"callgate/internal/beijing"
)

// UpstreamRange is what was sent to an upstream: a call that was sent to two counts for both, as a failure for the first.
type UpstreamRange struct {
	UpstreamID                  string // empty: to the capability's own address, or nowhere
	Calls, Failures, FailedOver int64  // FailedOver: failures that another upstream was tried after
	P50Ms, P95Ms, P99Ms         *int64 // of whole calls that ended at it; nearest rank, error <= 2 %; nil without any
	FirstByte                   FirstByte
}

// UpstreamRanges are the figures of a capability, or of all, by what its calls went to.
type UpstreamRanges struct {
	From  beijing.Day // the first day that was read; after the last one: none was
	All   UpstreamRange
	Items []UpstreamRange // the most calls first
}

// upstreamRangesQuery is answered from the projection of_upstreams of calls (clickhouse/00019), if it asks in the same words. The
// levels are a hair low, so that the rank is the nearest one.
var upstreamRangesQuery = `
SELECT grouping(c.upstream_id) = 1, toString(c.upstream_id), toInt64(count()) AS total, toInt64(countIf(NOT c.success)),
    quantilesTiming(0.4999999, 0.9499999, 0.9899999)(` + bucketOf("c.duration_ms") + `),
    toInt64(count(c.first_byte_ms)), toInt64(sum(ifNull(c.first_byte_ms, 0))),
    arrayMap(bucket -> if(isFinite(bucket), bucket, 0), quantilesTimingIf(0.4999999, 0.9499999, 0.9899999)(
        ` + bucketOf("assumeNotNull(c.first_byte_ms)") + `, c.first_byte_ms IS NOT NULL))
FROM calls AS c
WHERE toDate(c.start_time) BETWEEN {start:Date} AND {end:Date}`

// failedAttemptsQuery is answered from the projection of_failed_attempts of calls (clickhouse/00022).
const failedAttemptsQuery = `
SELECT toString(c.failed_upstream_id), toInt64(count())
FROM calls AS c
WHERE toDate(c.start_time) BETWEEN {start:Date} AND {end:Date}`

// bucketOf is the bucket of a duration, as clickhouse/00002_rollups.sql has it.
func bucketOf(ms string) string {
	shift := "toUInt8(floor(log2(greatest(" + ms + ", 32))) - 5)"
	return "toUInt16(32 * " + shift + " + bitShiftRight(" + ms + ", " + shift + "))"
}

// While calls of deleted applications wait to be swept, what went to upstreams is read from the calls that stay, of at most
// so many days and, but for one day, calls.
const (
	upstreamSpan  = 7
	upstreamCalls = 1_000_000
)

// UpstreamRanges tells the calls of everyone to a capability, or, model nil, to all, apart by what they went to: of the days whose
// calls are kept, or, where somebody is left out, of as many of the last upstreamSpan as hold a million calls together.
// Faults: Unavailable.
func (r *Reader) UpstreamRanges(ctx context.Context, who Everyone, days beijing.Range, model *string) (ranges UpstreamRanges, err error) {
	days = r.KeptCalls(days)
	if len(who.Except) > 0 {
		days.Start = max(days.Start, days.End-upstreamSpan+1)
		if days, err = r.fewCalls(ctx, days); err != nil {
			return ranges, err
		}
	}
	if ranges.From = days.Start; days.Days() < 1 {
		return ranges, nil
	}
	condition, pairs := who.condition()
	pairs = append(pairs, "start", days.Start, "end", days.End)
	if model != nil {
		condition, pairs = condition+" AND "+ofModel, append(pairs, "model", *model)
	}
	settings := ""
	if len(who.Except) == 0 {
		settings = wholeProjection + `, optimize_functions_to_subcolumns = 0` // else the words are not the same
	}
	query := upstreamRangesQuery + condition + ` GROUP BY c.upstream_id WITH ROLLUP HAVING total > 0` + settings
	err = r.each(fromProjections(ctx), "calls by upstream", query, args(pairs...), func(rows driver.Rows) error {
		var whole bool
		u, err := scanUpstreamRange(rows, &whole)
		if whole {
			ranges.All = u
		} else {
			ranges.Items = append(ranges.Items, u)
		}
		return err
	})
	if err != nil {
		return ranges, err
	}
	query = failedAttemptsQuery + condition + ` GROUP BY c.failed_upstream_id` + settings
	err = r.each(fromProjections(ctx), "failed attempts by upstream", query, args(pairs...), func(rows driver.Rows) error {
		var id string
		var n int64
		if err := rows.Scan(&id, &n); err != nil {
			return unavailable(err, "read failed attempts by upstream")
		}
		ranges.failedAttempts(id, n)
		return nil
	})
	slices.SortFunc(ranges.Items, func(a, b UpstreamRange) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.UpstreamID, b.UpstreamID))
	})
	return ranges, err
}

// failedAttempts adds attempts at an upstream that another one was tried after.
func (ranges *UpstreamRanges) failedAttempts(upstream string, n int64) {
	if upstream == "" {
		return
	}
	ranges.All.FailedOver += n
	at := slices.IndexFunc(ranges.Items, func(u UpstreamRange) bool { return u.UpstreamID == upstream })
	if at < 0 {
		at = len(ranges.Items)
		ranges.Items = append(ranges.Items, UpstreamRange{UpstreamID: upstream})
	}
	u := &ranges.Items[at]
	u.Calls, u.Failures, u.FailedOver = u.Calls+n, u.Failures+n, n
}

const callsPerDay = `
SELECT toInt32(u.day), sum(u.calls) FROM usage_daily AS u WHERE u.day BETWEEN {start:Date} AND {end:Date} GROUP BY u.day` + wholeProjection

// fewCalls leaves out the first days, those before the last million calls to all capabilities.
func (r *Reader) fewCalls(ctx context.Context, days beijing.Range) (beijing.Range, error) {
	if days.Days() < 2 {
		return days, nil
	}
	calls := map[beijing.Day]int64{}
	err := r.each(fromProjections(ctx), "calls of everyone by day", callsPerDay, args("start", days.Start, "end", days.End), func(rows driver.Rows) error {
		var day int32
		var n int64
		if err := rows.Scan(&day, &n); err != nil {
			return unavailable(err, "read calls of everyone by day")
		}
		calls[beijing.Day(day)] = n
		return nil
	})
	start, sum := days.End, calls[days.End]
	for start > days.Start && sum+calls[start-1] <= r.upstreamCalls {
		start--
		sum += calls[start]
	}
	days.Start = start
	return days, err
}

func scanUpstreamRange(rows driver.Rows, whole *bool) (u UpstreamRange, err error) {
	var took, waited []float32 // buckets
	var sum int64
	err = rows.Scan(whole, &u.UpstreamID, &u.Calls, &u.Failures, &took, &u.FirstByte.Calls, &sum, &waited)
	if err != nil {
		return u, unavailable(err, "read calls by upstream")
	}
	for i, p := range []**int64{&u.P50Ms, &u.P95Ms, &u.P99Ms} {
		ms := bucketMiddle(uint16(took[i]))
		*p = &ms
	}
	ms := make([]uint32, 0, len(waited))
	for _, bucket := range waited {
		ms = append(ms, uint32(bucketMiddle(uint16(bucket)))) //nolint:gosec // it is of 32 bits
	}
	u.FirstByte.fill(sum, ms)
	return u, nil
}
