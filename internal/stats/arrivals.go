package stats

import (
	"context"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// arrivals is what the rows say: of the newest hours every second, of older ones which are late.
type arrivals struct {
	seconds map[int64]timeBucket // by start
	late    []int64              // starts of hours
	closed  map[int64]timeBucket // of seconds what is settled and stays as it is
	latest  int64                // Unix milliseconds: by then every call recorded can be seen
	last    int64                // when the last call was recorded
	read    int64                // rows of the newest hours
}

// clocksApart is by how much the clock of a gateway, which says when a call started, may be ahead of the server's, which says
// when it was recorded, before lists of its calls are counted twice.
const clocksApart = time.Hour

// fewRows are sooner read again than remembered.
const fewRows = 2_000

// arrivedCalls counts, from rows, the newest hours by second, but for what was recorded by the base; of
// older ones only what came since until, or so lately that the rollups may not hold it yet. One SELECT
// for both reads one state of the table; its totals tell when that was, also where nothing arrived. An index knows by the
// floor which granules hold none of either.
func arrivedCalls(q CallsQuery) string {
	lately := `now64(3, 'Asia/Shanghai') - toIntervalMillisecond({lately:Int64})`
	if q.Until != nil {
		lately = `least(fromUnixTimestamp64Milli({until:Int64}, 'Asia/Shanghai'), ` + lately + `)`
	}
	return `
SELECT intDiv(toUnixTimestamp64Milli(start_time), 1000) AS start, recorded_at <= fromUnixTimestamp64Milli({close:Int64}, 'Asia/Shanghai') AS closed,` + q.counted() + `,
    toUnixTimestamp64Milli(max(recorded_at)), toUnixTimestamp64Milli(now64(3, 'Asia/Shanghai')) - {unsettled:Int64}
FROM calls
WHERE application_id = {application:UUID} AND ` + since("from") + ` AND ` + before("to") + `
  AND recorded_at > least(fromUnixTimestamp64Milli({floor:Int64}, 'Asia/Shanghai'), ` + lately + `)
  AND recorded_at > if(` + since("newest") + `, fromUnixTimestamp64Milli({base:Int64}, 'Asia/Shanghai'), ` + lately + `)
GROUP BY start, closed WITH TOTALS`
}

// arrived asks what arrived since the base.
func (l *listing) arrived(ctx context.Context, base, closing int64) (a arrivals, err error) {
	a.seconds, a.closed = map[int64]timeBucket{}, map[int64]timeBucket{}
	lately := unsettled + time.Since(l.began) // since the rollups were asked
	floor := max(base, time.Unix(l.newest, 0).Add(-clocksApart).UnixMilli())
	if l.anew {
		floor = base
	}
	parameters := l.q.parameters("from", max(l.oldest, l.days.Start.Start().Unix()), "to", l.days.End.End().Unix(), "newest", l.newest,
		"floor", floor, "base", base, "close", closing, "lately", lately.Milliseconds(), "unsettled", unsettled.Milliseconds())
	scan := func(to func(...any) error) (s timeBucket, closed bool, err error) {
		s = timeBucket{unit: second, fromRows: true}
		if err := to(slices.Concat([]any{&s.start, &closed}, s.counts(), []any{&a.last, &a.latest})...); err != nil {
			return s, closed, unavailable(err, "read calls that arrived")
		}
		return s, closed, nil
	}
	err = l.r.each(ctx, "calls that arrived", arrivedCalls(*l.q), parameters, func(rows driver.Rows) error {
		s, closed, err := scan(rows.Scan)
		if s.start < l.newest {
			a.late = append(a.late, s.start-s.start%int64(hour))
			return err
		}
		a.read += s.rows
		if closed {
			a.closed[s.start] = s
		}
		s.add(a.seconds[s.start])
		a.seconds[s.start] = s
		return err
	}, func(rows driver.Rows) error {
		_, _, err := scan(rows.Totals)
		return err
	})
	slices.Sort(a.late)
	a.late = slices.Compact(a.late)
	return a, err
}

// newestRows is what the rows say of the newest hours, and what was known of them.
type newestRows struct {
	arrivals
	known   settled
	closing int64
}

// ask asks the rows. What was settled when they were last counted is not read again.
func (l *listing) ask(ctx context.Context) (*newestRows, error) {
	known := nothingSettled
	if s, ok := l.r.cache.settled.GetIfPresent(l.settledKey()); ok && !l.anew && (l.q.Until == nil || s.base <= l.q.Until.UnixMilli()) {
		known = *s
	}
	closing := l.r.now().Add(-2 * unsettled).UnixMilli()
	if l.q.Until != nil { // later calls are not in the list
		closing = min(closing, l.q.Until.UnixMilli())
	}
	closing = max(known.base, closing)
	if known.base != nothingSettled.base || !l.likelyLarge() {
		ctx = inOneThread(ctx)
	}
	a, err := l.arrived(ctx, known.base, closing)
	return &newestRows{a, known, closing}, err
}

// newestHours counts the newest hours from rows, by hour, and finds the late ones. What was recorded long before it is said
// to have started is not read, unless the rollup knows of more: also of what came after rows that were asked beside it. A
// list that begins is as of when the last call seen here was recorded: what is being inserted at this moment is later than
// that, unless another gateway's INSERT overtakes it.
func (l *listing) newestHours(ctx context.Context, rolledUp series) (newest series, late []int64, err error) {
	a, before := l.asked, l.asked != nil
	l.asked = nil
	if !before {
		if a, err = l.ask(ctx); err != nil {
			return nil, nil, err
		}
	}
	seconds := a.known.seconds.plus(a.seconds)
	newest = seconds.hours()
	if fewer := newest.fewer(rolledUp, l.newest) || l.fewerThanRolled(newest); fewer && (before || !l.anew) {
		l.anew = !before
		return l.newestHours(ctx, rolledUp)
	}
	if a.read > fewRows && a.closing <= a.latest {
		l.r.cache.settled.Set(l.settledKey(), &settled{a.closing, a.known.seconds.plus(a.closed)})
	}
	if l.q.Until == nil {
		until := time.UnixMilli(max(a.last, a.latest))
		l.q.Until = &until
	}
	l.keep(newest, seconds)
	return newest, a.late, nil
}

// fewerThanRolled tells it of the newest hours where these are whole days.
func (l *listing) fewerThanRolled(newest series) bool {
	return l.newest == l.apart.Start().Unix() && newest.rows() < l.rolled
}

// keep remembers the seconds of hours that may have to be split.
func (l *listing) keep(hours, seconds series) {
	for _, h := range hours {
		if h.rows <= l.r.limits.hour {
			continue
		}
		var inside series
		for _, s := range seconds {
			if h.holds(s.start) && s.calls > 0 {
				inside = append(inside, s)
			}
		}
		l.r.cache.put(partsKey(*l.q, h), inside)
	}
}

// fromRows counts some hours, given by their starts, from rows.
func (l *listing) fromRows(ctx context.Context, hours []int64) (series, error) {
	parameters := l.q.parameters("from", slices.Min(hours), "to", slices.Max(hours)+int64(hour), "hours", hours)
	t, err := l.r.count(ctx, hoursFromRows(*l.q), parameters)
	for i := range t {
		t[i].fromRows = true
	}
	return t, err
}
