package stats

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
)

// A call flow is paged as of one instant, until: a call counts when it was recorded by then, whenever
// it started, so that calls which arrive later, long ones with an old start among them, move no row.
// Rollups do not know when a call was recorded. They count the hours nothing came into since; the rest
// is counted from rows: the newest hours always, older ones where the rows say so (arrivals.go). The
// rows are asked after the rollups, or beside them (speculation.go), so that they know of all that the rollups may hold too
// early.
const (
	// arrivalWindow is how long after its start a call can still be told to be new. One that is
	// recorded later (a gateway was cut off for days) is in every list as soon as it is there.
	arrivalWindow = 7 * 24 * time.Hour

	// unsettled is how long after a call was recorded it may not yet be seen, in the rows or the
	// rollups. An INSERT takes no longer.
	unsettled = 10 * time.Second

	// oldestUntil and skew bound what until may be; outside, the list begins anew. They bound
	// what has to be counted from rows.
	oldestUntil = 24 * time.Hour
	skew        = time.Minute

	// pastHour is how far into an hour the one before it is counted from rows too.
	pastHour = 10 * time.Minute
)

// inTime is the condition that a call is in the list as of until.
const inTime = `(recorded_at <= fromUnixTimestamp64Milli({until:Int64}, 'Asia/Shanghai') OR start_time < fromUnixTimestamp64Milli({arrivals:Int64}, 'Asia/Shanghai'))`

func (q CallsQuery) arrivals() time.Time { return q.Until.Add(-arrivalWindow) }

// allInTime tells whether every call of the buckets is in the list, by its start alone.
func (q CallsQuery) allInTime(buckets []timeBucket) bool {
	return q.Until != nil && !slices.ContainsFunc(buckets, func(s timeBucket) bool { return s.end()*1000 > q.arrivals().UnixMilli() })
}

func (r *Reader) inBounds(until time.Time) bool {
	now := r.now()
	return until.After(now.Add(-oldestUntil)) && until.Before(now.Add(skew))
}

// listing is how one list is counted.
type listing struct {
	r      *Reader
	q      *CallsQuery
	days   beijing.Range
	began  time.Time   // before the rollups are asked
	oldest int64       // Unix seconds from which on calls can be told to be new
	newest int64       // when the hours begin that are counted from rows in any case
	apart  beijing.Day // the days from here on are not counted by day
	rolled int64       // rows of the days from apart on, as the rollup knows them
	anew   bool        // what was settled is out of date, or clocks differ
	asked  *newestRows // beside the rollups; nil: nothing that holds
	ahead  *readAhead  // of its page; nil: none
}

// asOf counts the calls of a query that were recorded by its until, by day or hour. Without until the list
// begins, as of now, which it sets. What it finds is remembered for the other pages. A page of it may be read ahead.
func (r *Reader) asOf(ctx context.Context, q *CallsQuery, ahead *readAhead) (series, error) {
	l := r.listing(q)
	l.ahead = ahead
	if q.Until != nil {
		if t, ok := r.cache.list(listKey(*q, l.days)); ok {
			return slices.Clone(t), nil // its user narrows it in place
		}
	}
	t, err := l.count(ctx)
	if err != nil {
		return nil, err
	}
	r.cache.put(listKey(*q, l.days), slices.Clone(t))
	return t, nil
}

func (r *Reader) listing(q *CallsQuery) *listing {
	l := &listing{r: r, q: q, days: r.keptCalls(q.Range), began: time.Now()}
	asOf := r.now()
	if q.Until != nil {
		asOf = *q.Until
	}
	newest := asOf.Add(-pastHour).Truncate(time.Hour)
	l.oldest, l.newest, l.apart = asOf.Add(-arrivalWindow).Unix(), newest.Unix(), beijing.DayOf(newest)
	return l
}

func (l *listing) count(ctx context.Context) (series, error) {
	if l.days.Days() < 1 || l.days.End.End().Unix() <= l.oldest-int64(skew.Seconds()) {
		if l.q.Until == nil { // the same at every instant
			now := l.r.now()
			l.q.Until = &now
		}
		return l.settledDays(ctx)
	}
	speculation := l.speculate(ctx)
	defer speculation.stop()
	rolledUp, err := l.rolledUp(ctx)
	if err != nil {
		return nil, err
	}
	older := slices.DeleteFunc(slices.Clone(rolledUp), func(s timeBucket) bool { return s.start >= l.newest })
	if l.asked = speculation.take(l, older); l.asked == nil {
		l.r.cache.put(rollupsKey(*l.q, l.days), slices.Clone(older))
	}
	newest, late, err := l.newestHours(ctx, rolledUp)
	if err != nil {
		return nil, err
	}
	late = append(late, l.edges(older)...)
	if len(late) > 0 {
		return l.takeApart(ctx, older, newest, late)
	}
	return joined(older, newest), nil
}

// rolledUp counts days and, of the newest ones, hours, from the rollups: also those that are counted from
// rows. When the newest days hold little it is cheaper to count them from rows wholly. Where they held much the last
// time, days and hours are asked side by side.
func (l *listing) rolledUp(ctx context.Context) (series, error) {
	var days, hours series
	sideBySide := l.likelyLarge()
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		days, err = l.r.countDays(groupCtx, *l.q, l.days)
		return err
	})
	if sideBySide {
		group.Go(func() (err error) {
			hours, err = l.newestByHour(groupCtx)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var newest series
	for _, s := range days {
		if s.day() >= l.apart {
			newest = append(newest, s)
		}
	}
	l.rolled = newest.rows()
	days = slices.DeleteFunc(days, func(s timeBucket) bool { return s.day() >= l.apart })
	days, err := l.clip(ctx, days)
	if err != nil {
		return nil, err
	}
	large := l.rolled > l.r.limits.day
	if l.holdsNewest() {
		l.r.cache.setLarge(l.q.Application, large)
	}
	if !large {
		l.newest = l.wholeDays()
		l.ahead.begin(ctx, slices.Concat(newest, days))
		return days, nil
	}
	if !sideBySide {
		if hours, err = l.newestByHour(ctx); err != nil {
			return nil, err
		}
	}
	rolledUp := append(days, slices.DeleteFunc(hours, l.q.outside)...)
	l.ahead.begin(ctx, slices.Clone(rolledUp))
	return rolledUp, nil
}

// holdsNewest tells whether any of the newest days is asked for.
func (l *listing) holdsNewest() bool { return l.days.End >= l.apart }

// likelyLarge tells whether those that are asked for held much the last time.
func (l *listing) likelyLarge() bool { return l.holdsNewest() && l.r.cache.isLarge(l.q.Application) }

// wholeDays is when the hours begin that are counted from rows where the newest days hold little.
func (l *listing) wholeDays() int64 { return l.apart.Start().Unix() }

// newestByHour counts the newest days by hour, from the rollup.
func (l *listing) newestByHour(ctx context.Context) (series, error) {
	from := max(l.apart, l.days.Start).Start().Unix()
	if !l.q.Outcome.narrows() { // no rows of calls are read
		ctx = inOneThread(ctx)
	}
	return l.r.countAll(ctx, hoursOf(*l.q), l.q.parameters("from", from, "to", l.days.End.End().Unix()))
}

// takeApart counts the hours into which calls came late from rows, and the others of their days from
// the hourly rollup. Calls that come while it is asked make more hours late.
func (l *listing) takeApart(ctx context.Context, rolledUp, newest series, late []int64) (series, error) {
	for {
		days, rest := rolledUp.cut(late)
		if len(days) == 0 {
			break
		}
		hours, err := l.hoursOf(ctx, days)
		if err != nil {
			return nil, err
		}
		var more []int64
		if newest, more, err = l.newestHours(ctx, nil); err != nil {
			return nil, err
		}
		rolledUp, late = append(rest, hours...), append(late, more...)
	}
	slices.Sort(late)
	late = slices.Compact(late)
	counted, err := l.fromRows(ctx, late)
	if err != nil {
		return nil, err
	}
	rolledUp = slices.DeleteFunc(rolledUp, func(s timeBucket) bool { return slices.Contains(late, s.start) })
	return joined(rolledUp, newest, counted), nil
}

// cut gives the days that hold any of the hours, and the other buckets.
func (t series) cut(hours []int64) (days, rest series) {
	for _, s := range t {
		if s.unit == day && slices.ContainsFunc(hours, s.holds) {
			days = append(days, s)
		} else {
			rest = append(rest, s)
		}
	}
	return days, rest
}

// hoursOf counts some days by hour, from the rollup.
func (l *listing) hoursOf(ctx context.Context, days series) (series, error) {
	oldest, newest := days[len(days)-1], days[0]
	hours, err := l.r.count(ctx, hoursOf(*l.q), l.q.parameters("from", oldest.start, "to", newest.end()))
	return slices.DeleteFunc(hours, func(s timeBucket) bool {
		return !slices.ContainsFunc(days, func(d timeBucket) bool { return d.day() == s.day() })
	}), err
}

func joined(parts ...series) series {
	t := slices.Concat(parts...).used()
	t.sort()
	return t
}
