package stats

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"callgate/internal/beijing"
)

// SlotTokens are the tokens of one capability and model that answered, in one span of hours, on one Beijing day.
type SlotTokens struct {
	Slot                                         int // from 0
	Day                                          beijing.Day
	Model, UpstreamModel                         string
	Reported, Partial, Absent, Unreadable        int64 // calls by what their answers report
	Calls                                        int64 // with input or output tokens
	Input, Output, Cached, CacheWrite, Reasoning int64
	Metered                                      // of those meters that are tokens the sums have it as well
}

const slotOfHour = `toInt32(arrayCount(start -> start <= toInt64(toUnixTimestamp(hour)), {starts:Array(Int64)})) - 1`

const ofSlot = `toInt32(` + slotOfHour + `) AS slot, toInt32(intDiv(toInt64(toUnixTimestamp(hour)) + 28800, 86400)) AS of_day, toString(t.model) AS of_model, toString(t.upstream_model) AS of_upstream,`

// slotMetersQuery is answered from the projection of_models of meters_hourly.
const slotMetersQuery = `
SELECT ` + ofSlot + ` toString(t.tier), t.band, toString(t.extras), toString(t.meter), sum(t.amount)
FROM meters_hourly AS t
WHERE t.hour >= toDateTime({from:Int64}, 'Asia/Shanghai') AND t.hour < toDateTime({until:Int64}, 'Asia/Shanghai')`

// slotTokensQuery is answered from the projection of_models of tokens_hourly.
const slotTokensQuery = `
SELECT ` + ofSlot + `
    sum(t.reported), sum(t.partial), sum(t.absent), sum(t.unreadable), sum(t.counted) AS counted_calls,
    sum(t.input), sum(t.output), sum(t.cached), sum(t.cache_write), sum(t.reasoning)
FROM tokens_hourly AS t
WHERE t.hour >= toDateTime({from:Int64}, 'Asia/Shanghai') AND t.hour < toDateTime({until:Int64}, 'Asia/Shanghai')`

const slotCallsQuery = `
SELECT toInt32(` + slotOfHour + `) AS slot, toString(u.model) AS of_model, sum(u.calls)
FROM usage_hourly AS u
WHERE u.hour >= toDateTime({from:Int64}, 'Asia/Shanghai') AND u.hour < toDateTime({until:Int64}, 'Asia/Shanghai')`

// SlotTokens gives what calls of everyone reported, by spans of whole hours that begin at starts, ascending; the last ends at
// until. Faults: Unavailable.
func (r *Reader) SlotTokens(ctx context.Context, who Everyone, starts []time.Time, until time.Time) ([]SlotTokens, error) {
	sums, lines := map[slotGroup]*SlotTokens{}, map[slotGroup]map[string]int64{}
	err := who.twice(func(condition string, pairs []any, sign int64) error {
		pairs = append(pairs, slotPairs(starts, until)...)
		query := slotTokensQuery + condition + " GROUP BY slot, of_day, of_model, of_upstream"
		err := r.each(fromProjections(ctx), "tokens by hour", query, args(pairs...), func(rows driver.Rows) error {
			var g slotGroup
			var n [10]int64
			columns := []any{&g.slot, &g.day, &g.model, &g.upstream}
			for i := range n {
				columns = append(columns, &n[i])
			}
			if err := rows.Scan(columns...); err != nil {
				return unavailable(err, "read tokens by hour")
			}
			sum := sums[g]
			if sum == nil {
				sum = &SlotTokens{Slot: int(g.slot), Day: beijing.Day(g.day), Model: g.model, UpstreamModel: g.upstream}
				sums[g] = sum
			}
			for i, to := range []*int64{&sum.Reported, &sum.Partial, &sum.Absent, &sum.Unreadable, &sum.Calls, &sum.Input, &sum.Output, &sum.Cached, &sum.CacheWrite, &sum.Reasoning} {
				*to += sign * n[i]
			}
			return nil
		})
		if err != nil {
			return err
		}
		return r.addSlotMeters(ctx, lines, slotMetersQuery+condition+" GROUP BY slot, of_day, of_model, of_upstream"+meteredGroups+", t.meter", args(pairs...), sign)
	})
	found := make([]SlotTokens, 0, len(sums)+len(lines))
	for _, sum := range sums {
		found = append(found, *sum)
	}
	for g, meters := range lines {
		t := SlotTokens{Slot: int(g.slot), Day: beijing.Day(g.day), Model: g.model, UpstreamModel: g.upstream,
			Input: meters["input"], Output: meters["output"], Cached: meters["cached_input"], CacheWrite: meters["cache_write"], Reasoning: meters["reasoning"]}
		t.Calls = t.take(g.tier, g.band, meters)
		found = append(found, t)
	}
	return found, err
}

// slotGroup is what a SlotTokens is of.
type slotGroup struct {
	slot, day       int32
	model, upstream string
	tier            string
	band            uint32
	extras          string
}

func (r *Reader) addSlotMeters(ctx context.Context, lines map[slotGroup]map[string]int64, query string, parameters []any, sign int64) error {
	return r.each(fromProjections(ctx), "meters by hour", query, parameters, func(rows driver.Rows) error {
		var g slotGroup
		var meter string
		var amount int64
		if err := rows.Scan(&g.slot, &g.day, &g.model, &g.upstream, &g.tier, &g.band, &g.extras, &meter, &amount); err != nil {
			return unavailable(err, "read meters by hour")
		}
		if lines[g] == nil {
			lines[g] = map[string]int64{}
		}
		lines[g][meter] += sign * amount
		return nil
	})
}

// SlotModel is a capability in a span of hours.
type SlotModel struct {
	Slot  int
	Model string
}

// SlotCalls counts the calls of everyone in the same spans, whatever became of them. Faults: Unavailable.
func (r *Reader) SlotCalls(ctx context.Context, who Everyone, starts []time.Time, until time.Time) (map[SlotModel]int64, error) {
	found := map[SlotModel]int64{}
	err := who.twice(func(condition string, pairs []any, sign int64) error {
		query := slotCallsQuery + condition + " GROUP BY slot, of_model"
		return r.each(ctx, "calls by hour", query, args(append(pairs, slotPairs(starts, until)...)...), func(rows driver.Rows) error {
			var slot int32
			var model string
			var calls int64
			if err := rows.Scan(&slot, &model, &calls); err != nil {
				return unavailable(err, "read calls by hour")
			}
			found[SlotModel{int(slot), model}] += sign * calls
			return nil
		})
	})
	return found, err
}

// SlotUncounted are calls of which no figure has what they used, counted from the rows: they are in no rollup.
type SlotUncounted struct {
	Slot                 int
	Model, UpstreamModel string
	Deferred             int64 // what they use is told later, elsewhere
	Estimated            int64 // limits were charged an estimate
	Unanswered           int64 // of either, those that are in no count of what answers report
}

var slotUncountedQuery = `
SELECT toInt32(arrayCount(start -> start <= intDiv(toUnixTimestamp64Milli(start_time), 1000), {starts:Array(Int64)}) - 1) AS slot, toString(model) AS of_model, toString(upstream_model) AS of_upstream,
    toInt64(countIf(usage_state = 'deferred')), toInt64(countIf(estimated_tokens > 0)), toInt64(countIf(usage_state IN ('', 'none', 'deferred', 'repeated')))
FROM calls
WHERE (usage_state = 'deferred' OR estimated_tokens > 0) AND ` + since("from") + ` AND ` + before("until")

// SlotUncounted gives them of everyone, in the same spans. Faults: Unavailable.
func (r *Reader) SlotUncounted(ctx context.Context, who Everyone, starts []time.Time, until time.Time) (found []SlotUncounted, err error) {
	condition, pairs := who.condition()
	query := slotUncountedQuery + condition + " GROUP BY slot, of_model, of_upstream"
	err = r.each(ctx, "calls without figures", query, args(append(pairs, slotPairs(starts, until)...)...), func(rows driver.Rows) error {
		var u SlotUncounted
		var slot int32
		if err := rows.Scan(&slot, &u.Model, &u.UpstreamModel, &u.Deferred, &u.Estimated, &u.Unanswered); err != nil {
			return unavailable(err, "read calls without figures")
		}
		u.Slot = int(slot)
		found = append(found, u)
		return nil
	})
	return found, err
}

func slotPairs(starts []time.Time, until time.Time) []any {
	seconds := make([]int64, len(starts))
	for i, start := range starts {
		seconds[i] = start.Unix()
	}
	return []any{"starts", seconds, "from", seconds[0], "until", until.Unix()}
}
