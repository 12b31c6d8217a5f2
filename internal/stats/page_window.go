package stats

import (
	"context"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"
)

// defaultParallel bounds the queries of one question that run side by side: half of the connections, so that
// one question leaves room for others.
const defaultParallel = 8

// scanLimits say how many rows may be walked through in a day and in an hour before the bucket is
// narrowed. To narrow a day costs 24 rows of a rollup, to narrow an hour a read of all its rows.
type scanLimits struct{ day, hour int64 }

var defaultScanLimits = scanLimits{day: 50_000, hour: 200_000}

func (l scanLimits) of(u unit) int64 {
	switch u {
	case day:
		return l.day
	case hour:
		return l.hour
	default:
		return 1 << 62 // nothing is narrower than a second
	}
}

// pageWindow is where the calls of a page are: skip matching rows from the newest of the buckets, or
// fewer from the oldest, and then count of them.
type pageWindow struct {
	buckets series // newest first
	inside  int64  // matching rows in buckets
	skip    int64
	count   int
}

// locate narrows the series until the page's rows can be read with a short walk: days that hold
// many rows are counted by hour, hours that hold very many by second.
func (r *Reader) locate(ctx context.Context, q CallsQuery, t series, page int) (pageWindow, error) {
	total := t.matches(q.Result)
	for {
		found := t.find(q, page, total)
		wide := found.wide(q, r.limits.with(q))
		if len(wide) == 0 {
			return found, nil
		}
		parts, err := r.splitAll(ctx, q, wide)
		if err != nil {
			return pageWindow{}, err
		}
		for i, s := range wide {
			at := slices.Index(t, s)
			t = slices.Replace(t, at, at+1, parts[i]...)
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

// find gives the buckets that hold a page of total calls, of which narrowed buckets may hold others.
func (t series) find(q CallsQuery, page int, total int64) pageWindow {
	first := int64(page-1) * q.size()
	end := min(first+q.size(), total, t.matches(q.Result))
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
// walk is no longer than the way from the nearer end; else it may be as long as the bucket, as it is where rows of several
// applications must be put in order.
func (p pageWindow) wide(q CallsQuery, limits scanLimits) []timeBucket {
	walk := min(p.skip+int64(p.count), p.inside-p.skip)
	for _, s := range p.buckets {
		if s.matches(q.Result) != s.rows || len(q.Applications) > 1 {
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

// pageAt is the page that holds the newest call which started at or before q.At, or the last one.
func (r *Reader) pageAt(ctx context.Context, q CallsQuery, t series) (int, error) {
	at, newer := q.At.UnixMilli(), int64(0)
	for _, s := range t {
		if s.start*1000 > at {
			newer += s.matches(q.Result)
		} else if s.matches(q.Result) > 0 {
			inside, err := r.rowsAfter(ctx, q, at, s.end())
			if err != nil {
				return 0, err
			}
			newer += inside
			break
		}
	}
	return int(max(0, min(newer, t.matches(q.Result)-1))/q.size()) + 1, nil
}

// rowsAfter counts the matching calls that started after a millisecond and before a second.
func (r *Reader) rowsAfter(ctx context.Context, q CallsQuery, afterMs, to int64) (n int64, err error) {
	query := `
SELECT toInt64(count()) FROM calls
WHERE ` + q.ofApplications() + ` AND start_time > fromUnixTimestamp64Milli({after:Int64}, 'Asia/Shanghai') AND ` + before("to") + q.filters()
	err = r.each(ctx, "calls after an instant", query, q.parameters("after", afterMs, "to", to), func(rows driver.Rows) error {
		if err := rows.Scan(&n); err != nil {
			return unavailable(err, "count calls after an instant")
		}
		return nil
	})
	return n, err
}
