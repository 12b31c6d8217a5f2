package stats

import (
	"context"
	"slices"
	"time"
)

// A query's From and To may stand within a day or an hour. Of such a day the hours between them are counted, and of such
// an hour the rows.

// cuts tells whether an instant is inside a bucket and not at its start.
func (s timeBucket) cuts(at *time.Time) bool {
	return at != nil && at.UnixMilli() > s.start*1000 && at.UnixMilli() < s.end()*1000
}

func (q CallsQuery) cutIn(s timeBucket) bool { return s.cuts(q.From) || s.cuts(q.To) }

// outside tells whether a bucket ends before From or starts at To or later.
func (q CallsQuery) outside(s timeBucket) bool {
	return q.From != nil && s.end()*1000 <= q.From.UnixMilli() || q.To != nil && s.start*1000 >= q.To.UnixMilli()
}

// clip leaves out what is outside of From and To, and counts days in which they stand by hour.
func (l *listing) clip(ctx context.Context, t series) (series, error) {
	if l.q.From == nil && l.q.To == nil {
		return t, nil
	}
	var clipped, cut series
	for _, s := range t {
		if s.unit == day && l.q.cutIn(s) {
			cut = append(cut, s)
		} else {
			clipped = append(clipped, s)
		}
	}
	for _, s := range cut {
		hours, err := l.r.countAll(ctx, hoursOf(*l.q), l.q.parameters("from", s.start, "to", s.end()))
		if err != nil {
			return nil, err
		}
		clipped = append(clipped, hours...)
	}
	clipped = slices.DeleteFunc(clipped, l.q.outside)
	clipped.sort()
	return clipped, nil
}

// edges are the starts of the hours in which From and To stand, of those that were counted from a rollup.
func (l *listing) edges(t series) (hours []int64) {
	for _, s := range t {
		if s.unit == hour && !s.fromRows && l.q.cutIn(s) {
			hours = append(hours, s.start)
		}
	}
	return hours
}

// settledDays counts days of which no call can be told to be new.
func (l *listing) settledDays(ctx context.Context) (series, error) {
	t, err := l.r.perDay(ctx, *l.q)
	if err != nil {
		return nil, err
	}
	if t, err = l.clip(ctx, t); err != nil {
		return nil, err
	}
	edges := l.edges(t)
	if len(edges) == 0 {
		return t.used(), nil
	}
	counted, err := l.fromRows(ctx, edges)
	t = slices.DeleteFunc(t, func(s timeBucket) bool { return slices.Contains(edges, s.start) && s.unit == hour })
	return joined(t, counted), err
}
