package verify

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/stats"
)

// between are the calls from an instant on and before another one.
const between = "start_time >= fromUnixTimestamp64Milli({from:Int64} * 1000, 'Asia/Shanghai') AND start_time < fromUnixTimestamp64Milli({to:Int64} * 1000, 'Asia/Shanghai')"

// recounted is the figures of one or several applications, counted from the rows of calls alone, so
// that what the rollups answer can be proven. It holds one histogram per day and per model, however
// many calls there are.
type recounted struct {
	total   aggregate
	byDay   map[beijing.Day]*aggregate
	byModel map[string]*aggregate
}

// newRecounted returns a recount of no calls.
func newRecounted() *recounted {
	return &recounted{byDay: map[beijing.Day]*aggregate{}, byModel: map[string]*aggregate{}}
}

// recountQuery works out day and bucket from the numbers themselves, not as the views do it.
var recountQuery = `
SELECT
    toInt32(intDiv(toUnixTimestamp64Milli(start_time) + 8 * 3600000, 24 * 3600000)) AS day,
    toString(model) AS of_model,
    toUInt8(greatest(ceil(log2(toUInt64(duration_ms) + 1)) - 6, 0)) AS shift,
    toUInt16(32 * shift + bitShiftRight(duration_ms, shift)) AS bucket,
    toInt64(count()), toInt64(countIf(success)), toInt64(sum(duration_ms))
FROM calls
WHERE application_id = {application:UUID} AND ` + between + `
GROUP BY day, of_model, shift, bucket`

// recount counts the calls of one application in the days that are answered. It reads every row of
// the range: seconds for millions of calls. Faults: Unavailable.
func (v *verifier) recount(ctx context.Context, application uuid.UUID, days beijing.Range) (*recounted, error) {
	c := newRecounted()
	days = v.Stats.KeptCalls(days)
	if days.Days() < 1 {
		return c, nil
	}
	parameters := []any{"application", application, "from", days.Start.Start().Unix(), "to", days.End.End().Unix()}
	err := v.Stats.Stream(ctx, "recount", recountQuery, parameters, func(scan func(...any) error) error {
		var day int32
		var model string
		var shift uint8
		var bucket uint16
		var part sums
		if err := scan(&day, &model, &shift, &bucket, &part.calls, &part.successes, &part.durationMs); err != nil {
			return err
		}
		c.add(beijing.Day(day), model, bucket, part)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// add counts calls of one bucket.
func (c *recounted) add(day beijing.Day, model string, bucket uint16, part sums) {
	for _, of := range []*aggregate{&c.total, at(c.byDay, day), at(c.byModel, model)} {
		of.sums.add(part)
		of.count(bucket, part.calls)
	}
}

// merge adds the calls of another recount of the same days; an account is the sum of its
// applications.
func (c *recounted) merge(other *recounted) {
	c.total.add(&other.total)
	for day, part := range other.byDay {
		at(c.byDay, day).add(part)
	}
	for model, part := range other.byModel {
		at(c.byModel, model).add(part)
	}
}

func at[K comparable](all map[K]*aggregate, key K) *aggregate {
	t := all[key]
	if t == nil {
		t = &aggregate{}
		all[key] = t
	}
	return t
}

// summary is the figures of all calls.
func (c *recounted) summary() stats.Metrics { return c.total.metrics() }

// within is the figures of some of the days.
func (c *recounted) within(days beijing.Range) stats.Metrics {
	var sum aggregate
	for day, part := range c.byDay {
		if days.Contains(day) {
			sum.add(part)
		}
	}
	return sum.metrics()
}

// all tells whether no call is outside of some days.
func (c *recounted) all(days beijing.Range) bool {
	for day := range c.byDay {
		if !days.Contains(day) {
			return false
		}
	}
	return true
}

// usage is what stats.Reader.Usage must answer for the days.
func (c *recounted) usage(days beijing.Range) stats.Usage {
	usage := stats.Usage{Summary: c.total.metrics(), Daily: []stats.DayMetrics{}, Models: []stats.ModelMetrics{}}
	for day := range days.Each() {
		usage.Daily = append(usage.Daily, stats.DayMetrics{Date: day, Metrics: c.byDay[day].metrics()})
	}
	for model, t := range c.byModel {
		usage.Models = append(usage.Models, stats.ModelMetrics{Model: model, Metrics: t.metrics()})
	}
	slices.SortFunc(usage.Models, func(a, b stats.ModelMetrics) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Model, b.Model))
	})
	return usage
}

// days are the days with calls, newest first.
func (c *recounted) days() []beijing.Day {
	return slices.SortedFunc(maps.Keys(c.byDay), func(a, b beijing.Day) int { return cmp.Compare(b, a) })
}

// callsPerDay are the calls counted on each day; days without calls are left out.
func (c *recounted) callsPerDay() map[beijing.Day]int64 {
	perDay := make(map[beijing.Day]int64, len(c.byDay))
	for day, t := range c.byDay {
		perDay[day] = t.calls
	}
	return perDay
}

var rowsPerDayQuery = `
SELECT toInt32(intDiv(toUnixTimestamp64Milli(start_time) + 8 * 3600000, 24 * 3600000)) AS day, toInt64(count())
FROM calls
WHERE application_id IN {applications:Array(UUID)} AND ` + between + `
GROUP BY day`

// rowsPerDay counts the rows of applications again, which tells whether calls arrived since
// they were recounted. Faults: Unavailable.
func (v *verifier) rowsPerDay(ctx context.Context, applications []uuid.UUID, days beijing.Range) (map[beijing.Day]int64, error) {
	perDay := map[beijing.Day]int64{}
	days = v.Stats.KeptCalls(days)
	if len(applications) == 0 || days.Days() < 1 {
		return perDay, nil
	}
	parameters := []any{"applications", applications, "from", days.Start.Start().Unix(), "to", days.End.End().Unix()}
	err := v.Stats.Stream(ctx, "rows per day", rowsPerDayQuery, parameters, func(scan func(...any) error) error {
		var day int32
		var n int64
		if err := scan(&day, &n); err != nil {
			return err
		}
		perDay[beijing.Day(day)] = n
		return nil
	})
	return perDay, err
}

// sums are what adds up of a set of calls.
type sums struct{ calls, successes, durationMs int64 }

func (s *sums) add(part sums) {
	s.calls += part.calls
	s.successes += part.successes
	s.durationMs += part.durationMs
}

// aggregate is a set of calls and how many of them fell into each duration bucket.
type aggregate struct {
	sums
	buckets []int64 // by number; none are beyond its end
}

func (t *aggregate) add(part *aggregate) {
	t.sums.add(part.sums)
	t.reach(len(part.buckets))
	for bucket, n := range part.buckets {
		t.buckets[bucket] += n
	}
}

func (t *aggregate) count(bucket uint16, n int64) {
	t.reach(int(bucket) + 1)
	t.buckets[bucket] += n
}

// reach makes room for so many buckets.
func (t *aggregate) reach(buckets int) {
	if more := buckets - len(t.buckets); more > 0 {
		t.buckets = append(t.buckets, make([]int64, more)...)
	}
}

// percentileLevels are those of figures, in ten-millionths.
var percentileLevels = [...]int64{4_999_999, 9_499_999, 9_899_999}

// metrics takes the percentiles at the rank of figures: ceil(level * calls), the level a hair low.
func (t *aggregate) metrics() stats.Metrics {
	if t == nil || t.calls == 0 {
		return stats.Metrics{}
	}
	const whole = 10_000_000
	found := make([]uint16, 0, len(percentileLevels))
	for _, level := range percentileLevels {
		rank := t.calls/whole*level + (t.calls%whole*level+whole-1)/whole
		for bucket, n := range t.buckets {
			if rank -= n; rank <= 0 {
				found = append(found, uint16(bucket))
				break
			}
		}
	}
	return stats.NewMetrics(t.calls, t.successes, t.durationMs, found)
}
