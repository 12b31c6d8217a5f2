package stats

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
)

// HourSpan is how long the last hour and the one before it are.
const HourSpan = time.Hour

// HourFigures are those of the calls that started within sixty minutes.
type HourFigures struct {
	Calls, Failures int64
	P95Ms           *int64 // exact, nearest rank; nil without calls
}

// TwoHours are the last sixty minutes and the sixty before them.
type TwoHours struct{ Last, Before HourFigures }

// FailingNow are failures of one reason in the last two hours.
type FailingNow struct {
	Reason
	Failures, Before int64       // in the last hour, in the one before
	FirstMs, LastMs  int64       // Unix milliseconds in which the first and the last of them started
	Applications     []uuid.UUID // that it hit in the last hour
	Hits             []int64     // how many failures of that hour are of each of these
}

// Now is what the calls of the last two hours say. No rollup knows of hours that are none of the clock's.
type Now struct {
	Until   time.Time
	All     TwoHours
	Models  map[string]TwoHours
	Failing []FailingNow // in the last hour
}

var nowQuery = `
SELECT grouping(c.model) = 0, toString(c.model), c.start_time > fromUnixTimestamp64Milli({middle:Int64}) AS lately, toInt64(count()), toInt64(countIf(NOT c.success)),
    toInt64(quantileExact(0.9499999)(c.duration_ms))
FROM calls AS c
WHERE ` + ofTwoHours

const ofTwoHours = `start_time > fromUnixTimestamp64Milli({from:Int64}) AND start_time <= fromUnixTimestamp64Milli({until:Int64})`

const failingNowQuery = `
SELECT toString(reason_type), toString(reason_code), upstream_status, toString(model), sum(failed) AS failures, sum(failed_before),
    min(first_ms), max(last_ms), groupArrayIf(application_id, failed > 0), groupArrayIf(failed, failed > 0)
FROM (
    SELECT reason_type, reason_code, upstream_status, model, application_id,
        toInt64(countIf(start_time > fromUnixTimestamp64Milli({middle:Int64}))) AS failed, toInt64(count()) - failed AS failed_before,
        toUnixTimestamp64Milli(min(start_time)) AS first_ms, toUnixTimestamp64Milli(max(start_time)) AS last_ms
    FROM calls WHERE ` + ofTwoHours + ` AND NOT success`

const failingNowGroups = `
    GROUP BY reason_type, reason_code, upstream_status, model, application_id
)
GROUP BY reason_type, reason_code, upstream_status, model
HAVING failures > 0`

// Now tells what everyone's calls of the last two hours say, of one capability or, model nil, of all. It reads the rows of
// these hours. Faults: Unavailable.
func (r *Reader) Now(ctx context.Context, who Everyone, model *string) (Now, error) {
	now := Now{Until: r.now().Truncate(time.Millisecond), Models: map[string]TwoHours{}}
	condition, pairs := who.condition()
	pairs = append(pairs, "from", now.Until.Add(-2*HourSpan).UnixMilli(), "middle", now.Until.Add(-HourSpan).UnixMilli(), "until", now.Until.UnixMilli())
	if model != nil {
		condition, pairs = condition+" AND "+ofModel, append(pairs, "model", *model)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		query := nowQuery + condition + " GROUP BY GROUPING SETS ((c.model, lately), (lately))"
		return r.each(groupCtx, "calls of the last hours", query, args(pairs...), now.take)
	})
	group.Go(func() (err error) {
		now.Failing, err = r.failingNow(groupCtx, failingNowQuery+condition+failingNowGroups, args(pairs...))
		return err
	})
	return now, group.Wait()
}

// take reads a row of nowQuery.
func (n *Now) take(rows driver.Rows) error {
	var ofModel, lately bool
	var model string
	var f HourFigures
	var p95 int64
	if err := rows.Scan(&ofModel, &model, &lately, &f.Calls, &f.Failures, &p95); err != nil {
		return unavailable(err, "read calls of the last hours")
	}
	f.P95Ms = &p95
	of := n.All
	if ofModel {
		of = n.Models[model]
	}
	if lately {
		of.Last = f
	} else {
		of.Before = f
	}
	if ofModel {
		n.Models[model] = of
	} else {
		n.All = of
	}
	return nil
}

func (r *Reader) failingNow(ctx context.Context, query string, parameters []any) (failing []FailingNow, err error) {
	err = r.each(ctx, "failures of the last hours", query, parameters, func(rows driver.Rows) error {
		var f FailingNow
		if err := rows.Scan(&f.Type, &f.Code, &f.UpstreamStatus, &f.Model, &f.Failures, &f.Before, &f.FirstMs, &f.LastMs, &f.Applications, &f.Hits); err != nil {
			return unavailable(err, "read failures of the last hours")
		}
		failing = append(failing, f)
		return nil
	})
	return failing, err
}

// UpstreamSpan are the days of which the calls are read to tell upstreams apart: what a call went to is in no rollup.
const UpstreamSpan = 7

// UpstreamRange is what went to an upstream.
type UpstreamRange struct {
	UpstreamID                  string // empty: to the capability's own address, or nowhere
	Calls, Failures, FailedOver int64
	P50Ms, P95Ms, P99Ms         *int64 // exact
	FirstByte                   FirstByte
}

// UpstreamRanges are the figures of a capability, or of all, by what its calls went to.
type UpstreamRanges struct {
	From  beijing.Day // the first day that was read; after the last one: none was
	All   UpstreamRange
	Items []UpstreamRange // the most calls first
}

// The levels are a hair low, so that the rank is the nearest one.
const upstreamRangesQuery = `
SELECT grouping(c.upstream_id) = 0, toString(c.upstream_id), toInt64(count()) AS total, toInt64(countIf(NOT c.success)), toInt64(countIf(c.attempts > 1)),
    quantilesExact(0.4999999, 0.9499999, 0.9899999)(c.duration_ms),
    toInt64(count(c.first_byte_ms)) AS answered, toInt64(sum(ifNull(c.first_byte_ms, 0))),
    quantilesExactIf(0.4999999, 0.9499999, 0.9899999)(assumeNotNull(c.first_byte_ms), c.first_byte_ms IS NOT NULL)
FROM calls AS c
WHERE toYYYYMMDD(c.start_time) IN {days:Array(UInt32)}`

// UpstreamRanges reads the calls of everyone to a capability, or, model nil, to all, of the last UpstreamSpan of the days.
// Faults: Unavailable.
func (r *Reader) UpstreamRanges(ctx context.Context, who Everyone, days beijing.Range, model *string) (ranges UpstreamRanges, err error) {
	days.Start = max(days.Start, days.End-UpstreamSpan+1)
	days = r.keptCalls(days)
	if ranges.From = days.Start; days.Days() < 1 {
		return ranges, nil
	}
	var read []beijing.Day
	for day := range days.Each() {
		read = append(read, day)
	}
	condition, pairs := who.condition()
	pairs = append(pairs, "days", numbersOf(read))
	if model != nil {
		condition, pairs = condition+" AND "+ofModel, append(pairs, "model", *model)
	}
	query := upstreamRangesQuery + condition + " GROUP BY GROUPING SETS ((c.upstream_id), ()) HAVING total > 0 ORDER BY total DESC, c.upstream_id"
	err = r.each(ctx, "calls by upstream", query, args(pairs...), func(rows driver.Rows) error {
		var ofUpstream bool
		u, err := scanUpstreamRange(rows, &ofUpstream)
		if ofUpstream {
			ranges.Items = append(ranges.Items, u)
		} else {
			ranges.All = u
		}
		return err
	})
	return ranges, err
}

func scanUpstreamRange(rows driver.Rows, ofUpstream *bool) (u UpstreamRange, err error) {
	var took, waited []uint32
	var sum int64
	err = rows.Scan(ofUpstream, &u.UpstreamID, &u.Calls, &u.Failures, &u.FailedOver, &took, &u.FirstByte.Calls, &sum, &waited)
	if err != nil {
		return u, unavailable(err, "read calls by upstream")
	}
	for i, p := range []**int64{&u.P50Ms, &u.P95Ms, &u.P99Ms} {
		ms := int64(took[i])
		*p = &ms
	}
	u.FirstByte.fill(sum, waited)
	return u, nil
}
