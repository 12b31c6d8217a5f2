package stats

import (
	"github.com/google/uuid"
	"github.com/maypok86/otter/v2"

	"callgate/internal/beijing"
)

// maxCachedBuckets bounds the cache, to 43 MB: a bucket takes 64 bytes, an hour has at most 3,600.
const maxCachedBuckets = 675_000

// maxCachedSettled bounds what is remembered of the newest hours, in buckets, to 14 MB.
const maxCachedSettled = 225_000

// maxCachedLarge bounds the applications that are known to be large, to 2 MB.
const maxCachedLarge = 10_000

// seriesKey names what was counted for one application and one model, or all: a day by hour or an hour
// by second, or the whole list of some days as of an instant.
type seriesKey struct {
	application uuid.UUID
	start       int64
	unit        unit  // of a list its length
	until       int64 // Unix milliseconds; 0 for what is the same at every instant
	anyModel    bool
	model       string
	narrowed    string // by what else
}

func partsKey(q CallsQuery, s timeBucket) seriesKey {
	key := seriesKey{application: q.Application, start: s.start, unit: s.unit, anyModel: q.Model == nil, narrowed: q.narrowed()}
	if q.Model != nil {
		key.model = *q.Model
	}
	if s.fromRows {
		key.until = q.Until.UnixMilli()
	}
	return key
}

func daysKey(q CallsQuery, days beijing.Range) seriesKey {
	return partsKey(q, timeBucket{start: days.Start.Start().Unix(), unit: unit(days.Days()) * day})
}

func listKey(q CallsQuery, days beijing.Range) seriesKey {
	key := daysKey(q, days)
	key.until = q.Until.UnixMilli()
	return key
}

// rollupsKey names what the rollups told of some days when they were last asked. The rows of its buckets are the same whatever
// the model.
func rollupsKey(q CallsQuery, days beijing.Range) seriesKey {
	q.Model = nil
	key := daysKey(q, days)
	key.until = lastAsked
	return key
}

// lastAsked is the until of what is true of no instant.
const lastAsked = -1

// cache is an otter.Cache. As an interface it is compiled here alone, and not once more by each package that
// imports this one; values that are pointers share what is compiled.
type cache[V any] interface {
	GetIfPresent(key seriesKey) (V, bool)
	Set(key seriesKey, value V) (V, bool)
	Invalidate(key seriesKey) (V, bool)
	EstimatedSize() int
}

// seriesCache remembers how the calls of large days and hours lie in them. A late call changes the
// day's or the hour's own count, which the rollup tells each time, so an entry that is out of date
// is never used.
type seriesCache struct {
	entries cache[*series]
	settled cache[*settled]  // of the newest hours
	rows    rowsCache        // of pages whose calls are far apart
	large   cache[*struct{}] // applications whose newest days held much when they were last counted
}

func newSeriesCache() *seriesCache {
	return &seriesCache{
		entries: otter.Must(&otter.Options[seriesKey, *series]{
			MaximumWeight: maxCachedBuckets,
			Weigher:       func(_ seriesKey, t *series) uint32 { return uint32(len(*t) + 1) },
		}),
		settled: otter.Must(&otter.Options[seriesKey, *settled]{
			MaximumWeight: maxCachedSettled,
			Weigher:       func(_ seriesKey, s *settled) uint32 { return uint32(len(s.seconds) + 1) },
		}),
		rows:  newRowsCache(),
		large: otter.Must(&otter.Options[seriesKey, *struct{}]{MaximumSize: maxCachedLarge}),
	}
}

// get returns the parts of a bucket if they still add up to what is counted of it now.
func (c *seriesCache) get(key seriesKey, now timeBucket) (series, bool) {
	t, ok := c.list(key)
	if !ok {
		return nil, false
	}
	sum := t.sum()
	return t, sum.calls == now.calls && sum.successes == now.successes
}

// list returns what was counted as of an instant, which stays true.
func (c *seriesCache) list(key seriesKey) (series, bool) {
	t, ok := c.entries.GetIfPresent(key)
	if !ok {
		return nil, false
	}
	return *t, true
}

// isLarge tells whether the newest days of an application held much when they were last counted.
func (c *seriesCache) isLarge(application uuid.UUID) bool {
	_, ok := c.large.GetIfPresent(seriesKey{application: application})
	return ok
}

func (c *seriesCache) setLarge(application uuid.UUID, is bool) {
	if key := (seriesKey{application: application}); is {
		c.large.Set(key, &struct{}{})
	} else {
		c.large.Invalidate(key)
	}
}

func (c *seriesCache) forget(key seriesKey) { c.entries.Invalidate(key) }

func (c *seriesCache) put(key seriesKey, t series) { c.entries.Set(key, &t) }
