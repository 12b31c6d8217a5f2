package stats

import (
	"context"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
)

// A call flow is paged as of one instant, until: a call counts when it was recorded by then, whenever
// it started, so that calls which arrive later, long ones with an old start among them, move no row.
// Rollups do not know when a call was recorded. They count the hours nothing came into since; the rest
// is counted from rows: the newest hours always, older ones where the rows say so.
const (
	// arrivalWindow is how long after its start a call can still be told to be new. One that is
	// recorded later (a gateway was cut off for days) is in every list as soon as it is there.
	arrivalWindow = 7 * 24 * time.Hour

	// unsettled is how far back the newest recorded call is looked for. An INSERT takes no longer.
	unsettled = 10 * time.Second

	// oldestUntil and skew bound what until may be; outside, the list begins anew. They bound
	// what has to be counted from rows.
	oldestUntil = 24 * time.Hour
	skew        = time.Minute

	// pastHour is how far into an hour the one before it is counted from rows too.
	pastHour = 10 * time.Minute
)

// inTime is the condition that a call is in the list as of until.
const inTime = `(recorded_at <= fromUnixTimestamp64Milli({until:Int64}) OR start_time < fromUnixTimestamp64Milli({arrivals:Int64}))`

func (q CallsQuery) arrivals() time.Time { return q.Until.Add(-arrivalWindow) }

// newestHours is when the hours begin that are always counted from rows.
func (q CallsQuery) newestHours() int64 {
	return q.Until.Add(-pastHour).Truncate(time.Hour).Unix()
}

const newestQuery = `
SELECT toUnixTimestamp64Milli(now64(3)), toUnixTimestamp64Milli(max(recorded_at))
FROM calls
WHERE application_id = {application:UUID} AND recorded_at > now64(3) - toIntervalMillisecond({unsettled:Int64})
  AND start_time >= now64(3) - toIntervalMillisecond({window:Int64}) AND ` // and the days

// settle decides as of when a query without until, or with one that is out of bounds, is answered: when
// the last call that can be seen was recorded. What is being inserted at this moment is later than that,
// unless another gateway's INSERT overtakes it.
func (r *Reader) settle(ctx context.Context, q *CallsQuery) error {
	now := r.now()
	if q.Until != nil && q.Until.After(now.Add(-oldestUntil)) && q.Until.Before(now.Add(skew)) {
		return nil
	}
	var serverMs, newestMs int64
	parameters := args("application", q.Application, "unsettled", unsettled.Milliseconds(), "window", arrivalWindow.Milliseconds(),
		"from", q.Range.Start.Start().Unix(), "to", q.Range.End.End().Unix())
	err := r.each(ctx, "newest call", newestQuery+since("from")+" AND "+before("to"), parameters, func(rows driver.Rows) error {
		if err := rows.Scan(&serverMs, &newestMs); err != nil {
			return unavailable(err, "read the newest call")
		}
		return nil
	})
	until := time.UnixMilli(max(newestMs, serverMs-unsettled.Milliseconds()))
	q.Until, q.begins = &until, true
	return err
}

// lateHoursQuery finds the older hours into which calls came since until.
const lateHoursQuery = `
SELECT DISTINCT intDiv(toUnixTimestamp64Milli(start_time), 3600000) * 3600
FROM calls
WHERE application_id = {application:UUID} AND recorded_at > fromUnixTimestamp64Milli({until:Int64}) AND `

// asOf counts the calls of a query that were recorded by its until, by day or hour. What the first page
// finds is remembered for the others.
func (r *Reader) asOf(ctx context.Context, q CallsQuery) (tally, error) {
	days := r.retained(q.Range)
	if days.Days() < 1 {
		return nil, nil
	}
	key := listOf(q, days)
	if t, ok := r.parts.list(key); ok && !q.begins {
		return slices.Clone(t), nil // its user narrows it in place
	}
	var t, newest tally
	var late []int64
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		t, err = r.perDay(groupCtx, q)
		return err
	})
	group.Go(func() (err error) {
		newest, err = r.newestFromRows(groupCtx, q, days)
		return err
	})
	group.Go(func() (err error) {
		late, err = r.lateHours(groupCtx, q, max(days.Start.Start().Unix(), q.arrivals().Unix()), min(q.newestHours(), days.End.End().Unix()))
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	t, err := r.takeApart(ctx, q, t, newest, late)
	if err != nil {
		return nil, err
	}
	r.parts.put(key, slices.Clone(t))
	return t, nil
}

func (r *Reader) lateHours(ctx context.Context, q CallsQuery, from, to int64) (hours []int64, err error) {
	if from >= to {
		return nil, nil
	}
	query := lateHoursQuery + since("from") + " AND " + before("to")
	err = r.each(ctx, "late calls", query, q.parameters("from", from, "to", to), func(rows driver.Rows) error {
		var start int64
		if err := rows.Scan(&start); err != nil {
			return unavailable(err, "read late calls")
		}
		hours = append(hours, start)
		return nil
	})
	return hours, err
}

// fromRows counts some hours, given by their starts, from rows.
func (r *Reader) fromRows(ctx context.Context, q CallsQuery, hours []int64) (tally, error) {
	if len(hours) == 0 {
		return nil, nil
	}
	query := hoursFromRows(q, `intDiv(toUnixTimestamp64Milli(start_time), 3600000) * 3600 IN {hours:Array(Int64)}`)
	return r.rowTally(ctx, query, q.parameters("from", slices.Min(hours), "to", slices.Max(hours)+int64(hour), "hours", hours))
}

// newestFromRows counts what started from the newest hours on, from rows.
func (r *Reader) newestFromRows(ctx context.Context, q CallsQuery, days beijing.Range) (tally, error) {
	from, to := max(q.newestHours(), days.Start.Start().Unix()), days.End.End().Unix()
	if from >= to {
		return nil, nil
	}
	return r.rowTally(ctx, hoursFromRows(q, "true"), q.parameters("from", from, "to", to))
}

func (r *Reader) rowTally(ctx context.Context, query string, parameters []any) (tally, error) {
	t, err := r.count(ctx, hour, query, parameters)
	for i := range t {
		t[i].fromRows = true
	}
	return t, err
}

// takeApart puts hours into the place of the days of which some hours were counted from rows: those
// hours, and the others from the hourly rollup.
func (r *Reader) takeApart(ctx context.Context, q CallsQuery, perDay, newest tally, late []int64) (tally, error) {
	boundary := q.newestHours()
	first := beijing.DayOf(time.Unix(boundary, 0)) // every day from here on
	ofLate := map[beijing.Day]bool{}
	for _, start := range late {
		ofLate[beijing.DayOf(time.Unix(start, 0))] = true
	}
	apart := func(s span) bool { return s.day() >= first || ofLate[s.day()] }
	from := boundary
	for _, s := range perDay {
		if apart(s) {
			from = min(from, s.start)
		}
	}
	var older, counted tally
	group, groupCtx := errgroup.WithContext(ctx)
	if from < boundary {
		group.Go(func() (err error) {
			older, err = r.count(groupCtx, hour, hoursOf(q), q.parameters("from", from, "to", boundary))
			return err
		})
	}
	group.Go(func() (err error) {
		counted, err = r.fromRows(groupCtx, q, late)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	older = slices.DeleteFunc(older, func(s span) bool { return !apart(s) || slices.Contains(late, s.start) })
	t := slices.Concat(newest, older, counted, slices.DeleteFunc(perDay, apart))
	t.sort()
	return t, nil
}
