package stats

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/maypok86/otter/v2"

	"callgate/internal/beijing"
)

// The pages of applications are asked again and again, and all of their figures but today's are what they were. Histograms
// are most of what they cost: of a year there are a million numbers. So what a range had up to yesterday is remembered, and
// told to be out of date by its sums, by day and by capability, which are asked each time. Only today's histograms are read
// then.

const (
	// longPast is from how many days on they are remembered: fewer are sooner read than their sums and today's.
	longPast = 28

	// maxPastBytes bounds what is remembered. A busy application with a dozen capabilities takes 90 KB of it, and so do fifty.
	maxPastBytes = 32 << 20

	// pastTrusted is how long it is believed: a repair could move calls between buckets of durations and leave the sums.
	pastTrusted = time.Hour
)

// pastKey names the days of applications up to a day before today.
type pastKey struct {
	applications [sha256.Size]byte // hash of their ids
	days         beijing.Range
}

func pastKeyOf(applications []uuid.UUID, days beijing.Range) pastKey {
	sorted := slices.SortedFunc(slices.Values(applications), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	ids := make([]byte, 0, len(uuid.UUID{})*len(sorted))
	for _, id := range sorted {
		ids = append(ids, id[:]...)
	}
	return pastKey{sha256.Sum256(ids), days}
}

// pastUsage is what applications did together on past days.
type pastUsage struct {
	days   map[beijing.Day]tally
	models map[string]*aggregate
}

func (p *pastUsage) bytes() uint32 {
	const ofTally, ofModel = 64, 128
	n := ofModel + ofTally*len(p.days)
	for _, m := range p.models {
		n += ofModel + 8*len(m.buckets)
	}
	return uint32(n)
}

// pastCache remembers the past of applications.
type pastCache struct {
	entries interface { // an otter.Cache, see cache
		GetIfPresent(key pastKey) (*pastUsage, bool)
		Set(key pastKey, past *pastUsage) (*pastUsage, bool)
	}
	tokens  tokensCache
	atLeast int // days
}

func newPastCache() *pastCache {
	return &pastCache{atLeast: longPast, tokens: newTokensCache(), entries: otter.Must(&otter.Options[pastKey, *pastUsage]{
		MaximumWeight:    maxPastBytes,
		Weigher:          func(_ pastKey, past *pastUsage) uint32 { return past.bytes() },
		ExpiryCalculator: otter.ExpiryWriting[pastKey, *pastUsage](pastTrusted),
	})}
}

// before gives the days before today of a range that holds today or ends before it; not ok where they are not remembered.
func (r *Reader) before(days beijing.Range) (before beijing.Range, ok bool) {
	today := beijing.Today(r.now())
	before = beijing.Range{Start: days.Start, End: min(days.End, today-1)}
	return before, before.Days() >= r.past.atLeast && days.End <= today
}

// usageOf is countUsage, but of the past as little is read as tells that it is still the same.
func (r *Reader) usageOf(ctx context.Context, applications []uuid.UUID, days beijing.Range) (tallies, error) {
	before, ok := r.before(days)
	if !ok {
		return r.countUsage(ctx, applications, days)
	}
	key := pastKeyOf(applications, before)
	if past, ok := r.past.entries.GetIfPresent(key); ok {
		u, same, err := r.usageSince(ctx, applications, past, before, days.End)
		if same || err != nil {
			return u, err
		}
	}
	past, ofToday, err := r.pastAndToday(ctx, applications, before, days.End)
	switch {
	case err != nil:
		return tallies{}, err
	case past == nil:
		return r.countUsage(ctx, applications, days)
	}
	r.past.entries.Set(key, past)
	return past.with(days.End, ofToday), nil
}

// usageSince is the usage of remembered days and today, if today is asked for; not same tells that the days changed, or that
// today's histograms are not those of its calls.
func (r *Reader) usageSince(ctx context.Context, applications []uuid.UUID, past *pastUsage, before beijing.Range, end beijing.Day) (u tallies, same bool, err error) {
	query := pastSumsQuery
	if end > before.End {
		query += " UNION ALL " + todaysUsageQuery
	}
	days, models, today := map[beijing.Day]sums{}, map[string]sums{}, map[string]*aggregate{}
	parameters := args("applications", applications, "first", before.Start, "last", before.End, "today", end)
	whole := true
	if len(applications) == 1 {
		ctx = inOneThread(ctx)
	}
	err = r.each(ctx, "usage since past days", query, parameters, func(rows driver.Rows) error {
		var of, model string
		var day int32
		var m aggregate
		var buckets []uint16
		var calls []int64
		if err := rows.Scan(&of, &day, &model, &m.calls, &m.successes, &m.durationMs, &buckets, &calls); err != nil {
			return unavailable(err, "read usage since past days")
		}
		switch of {
		case "day":
			days[beijing.Day(day)] = m.sums
		case "model":
			models[model] = m.sums
		default:
			for i, bucket := range buckets {
				m.count(bucket, calls[i])
			}
			today[model] = &m
			whole = whole && m.isWhole()
		}
		return nil
	})
	if err != nil || !whole || !past.adds(days, models) {
		return u, false, err
	}
	return past.with(end, today), true, nil
}

const pastSumsQuery = `
SELECT if(grouping(u.day) = 0, 'day', 'model'), toInt32(u.day), toString(u.model), sum(u.calls) AS total, sum(u.successes), sum(u.duration_ms),
    CAST([], 'Array(UInt16)'), CAST([], 'Array(Int64)')
FROM usage_daily AS u
WHERE u.application_id IN {applications:Array(UUID)} AND u.day BETWEEN {first:Date} AND {last:Date}
GROUP BY GROUPING SETS ((u.day), (u.model))
HAVING total != 0`

const todaysUsageQuery = `
SELECT '', toInt32(0), toString(u.model), sum(u.calls) AS total, sum(u.successes), sum(u.duration_ms), (sumMap(u.durations) AS d).1, d.2
FROM usage_daily AS u
WHERE u.application_id IN {applications:Array(UUID)} AND u.day = {today:Date}
GROUP BY u.model
HAVING total != 0`

// adds tells whether its sums are these, by day and by capability, and no others.
func (p *pastUsage) adds(days map[beijing.Day]sums, models map[string]sums) bool {
	if len(p.days) != len(days) || len(p.models) != len(models) {
		return false
	}
	for day, t := range p.days {
		if days[day] != t.sums {
			return false
		}
	}
	for model, m := range p.models {
		if models[model] != m.sums {
			return false
		}
	}
	return true
}

// with adds the calls of a day by capability.
func (p *pastUsage) with(day beijing.Day, calls map[string]*aggregate) tallies {
	u := newTallies()
	var whole, ofDay aggregate
	for model, m := range p.models {
		if more := calls[model]; more != nil {
			m = m.clone()
			m.add(more)
		}
		u.models[model] = m.tally()
		whole.add(m)
	}
	for model, m := range calls {
		ofDay.add(m)
		if p.models[model] == nil {
			u.models[model] = m.tally()
			whole.add(m)
		}
	}
	for day, t := range p.days {
		u.days[day] = t
	}
	if ofDay.calls != 0 {
		u.days[day] = ofDay.tally()
	}
	u.whole = whole.tally()
	return u
}

// pastAndTodayQuery counts like usageQuery, and gives the histograms of capabilities themselves, past and today's apart.
const pastAndTodayQuery = `
SELECT of_day, is_past, toInt32(day), model, total, successes, duration_ms,
    if(of_day, arrayMap(bucket -> toUInt16(if(isFinite(bucket), bucket, 0)), finalizeAggregation(durations)), []),
    if(of_day, '', substring(toString(durations), 1, {most:UInt32}))
FROM (
    SELECT grouping(u.day) = 0 AS of_day, u.day <= {last:Date} AS is_past, u.day AS day, toString(u.model) AS model,
        sum(u.calls) AS total, sum(u.successes) AS successes, sum(u.duration_ms) AS duration_ms,
        quantilesTimingWeightedArrayState` + ofDurations + ` AS durations
    FROM usage_daily AS u
    WHERE u.application_id IN {applications:Array(UUID)} AND u.day BETWEEN {first:Date} AND {end:Date}
    GROUP BY GROUPING SETS ((u.day), (u.model, is_past))
    HAVING total != 0)`

// pastAndToday counts the days before, and today's calls by capability. past is nil where histograms are not those of the
// calls, or come in a form that is not known: then countUsage tells.
func (r *Reader) pastAndToday(ctx context.Context, applications []uuid.UUID, before beijing.Range, end beijing.Day) (past *pastUsage, today map[string]*aggregate, err error) {
	past, today = &pastUsage{map[beijing.Day]tally{}, map[string]*aggregate{}}, map[string]*aggregate{}
	readable := true
	parameters := args("applications", applications, "first", before.Start, "last", before.End, "end", end, "most", uint32(maxTimingState))
	if len(applications) == 1 {
		ctx = concurrently(ctx)
	}
	err = r.each(ctx, "usage of past days", pastAndTodayQuery, parameters, func(rows driver.Rows) error {
		var ofDay, isPast bool
		var day int32
		var model, state string
		var t tally
		if err := rows.Scan(&ofDay, &isPast, &day, &model, &t.calls, &t.successes, &t.durationMs, &t.buckets, &state); err != nil {
			return unavailable(err, "read usage of past days")
		}
		if ofDay {
			if beijing.Day(day) <= before.End {
				past.days[beijing.Day(day)] = t
			}
			return nil
		}
		m := &aggregate{sums: t.sums}
		readable = readable && m.readTiming(state) && m.isWhole()
		if isPast {
			past.models[model] = m
		} else {
			today[model] = m
		}
		return nil
	})
	if !readable {
		past = nil
	}
	return past, today, err
}
