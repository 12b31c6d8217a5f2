package stats

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
)

// HourMetrics is one Beijing hour.
type HourMetrics struct {
	Hour      string // its start, RFC 3339 with milliseconds
	FirstByte FirstByte
	Metrics
}

// FirstByte is how long calls waited for the first byte of their answer, in milliseconds.
type FirstByte struct {
	Calls               int64    // that got one
	AvgMs               *float64 // 1 decimal; nil without such calls, as the others
	P50Ms, P95Ms, P99Ms *int64   // nearest rank: exact of hours, of upstreams with an error <= 2 %
}

var hourlyQuery = `
SELECT toInt64(toUnixTimestamp(u.hour)),` + figures + `
FROM usage_hourly AS u
WHERE u.application_id IN {applications:Array(UUID)} AND u.hour >= toDateTime({from:Int64}, 'Asia/Shanghai') AND u.hour < toDateTime({to:Int64}, 'Asia/Shanghai')`

// firstByteQuery asks the calls themselves, for no rollup has their first bytes. The levels are a hair low, so that the rank
// is the nearest one.
var firstByteQuery = `
SELECT ` + hourOfRow + ` AS start, toInt64(count()), toInt64(sum(assumeNotNull(first_byte_ms))),
    quantilesExact(0.4999999, 0.9499999, 0.9899999)(assumeNotNull(first_byte_ms))
FROM calls
WHERE application_id IN {applications:Array(UUID)} AND ` + since("from") + ` AND ` + before("to") + ` AND first_byte_ms IS NOT NULL`

// Hourly gives the figures of one application, or of several together, on a day: its 24 hours, ascending, zero-filled. model
// nil is all. Where the calls are not kept any more there are no first bytes. Faults: Unavailable.
func (r *Reader) Hourly(ctx context.Context, applications []uuid.UUID, day beijing.Day, model *string) ([]HourMetrics, error) {
	hours := make([]HourMetrics, 0, 24)
	for at := day.Start(); at.Before(day.End()); at = at.Add(time.Hour) {
		hours = append(hours, HourMetrics{Hour: beijing.Format(at)})
	}
	days := beijing.Range{Start: day, End: day}
	if len(applications) == 0 || r.KeptStatistics(days).Days() < 1 {
		return hours, nil
	}
	from := day.Start().Unix()
	pairs, ofThis := []any{"applications", applications, "from", from, "to", day.End().Unix()}, ""
	if model != nil {
		pairs, ofThis = append(pairs, "model", *model), " AND "+ofModel
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		query := hourlyQuery + ofThis + " GROUP BY u.hour HAVING total != 0"
		return r.each(groupCtx, "hours", query, args(pairs...), func(rows driver.Rows) error {
			var start int64
			m, err := scanMetrics(rows, &start)
			if err == nil {
				hours[(start-from)/int64(hour)].Metrics = m
			}
			return err
		})
	})
	if r.KeptCalls(days).Days() == 1 {
		group.Go(func() error {
			return r.each(groupCtx, "first bytes", firstByteQuery+ofThis+" GROUP BY start", args(pairs...), func(rows driver.Rows) error {
				start, f, err := scanFirstByte(rows)
				if err == nil {
					hours[(start-from)/int64(hour)].FirstByte = f
				}
				return err
			})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return hours, nil
}

func scanFirstByte(rows driver.Rows) (start int64, f FirstByte, err error) {
	var sum int64
	var found []uint32
	if err := rows.Scan(&start, &f.Calls, &sum, &found); err != nil {
		return 0, f, unavailable(err, "read first bytes")
	}
	f.fill(sum, found)
	return start, f, nil
}

// fill sets what calls with a first byte waited together, and the percentiles.
func (f *FirstByte) fill(sum int64, found []uint32) {
	if f.Calls == 0 {
		return
	}
	average := float64((sum*20+f.Calls)/(2*f.Calls)) / 10
	f.AvgMs = &average
	for i, p := range []**int64{&f.P50Ms, &f.P95Ms, &f.P99Ms} {
		ms := int64(found[i])
		*p = &ms
	}
}
