package stats

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// Recount is the figures of one or several applications, counted from the rows of calls alone, so
// that what the rollups answer can be proven. It holds one histogram per day and per model, however
// many calls there are.
type Recount struct {
	total   aggregate
	byDay   map[beijing.Day]*aggregate
	byModel map[string]*aggregate
}

// NewRecount returns a recount of no calls.
func NewRecount() *Recount {
	return &Recount{byDay: map[beijing.Day]*aggregate{}, byModel: map[string]*aggregate{}}
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
WHERE application_id = {application:UUID} AND ` + since("from") + ` AND ` + before("to") + `
GROUP BY day, of_model, shift, bucket`

// Recount counts the calls of one application in the days that are answered. It reads every row of
// the range: seconds for millions of calls. Faults: Unavailable.
func (r *Reader) Recount(ctx context.Context, application uuid.UUID, days beijing.Range) (*Recount, error) {
	c := NewRecount()
	days = r.keptCalls(days)
	if days.Days() < 1 {
		return c, nil
	}
	parameters := args("application", application, "from", days.Start.Start().Unix(), "to", days.End.End().Unix())
	err := r.stream(ctx, r.conn, "recount", recountQuery, parameters, func(rows driver.Rows) error {
		var day int32
		var model string
		var shift uint8
		var bucket uint16
		var part sums
		if err := rows.Scan(&day, &model, &shift, &bucket, &part.calls, &part.successes, &part.durationMs); err != nil {
			return unavailable(err, "recount")
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
func (c *Recount) add(day beijing.Day, model string, bucket uint16, part sums) {
	for _, of := range []*aggregate{&c.total, at(c.byDay, day), at(c.byModel, model)} {
		of.sums.add(part)
		of.count(bucket, part.calls)
	}
}

// Merge adds the calls of another recount of the same days; an account is the sum of its
// applications.
func (c *Recount) Merge(other *Recount) {
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

// Summary is the figures of all calls.
func (c *Recount) Summary() Metrics { return c.total.metrics() }

// Within is the figures of some of the days.
func (c *Recount) Within(days beijing.Range) Metrics {
	var sum aggregate
	for day, part := range c.byDay {
		if days.Contains(day) {
			sum.add(part)
		}
	}
	return sum.metrics()
}

// All tells whether no call is outside of some days.
func (c *Recount) All(days beijing.Range) bool {
	for day := range c.byDay {
		if !days.Contains(day) {
			return false
		}
	}
	return true
}

// Usage is what Reader.Usage must answer for the days.
func (c *Recount) Usage(days beijing.Range) Usage {
	u := newTallies()
	u.whole = c.total.tally()
	for day, t := range c.byDay {
		u.days[day] = t.tally()
	}
	for model, t := range c.byModel {
		u.models[model] = t.tally()
	}
	return u.usage(days)
}

// Days are the days with calls, newest first.
func (c *Recount) Days() []beijing.Day {
	return slices.SortedFunc(maps.Keys(c.byDay), func(a, b beijing.Day) int { return cmp.Compare(b, a) })
}

// CallsPerDay are the calls counted on each day; days without calls are left out.
func (c *Recount) CallsPerDay() map[beijing.Day]int64 {
	perDay := make(map[beijing.Day]int64, len(c.byDay))
	for day, t := range c.byDay {
		perDay[day] = t.calls
	}
	return perDay
}

var rowsPerDayQuery = `
SELECT toInt32(intDiv(toUnixTimestamp64Milli(start_time) + 8 * 3600000, 24 * 3600000)) AS day, toInt64(count())
FROM calls
WHERE application_id IN {applications:Array(UUID)} AND ` + since("from") + ` AND ` + before("to") + `
GROUP BY day`

// RowsPerDay counts the rows of applications again, which tells whether calls arrived since a
// Recount. Faults: Unavailable.
func (r *Reader) RowsPerDay(ctx context.Context, applications []uuid.UUID, days beijing.Range) (map[beijing.Day]int64, error) {
	perDay := map[beijing.Day]int64{}
	days = r.keptCalls(days)
	if len(applications) == 0 || days.Days() < 1 {
		return perDay, nil
	}
	parameters := args("applications", applications, "from", days.Start.Start().Unix(), "to", days.End.End().Unix())
	err := r.stream(ctx, r.conn, "rows per day", rowsPerDayQuery, parameters, func(rows driver.Rows) error {
		var day int32
		var n int64
		if err := rows.Scan(&day, &n); err != nil {
			return unavailable(err, "rows per day")
		}
		perDay[beijing.Day(day)] = n
		return nil
	})
	return perDay, err
}

var rowsQuery = `
SELECT` + callColumns + `
FROM calls
WHERE application_id = {application:UUID} AND ` + since("from") + ` AND ` + before("to") + `
ORDER BY start_time DESC, call_id DESC`

// Rows yields every call of an application on some days, newest day first, in the order of Calls,
// straight from the table: no count decides where to look. Of a failed call it has the reason,
// without its message. An error ends it. Faults: Unavailable.
func (r *Reader) Rows(ctx context.Context, application uuid.UUID, days []beijing.Day) iter.Seq2[FailedCall, error] {
	return func(yield func(FailedCall, error) bool) {
		for _, day := range days { // a sort of a day at a time
			parameters := args("application", application, "from", day.Start().Unix(), "to", day.End().Unix())
			stopped := false
			err := r.stream(ctx, r.conn, "rows", rowsQuery, parameters, func(rows driver.Rows) error {
				call, err := scanFailedCall(rows)
				if err != nil {
					return err
				}
				if !yield(*call, nil) {
					stopped = true
					return context.Canceled
				}
				return nil
			})
			if stopped {
				return
			}
			if err != nil {
				yield(FailedCall{}, err)
				return
			}
		}
	}
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

// tally takes the percentiles at the rank of figures: ceil(level * calls), the level a hair low.
func (t *aggregate) tally() tally {
	if t == nil || t.calls == 0 {
		return tally{}
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
	return tally{t.sums, found}
}

func (t *aggregate) metrics() Metrics { return t.tally().metrics() }
