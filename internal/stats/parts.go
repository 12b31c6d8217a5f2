package stats

import (
	"github.com/google/uuid"
	"github.com/maypok86/otter/v2"

	"callgate/internal/beijing"
)

// keptSpans bounds the cache, to 43 MB: a span takes 48 bytes, an hour has at most 3,600.
const keptSpans = 900_000

// keptSettled bounds what is remembered of the newest hours, in spans, to 14 MB.
const keptSettled = 300_000

// partKey names what was counted for one application and one model, or all: a day by hour or an hour
// by second, or the whole list of some days as of an instant.
type partKey struct {
	application uuid.UUID
	start       int64
	unit        unit  // of a list its length
	until       int64 // Unix milliseconds; 0 for what is the same at every instant
	anyModel    bool
	model       string
}

func partsOf(q CallsQuery, s span) partKey {
	key := partKey{application: q.Application, start: s.start, unit: s.unit, anyModel: q.Model == nil}
	if q.Model != nil {
		key.model = *q.Model
	}
	if s.fromRows {
		key.until = q.Until.UnixMilli()
	}
	return key
}

func listOf(q CallsQuery, days beijing.Range) partKey {
	return partsOf(q, span{start: days.Start.Start().Unix(), unit: unit(days.Days()) * day, fromRows: true})
}

// partCache remembers how the calls of large days and hours lie in them. A late call changes the
// day's or the hour's own count, which the rollup tells each time, so an entry that is out of date
// is never used.
type partCache struct {
	entries *otter.Cache[partKey, tally]
	settled *otter.Cache[partKey, settled] // of the newest hours
}

func newPartCache() *partCache {
	return &partCache{
		entries: otter.Must(&otter.Options[partKey, tally]{
			MaximumWeight: keptSpans,
			Weigher:       func(_ partKey, t tally) uint32 { return uint32(len(t) + 1) },
		}),
		settled: otter.Must(&otter.Options[partKey, settled]{
			MaximumWeight: keptSettled,
			Weigher:       func(_ partKey, s settled) uint32 { return uint32(len(s.seconds) + 1) },
		}),
	}
}

// get returns the parts of a span if they still add up to what is counted of it now.
func (c *partCache) get(key partKey, now span) (tally, bool) {
	t, ok := c.entries.GetIfPresent(key)
	if !ok {
		return nil, false
	}
	sum := t.summary()
	return t, sum.Calls == now.calls && sum.Successes == now.successes
}

// list returns what was counted as of an instant, which stays true.
func (c *partCache) list(key partKey) (tally, bool) { return c.entries.GetIfPresent(key) }

func (c *partCache) forget(key partKey) { c.entries.Invalidate(key) }

func (c *partCache) put(key partKey, t tally) { c.entries.Set(key, t) }
