package stats

import (
	"cmp"
	"context"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

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

var (
	ofAll    = grouped{`toInt32(0), ''`, ``}
	perDay   = grouped{`toInt32(u.day), ''`, ` GROUP BY u.day`}
	perModel = grouped{`toInt32(0), toString(u.model)`, ` GROUP BY u.model`}
)

// EveryonesUsage gives the figures of everyone by day, of one capability or, model nil, of all; who is left out costs reading
// every application's. Faults: Unavailable.
func (r *Reader) EveryonesUsage(ctx context.Context, who Everyone, days beijing.Range, model *string) (usage Usage, err error) {
	usage.Daily = make([]DayMetrics, 0, days.Days())
	for day := range days.Each() {
		usage.Daily = append(usage.Daily, DayMetrics{Date: day})
	}
	var sum durationSum
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return r.everyones(groupCtx, who, days, model, perDay, func(day int32, _ string, f durationSum) {
			usage.Daily[beijing.Day(day)-days.Start].Metrics = f.metrics()
			sum.calls, sum.successes, sum.durationMs = sum.calls+f.calls, sum.successes+f.successes, sum.durationMs+f.durationMs
		})
	})
	group.Go(func() error {
		return r.everyones(groupCtx, who, days, model, ofAll, func(_ int32, _ string, f durationSum) { usage.Summary = f.metrics() })
	})
	if err := group.Wait(); err != nil {
		return Usage{}, err
	}
	whole := usage.Summary // a moment younger or older
	usage.Summary = newMetrics(sum.calls, sum.successes, sum.durationMs, nil)
	usage.Summary.P50Ms, usage.Summary.P95Ms, usage.Summary.P99Ms = whole.P50Ms, whole.P95Ms, whole.P99Ms
	return usage, nil
}

// EveryonesModels gives the figures of everyone by capability, the most calls first. Faults: Unavailable.
func (r *Reader) EveryonesModels(ctx context.Context, who Everyone, days beijing.Range) (models []ModelMetrics, err error) {
	err = r.everyones(ctx, who, days, nil, perModel, func(_ int32, model string, f durationSum) {
		models = append(models, ModelMetrics{model, f.metrics()})
	})
	slices.SortFunc(models, func(a, b ModelMetrics) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Model, b.Model))
	})
	return models, err
}

// durationSum is a row of everyonesFigures.
type durationSum struct {
	calls, successes, durationMs int64
	buckets                      []uint16 // of the percentiles
}

func (s durationSum) metrics() Metrics {
	return newMetrics(s.calls, s.successes, s.durationMs, s.buckets)
}

func (r *Reader) everyones(ctx context.Context, who Everyone, days beijing.Range, model *string, by grouped, take func(day int32, model string, f durationSum)) error {
	if days = r.keptStatistics(days); days.Days() < 1 {
		return nil
	}
	condition, pairs := who.condition()
	pairs = append(pairs, "start", days.Start, "end", days.End)
	if model != nil {
		condition, pairs = condition+" AND "+ofModel, append(pairs, "model", *model)
	}
	query := "SELECT " + by.columns + "," + everyonesFigures + condition + by.by + inTheSameWords
	return r.each(ctx, "usage of everyone", query, args(pairs...), func(rows driver.Rows) error {
		var day int32
		var of string
		var f durationSum
		if err := rows.Scan(&day, &of, &f.calls, &f.successes, &f.durationMs, &f.buckets); err != nil {
			return unavailable(err, "read usage of everyone")
		}
		take(day, of, f)
		return nil
	})
}

// everyonesTokens is answered from the projection of_models of tokens_daily.
const everyonesTokens = `
SELECT toInt32(t.day),` + namedModel + reportedSums + `
WHERE t.day BETWEEN {start:Date} AND {end:Date}`

// tokenSums are the columns of reportedSums.
type tokenSums [17]int64

type tokenGroup struct {
	day          int32
	model, named string
}

// EveryonesTokens is DayTokens of everyone, of one capability or, model nil, of all. Faults: Unavailable.
func (r *Reader) EveryonesTokens(ctx context.Context, who Everyone, days beijing.Range, model *string, named []string, take func(*ModelTokens)) error {
	if days = r.keptStatistics(days); days.Days() < 1 {
		return nil
	}
	groups := map[tokenGroup]*tokenSums{}
	err := who.twice(func(condition string, pairs []any, sign int64) error {
		pairs = append(pairs, "start", days.Start, "end", days.End, "named", named)
		if model != nil {
			condition, pairs = condition+" AND "+ofModel, append(pairs, "model", *model)
		}
		return r.addTokens(ctx, groups, everyonesTokens+condition+" GROUP BY t.day, t.model, named_model", args(pairs...), sign)
	})
	if err != nil {
		return err
	}
	for _, of := range inOrder(groups) {
		m := groups[of].tokens()
		m.Day, m.Model, m.UpstreamModel = beijing.Day(of.day), of.model, of.named
		take(&m)
	}
	return nil
}

func (r *Reader) addTokens(ctx context.Context, groups map[tokenGroup]*tokenSums, query string, parameters []any, sign int64) error {
	var of tokenGroup
	var sums tokenSums
	columns := []any{&of.day, &of.model, &of.named}
	for i := range sums {
		columns = append(columns, &sums[i])
	}
	return r.each(ctx, "tokens of everyone", query, parameters, func(rows driver.Rows) error {
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

func inOrder(groups map[tokenGroup]*tokenSums) []tokenGroup {
	ordered := make([]tokenGroup, 0, len(groups))
	for of := range groups {
		ordered = append(ordered, of)
	}
	slices.SortFunc(ordered, func(a, b tokenGroup) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.model, b.model), cmp.Compare(a.named, b.named))
	})
	return ordered
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
