package stats

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// defaultParallel bounds the queries of one question that run side by side: half of the connections, so that
// one question leaves room for others.
const defaultParallel = 8

// pageWindow is where the calls of a page are: skip matching rows from the newest of the buckets, or
// fewer from the oldest, and then count of them.
type pageWindow struct {
	buckets series // newest first
	inside  int64  // matching rows in buckets
	skip    int64
	count   int
}

// locate narrows the series until the page's rows can be read with a short walk: days that hold
// many rows are counted by hour, hours that hold very many by second (design section 7).
func (r *Reader) locate(ctx context.Context, q CallsQuery, t series) (pageWindow, error) {
	total := t.matches(q.Result)
	for {
		found := t.find(q, total)
		wide := found.wide(q.Result, r.limits.with(q))
		if len(wide) == 0 {
			return found, nil
		}
		parts, err := r.splitAll(ctx, q, wide)
		if err != nil {
			return pageWindow{}, err
		}
		for i, s := range wide {
			t.replace(s, parts[i])
		}
	}
}

// splitAll splits buckets side by side.
func (r *Reader) splitAll(ctx context.Context, q CallsQuery, buckets []timeBucket) ([]series, error) {
	parts := make([]series, len(buckets))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(r.parallel)
	for i, s := range buckets {
		group.Go(func() (err error) {
			parts[i], err = r.split(groupCtx, q, s)
			return err
		})
	}
	return parts, group.Wait()
}

// find gives the buckets that hold the page. Seconds, counted from the rows, may be ahead of the rollup
// that total is from.
func (t series) find(q CallsQuery, total int64) pageWindow {
	first := int64(q.Page-1) * PageSize
	end := min(first+PageSize, total, t.matches(q.Result))
	if first >= end {
		return pageWindow{}
	}
	found := pageWindow{count: int(end - first)}
	position := int64(0)
	for _, s := range t {
		n := s.matches(q.Result)
		if n > 0 && position+n > first && position < end {
			if len(found.buckets) == 0 {
				found.skip = first - position
			}
			found.buckets = append(found.buckets, s)
			found.inside += n
		}
		position += n
	}
	return found
}

// wide gives the buckets that must be narrowed before the page is read. When every row matches, the
// walk is no longer than the way from the nearer end; else it may be as long as the bucket.
func (p pageWindow) wide(result Result, limits scanLimits) []timeBucket {
	walk := min(p.skip+int64(p.count), p.inside-p.skip)
	for _, s := range p.buckets {
		if s.matches(result) != s.rows {
			walk = 1 << 62
		}
	}
	var wide []timeBucket
	for _, s := range p.buckets {
		if most := limits.of(s.unit); s.rows > most && walk > most {
			wide = append(wide, s)
		}
	}
	return wide
}
