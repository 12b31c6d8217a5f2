package stats

import (
	"slices"
	"time"

	"github.com/maypok86/otter/v2"

	"callgate/internal/beijing"
)

// maxCachedRows bounds the calls that are remembered, to some 40 MB: one takes 400 bytes.
const maxCachedRows = 100_000

// rowsKey names the calls of a bucket that are in a query's lists, from the skip-th on. It is the same at every instant.
type rowsKey struct {
	seriesKey
	result Result
	skip   int64
}

func rowsKeyOf(q CallsQuery, s timeBucket, skip int64) rowsKey {
	key := rowsKey{partsKey(q, s), q.Result, skip}
	key.until = 0
	return key
}

// bucketRows are calls of a bucket, newest first, when it had so many that matched. Calls never change and none goes, so as
// long as it has as many they are the same.
type bucketRows struct {
	matches int64
	calls   []Call
}

// rowsCache remembers the calls of pages by their buckets, whose counts are asked each time.
type rowsCache interface {
	GetIfPresent(key rowsKey) (*bucketRows, bool)
	Set(key rowsKey, rows *bucketRows) (*bucketRows, bool)
}

func newRowsCache() rowsCache {
	return otter.Must(&otter.Options[rowsKey, *bucketRows]{
		MaximumWeight: maxCachedRows,
		Weigher:       func(_ rowsKey, rows *bucketRows) uint32 { return uint32(len(rows.calls) + 1) },
	})
}

// remembered gives a page's part of each of its buckets, nil where it is not known.
func (r *Reader) remembered(q CallsQuery, p pageWindow) [][]Call {
	known := make([][]Call, len(p.buckets))
	for i, part := range p.parts(q.Result) {
		for _, skip := range []int64{part.skip, 0} { // or the bucket from its newest call on
			if known[i] == nil {
				known[i] = r.cache.part(rowsKeyOf(q, p.buckets[i], skip), p.buckets[i].matches(q.Result), part)
			}
		}
	}
	return known
}

// part gives a part of a bucket in which so many calls match, nil where its rows are not known.
func (c *seriesCache) part(key rowsKey, matches int64, part bucketPart) []Call {
	rows, ok := c.rows.GetIfPresent(key)
	from := int(part.skip - key.skip)
	if !ok || rows.matches != matches || len(rows.calls) < from+part.count {
		return nil
	}
	return rows.calls[from : from+part.count]
}

// remember keeps a page's parts of its buckets.
func (r *Reader) remember(q CallsQuery, p pageWindow, calls [][]Call) {
	for i, part := range p.parts(q.Result) {
		r.cache.rows.Set(rowsKeyOf(q, p.buckets[i], part.skip), &bucketRows{p.buckets[i].matches(q.Result), calls[i]})
	}
}

// bucketPart is how many of a window's rows are in a bucket, and how many that match are newer than these.
type bucketPart struct {
	skip  int64
	count int
}

// parts are those of the window's buckets.
func (p pageWindow) parts(result Result) []bucketPart {
	parts := make([]bucketPart, len(p.buckets))
	skip, left := p.skip, int64(p.count)
	for i, s := range p.buckets {
		n := min(s.matches(result)-skip, left)
		parts[i] = bucketPart{skip, int(n)}
		skip, left = 0, left-n
	}
	return parts
}

// without is the window of the buckets that are not known.
func (p pageWindow) without(known [][]Call, result Result) (rest pageWindow) {
	for i, part := range p.parts(result) {
		if known[i] != nil {
			continue
		}
		if i == 0 {
			rest.skip = p.skip
		}
		rest.buckets = append(rest.buckets, p.buckets[i])
		rest.inside += p.buckets[i].matches(result)
		rest.count += part.count
	}
	return rest
}

// divided gives the window's calls by its buckets. It is not ok where some are of another bucket or missing: calls came
// between the count and the read.
func (p pageWindow) divided(calls []Call, result Result) (parts [][]Call, ok bool) {
	if len(calls) != p.count {
		return nil, false
	}
	parts = make([][]Call, len(p.buckets))
	for i, part := range p.parts(result) {
		parts[i], calls = calls[:part.count:part.count], calls[part.count:]
		s := p.buckets[i]
		first, end := beijing.Format(time.Unix(s.start, 0)), beijing.Format(time.Unix(s.end(), 0))
		if slices.ContainsFunc(parts[i], func(c Call) bool { return c.StartTime < first || c.StartTime >= end }) {
			return nil, false
		}
	}
	return parts, true
}

// joinedRows puts the parts of known buckets and the others' together.
func joinedRows(known, others [][]Call) []Call {
	calls := []Call{}
	for _, part := range known {
		if part == nil {
			part, others = others[0], others[1:]
		}
		calls = append(calls, part...)
	}
	return calls
}
