package stats

import (
	"github.com/google/uuid"
	"github.com/maypok86/otter/v2"
)

// secondHours bounds the memory of the cache: an hour takes at most 3,600 spans of 40 bytes.
const secondHours = 256

// secondKey names what was counted by second: one hour of one application, for one model or all.
type secondKey struct {
	application uuid.UUID
	hour        int64
	anyModel    bool
	model       string
}

func secondsOf(q CallsQuery, s span) secondKey {
	key := secondKey{application: q.Application, hour: s.start, anyModel: q.Model == nil}
	if q.Model != nil {
		key.model = *q.Model
	}
	return key
}

// secondCache remembers the calls per second of large hours. A late call changes the hour's own
// count, which the rollup tells each time, so an entry that is out of date is never used.
type secondCache struct {
	entries *otter.Cache[secondKey, tally]
}

func newSecondCache() *secondCache {
	return &secondCache{otter.Must(&otter.Options[secondKey, tally]{MaximumSize: secondHours})}
}

// get returns the seconds of an hour if they still add up to what is counted of it now.
func (c *secondCache) get(key secondKey, now span) (tally, bool) {
	t, ok := c.entries.GetIfPresent(key)
	if !ok {
		return nil, false
	}
	sum := t.summary()
	return t, sum.Calls == now.calls && sum.Successes == now.successes
}

func (c *secondCache) put(key secondKey, t tally) { c.entries.Set(key, t) }
