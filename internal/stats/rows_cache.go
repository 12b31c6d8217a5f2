package stats

import (
	"slices"
	"time"

	"github.com/maypok86/otter/v2"

	"callgate/internal/beijing"
)

// maxCachedRows bounds the calls that are remembered, to some 40 MB: one takes 400 bytes.
const maxCachedRows = 100_000

// scattered is from how many buckets on the rows of a page are remembered: every column of a part of each of its days is
// read for them, which soon costs more than all that finds the page.
const scattered = 3

// rowsKey names the calls of a bucket that are in a query's lists.
type rowsKey struct {
	seriesKey
	result Result
}

// rowsCache remembers the calls of buckets of which a page held all, newest first. Calls never change, and are told to
// be late by the bucket's own count, which is asked each time.
type rowsCache interface {
	GetIfPresent(key rowsKey) (*[]Call, bool)
	Set(key rowsKey, calls *[]Call) (*[]Call, bool)
}

func newRowsCache() rowsCache {
	return otter.Must(&otter.Options[rowsKey, *[]Call]{
		MaximumWeight: maxCachedRows,
		Weigher:       func(_ rowsKey, calls *[]Call) uint32 { return uint32(len(*calls)) },
	})
}

// lasting tells whether the list has all calls of a bucket, at whatever instant it is asked.
func (q CallsQuery) lasting(s timeBucket) bool {
	return !s.fromRows && q.Outcome.Text == "" && q.allInTime([]timeBucket{s})
}

// remembered gives the rows of a bucket, if these are still all there are; nil where they are not known.
func (r *Reader) remembered(q CallsQuery, s timeBucket) []Call {
	if !q.lasting(s) {
		return nil
	}
	calls, ok := r.cache.rows.GetIfPresent(rowsKey{partsKey(q, s), q.Result})
	if !ok || int64(len(*calls)) != s.matches(q.Result) {
		return nil
	}
	return *calls
}

// remember keeps the rows of the buckets of which a window has all.
func (r *Reader) remember(q CallsQuery, p pageWindow, calls []Call) {
	for i, part := range p.parts(q.Result) {
		of := calls[:part]
		calls = calls[part:]
		s := p.buckets[i]
		first, end := beijing.Format(time.Unix(s.start, 0)), beijing.Format(time.Unix(s.end(), 0))
		if int64(part) != s.matches(q.Result) || !q.lasting(s) ||
			slices.ContainsFunc(of, func(c Call) bool { return c.StartTime < first || c.StartTime >= end }) {
			continue
		}
		kept := slices.Clone(of)
		r.cache.rows.Set(rowsKey{partsKey(q, s), q.Result}, &kept)
	}
}

// parts are how many of the window's rows are in each of its buckets.
func (p pageWindow) parts(result Result) []int {
	parts := make([]int, len(p.buckets))
	skip, left := p.skip, int64(p.count)
	for i, s := range p.buckets {
		n := min(s.matches(result)-skip, left)
		parts[i] = int(n)
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
		rest.count += part
	}
	return rest
}

// joined puts the rows of known buckets and the others' together.
func (p pageWindow) joined(known [][]Call, others []Call, result Result) []Call {
	calls := make([]Call, 0, p.count)
	skip := p.skip
	for i, part := range p.parts(result) {
		if known[i] != nil {
			calls = append(calls, known[i][skip:skip+int64(part)]...)
		} else {
			calls, others = append(calls, others[:part]...), others[part:]
		}
		skip = 0
	}
	return calls
}
