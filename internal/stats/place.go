package stats

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// standardAtOnce bounds the queries of one question that run side by side: half of the connections, so that
// one question leaves room for others.
const standardAtOnce = 8

// place is where the calls of a page are: skip matching rows from the newest of the spans, or
// fewer from the oldest, and then count of them.
type place struct {
	spans  []span // newest first
	inside int64  // matching rows in spans
	skip   int64
	count  int
}

// locate narrows the tally until the page's rows can be read with a short walk: days that hold
// many rows are counted by hour, hours that hold very many by second (design section 7).
func (r *Reader) locate(ctx context.Context, q CallsQuery, t tally) (place, error) {
	total := t.matches(q.Result)
	for {
		found := t.find(q, total)
		wide := found.wide(q.Result, r.reach)
		if len(wide) == 0 {
			return found, nil
		}
		parts, err := r.splitAll(ctx, q, wide)
		if err != nil {
			return place{}, err
		}
		for i, s := range wide {
			t.replace(s, parts[i])
		}
	}
}

// splitAll splits spans side by side.
func (r *Reader) splitAll(ctx context.Context, q CallsQuery, spans []span) ([]tally, error) {
	parts := make([]tally, len(spans))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(r.atOnce)
	for i, s := range spans {
		group.Go(func() (err error) {
			parts[i], err = r.split(groupCtx, q, s)
			return err
		})
	}
	return parts, group.Wait()
}

// find gives the spans that hold the page. Seconds, counted from the rows, may be ahead of the rollup
// that total is from.
func (t tally) find(q CallsQuery, total int64) place {
	first := int64(q.Page-1) * PageSize
	end := min(first+PageSize, total, t.matches(q.Result))
	if first >= end {
		return place{}
	}
	found := place{count: int(end - first)}
	position := int64(0)
	for _, s := range t {
		n := s.matches(q.Result)
		if n > 0 && position+n > first && position < end {
			if len(found.spans) == 0 {
				found.skip = first - position
			}
			found.spans = append(found.spans, s)
			found.inside += n
		}
		position += n
	}
	return found
}

// fewRows are sorted sooner than read in order from several partitions.
const fewRows = 2_000

func (p place) rows() (sum int64) {
	for _, s := range p.spans {
		sum += s.rows
	}
	return sum
}

// wide gives the spans that must be narrowed before the page is read. When every row matches, the
// walk is no longer than the way from the nearer end; else it may be as long as the span.
func (p place) wide(result Result, reach reaches) []span {
	walk := min(p.skip+int64(p.count), p.inside-p.skip)
	for _, s := range p.spans {
		if s.matches(result) != s.rows {
			walk = 1 << 62
		}
	}
	var wide []span
	for _, s := range p.spans {
		if most := reach.of(s.unit); s.rows > most && walk > most {
			wide = append(wide, s)
		}
	}
	return wide
}
