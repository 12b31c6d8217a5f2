package stats

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"callgate/internal/beijing"
)

// everyonesFigures are figures as the projection of_models of usage_daily has them: only what is asked for in the same
// words is answered from it, and not together with sets of groups.
const everyonesFigures = `
    sum(u.calls) AS total, sum(u.successes), sum(u.duration_ms),
    arrayMap(bucket -> toUInt16(if(isFinite(bucket), bucket, 0)), quantilesTimingWeightedArray(0.4999999, 0.9499999, 0.9899999)(
        u.durations.1, CAST(u.durations.2 * 1000, 'Array(UInt64)')))
FROM usage_daily AS u
WHERE u.day BETWEEN {start:Date} AND {end:Date}`

// inTheSameWords keeps ClickHouse from wording it otherwise.
const inTheSameWords = ` HAVING total != 0 SETTINGS optimize_functions_to_subcolumns = 0`

// grouped is what the figures of everyone are told apart by.
type grouped struct{ columns, by string }

// A rollup gives the whole beside the days, of one reading.
var (
	perDay   = grouped{`grouping(u.day) = 1, toInt32(u.day), ''`, ` GROUP BY u.day WITH ROLLUP`}
	perModel = grouped{`false, toInt32(0), toString(u.model)`, ` GROUP BY u.model`}
)

// EveryonesUsage gives the figures of everyone by day, of one capability or, model nil, of all; who is left out costs reading
// every application's. Faults: Unavailable.
func (r *Reader) EveryonesUsage(ctx context.Context, who Everyone, days beijing.Range, model *string) (usage Usage, err error) {
	usage.Daily = eachDay(days)
	err = r.everyones(ctx, who, days, model, perDay, func(f everyonesRow) {
		if f.whole {
			usage.Summary = f.Metrics
		} else {
			usage.Daily[f.day-days.Start].Metrics = f.Metrics
		}
	})
	if err != nil {
		return Usage{}, err
	}
	return usage, nil
}

// EveryonesModels gives the figures of everyone by capability, the most calls first. Faults: Unavailable.
func (r *Reader) EveryonesModels(ctx context.Context, who Everyone, days beijing.Range) (models []ModelMetrics, err error) {
	err = r.everyones(ctx, who, days, nil, perModel, func(f everyonesRow) {
		models = append(models, ModelMetrics{f.model, f.Metrics})
	})
	slices.SortFunc(models, mostCalls)
	return models, err
}

// everyonesRow is a row of everyonesFigures.
type everyonesRow struct {
	whole bool // of all days
	day   beijing.Day
	model string
	Metrics
}

func (r *Reader) everyones(ctx context.Context, who Everyone, days beijing.Range, model *string, by grouped, take func(everyonesRow)) error {
	if days = r.KeptStatistics(days); days.Days() < 1 {
		return nil
	}
	condition, pairs := who.condition()
	pairs = append(pairs, "start", days.Start, "end", days.End)
	if model != nil {
		condition, pairs = condition+" AND "+ofModel, append(pairs, "model", *model)
	}
	query := "SELECT " + by.columns + "," + everyonesFigures + condition + by.by + inTheSameWords
	return r.each(fromProjections(ctx), "usage of everyone", query, args(pairs...), func(rows driver.Rows) error {
		var day int32
		var f everyonesRow
		var err error
		if f.Metrics, err = scanMetrics(rows, &f.whole, &day, &f.model); err != nil {
			return err
		}
		f.day = beijing.Day(day)
		take(f)
		return nil
	})
}

// wholeProjection has a small projection read to its end: to find days in the key of its table, which begins with the
// application, takes longer.
const wholeProjection = ` SETTINGS use_primary_key = 0`

// everyonesTokens is answered from the projection of_models of tokens_daily.
const everyonesTokens = `
SELECT toInt32(t.day),` + namedModel + reportedColumns + `
FROM tokens_daily AS t
WHERE t.day BETWEEN {start:Date} AND {end:Date}`

// everyonesMeters is answered from the projection of_models of meters_daily.
const everyonesMeters = `
SELECT toInt32(t.day),` + namedModel + ` toString(t.tier), t.band, toString(t.extras), toString(t.meter), sum(t.amount)
FROM meters_daily AS t
WHERE t.day BETWEEN {start:Date} AND {end:Date}`

// tokenSums are the columns of reportedColumns.
type tokenSums [17]int64

type tokenGroup struct {
	day          int32
	model, named string
	tier         string
	band         uint32
	extras       string
}

// EveryonesTokens is DayTokens of everyone, of one capability or, model nil, of all. Faults: Unavailable.
func (r *Reader) EveryonesTokens(ctx context.Context, who Everyone, days beijing.Range, model *string, named []string, take func(*ModelTokens)) error {
	if days = r.KeptStatistics(days); days.Days() < 1 {
		return nil
	}
	groups, lines := map[tokenGroup]*tokenSums{}, map[tokenGroup]map[string]int64{}
	err := who.twice(func(condition string, pairs []any, sign int64) error {
		pairs = append(pairs, "start", days.Start, "end", days.End, "named", named)
		if model != nil {
			condition, pairs = condition+" AND "+ofModel, append(pairs, "model", *model)
		}
		tokens, meters := everyonesTokens+condition+" GROUP BY t.day, t.model, named_model", everyonesMeters+condition+" GROUP BY t.day, t.model, named_model"+meteredGroups+", t.meter"
		if sign > 0 {
			tokens, meters = tokens+wholeProjection, meters+wholeProjection
		}
		if err := r.addTokens(ctx, groups, tokens, args(pairs...), sign); err != nil {
			return err
		}
		return r.addMeters(ctx, lines, meters, args(pairs...), sign)
	})
	if err != nil {
		return err
	}
	for _, of := range inOrder(groups) {
		m := groups[of].tokens()
		m.Day, m.Model, m.UpstreamModel = beijing.Day(of.day), of.model, of.named
		take(&m)
	}
	for _, of := range inOrder(lines) {
		m := ModelTokens{Day: beijing.Day(of.day), Model: of.model, UpstreamModel: of.named}
		m.Calls = m.take(of.tier, of.band, lines[of])
		take(&m)
	}
	return nil
}

func (r *Reader) addMeters(ctx context.Context, lines map[tokenGroup]map[string]int64, query string, parameters []any, sign int64) error {
	return r.each(fromProjections(ctx), "meters of everyone", query, parameters, func(rows driver.Rows) error {
		var of tokenGroup
		var meter string
		var amount int64
		if err := rows.Scan(&of.day, &of.model, &of.named, &of.tier, &of.band, &of.extras, &meter, &amount); err != nil {
			return unavailable(err, "read meters of everyone")
		}
		if lines[of] == nil {
			lines[of] = map[string]int64{}
		}
		lines[of][meter] += sign * amount
		return nil
	})
}

func (r *Reader) addTokens(ctx context.Context, groups map[tokenGroup]*tokenSums, query string, parameters []any, sign int64) error {
	var of tokenGroup
	var sums tokenSums
	columns := []any{&of.day, &of.model, &of.named}
	for i := range sums {
		columns = append(columns, &sums[i])
	}
	return r.each(fromProjections(ctx), "tokens of everyone", query, parameters, func(rows driver.Rows) error {
		if err := rows.Scan(columns...); err != nil {
			return unavailable(err, "read tokens of everyone")
		}
		sum := groups[of]
		if sum == nil {
			sum = &tokenSums{}
			groups[of] = sum
		}
		for i, n := range sums {
			sum[i] += sign * n
		}
		return nil
	})
}

func inOrder[V any](groups map[tokenGroup]V) []tokenGroup {
	return slices.SortedFunc(maps.Keys(groups), func(a, b tokenGroup) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.model, b.model), cmp.Compare(a.named, b.named),
			cmp.Compare(a.tier, b.tier), cmp.Compare(a.band, b.band), cmp.Compare(a.extras, b.extras))
	})
}

func (s *tokenSums) tokens() ModelTokens {
	sum := func(tokens, calls int) Count {
		if s[calls] <= 0 {
			return Count{}
		}
		return Count{s[tokens], true}
	}
	return ModelTokens{Calls: s[0], Tokens: Tokens{
		Input: sum(1, 6), Output: sum(2, 7), Cached: sum(3, 8), CacheWrite: sum(4, 9), Reasoning: sum(5, 10),
		TokenStates: TokenStates{Reported: s[11], Partial: s[12], Absent: s[13], Unreadable: s[14], Streamed: s[15], StreamedAbsent: s[16]},
	}}
}
