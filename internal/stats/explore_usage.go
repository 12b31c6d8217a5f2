package stats

import (
	"context"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"callgate/internal/beijing"
)

// Priced is what of a price book decides how far usage can be added up before it is priced.
type Priced struct {
	Spans []beijing.Day // when any price may change, ascending, from the range's first day on
	Named []string      // models that answered, of which some price is
}

// ExploreUsage gives what the calls used, grouped as Explore's figures are, of each part of the range, and day by day, or, from the
// rollups, span by span, for prices may change. Rows of ModelTokens are as those of DayTokens, in no order. Faults: Unavailable.
func (r *Reader) ExploreUsage(ctx context.Context, q Explored, groups []string, by Priced, take func(of ExploredPlace, used *ModelTokens)) error {
	q.Wanted = WantUsage
	from, parameters, ok := q.source(r, "groups", groups, "spans", firstDays(by.Spans), "named", by.Named)
	if !ok {
		return nil
	}
	if !q.FromCalls() {
		return r.exploreSpent(ctx, q, from, parameters, take)
	}
	query := `
SELECT other, shown, part, ` + alikeColumns + `
FROM (SELECT ` + q.grouped() + `, start_time, model, upstream_model, used.model, used.tier, used.band, used.meter, used.amount,
    input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens` + from + ` AND usage_state NOT IN ('', 'none'))
GROUP BY other, shown, part, ` + alikeGroups
	return r.each(q.reading(ctx), "explore usage", query, parameters, func(rows driver.Rows) error {
		var at ExploredPlace
		return scanUsed(rows, func(m *ModelTokens) { take(at, m) }, &at.Other, &at.Group, &at.Start)
	})
}

// exploreSpent is ExploreUsage of tokens_daily, or tokens_hourly, and the meters beside them. Meters come as rows: only so are they
// answered from their projection.
func (r *Reader) exploreSpent(ctx context.Context, q Explored, from string, parameters []any, take func(of ExploredPlace, used *ModelTokens)) error {
	inner := q.grouped() + `, toInt32({spans:Array(Date)}[arrayCount(first -> first <= ` + q.table().day + `, {spans:Array(Date)})]) AS span, toString(model) AS of_model,
    toString(if(upstream_model IN {named:Array(String)}, upstream_model, '')) AS named_model`
	by := `other, shown, part, span, of_model, named_model`
	query := `
SELECT ` + by + `, sum(counted) AS total, sum(input), sum(output), sum(cached), sum(cache_write), sum(reasoning)
FROM (SELECT ` + inner + `, ` + ofTokens.columns + from + `)
GROUP BY ` + by + `
HAVING total != 0`
	err := r.each(q.reading(ctx), "explore tokens", query, parameters, func(rows driver.Rows) error {
		var at ExploredPlace
		var span int32
		var m ModelTokens
		if err := rows.Scan(&at.Other, &at.Group, &at.Start, &span, &m.Model, &m.UpstreamModel, &m.Calls, &m.Input.N, &m.Output.N, &m.Cached.N, &m.CacheWrite.N, &m.Reasoning.N); err != nil {
			return unavailable(err, "read explored tokens")
		}
		m.Day = beijing.Day(span)
		take(at, &m)
		return nil
	})
	if err != nil {
		return err
	}
	type place struct {
		ExploredPlace
		tokenGroup
	}
	lines := map[place]map[string]int64{}
	query = `
SELECT ` + by + `, of_tier, band, of_extras, of_meter, sum(amount)
FROM (SELECT ` + inner + `, toString(tier) AS of_tier, band, toString(extras) AS of_extras, toString(meter) AS of_meter, amount` + strings.Replace(from, "tokens", "meters", 1) + `)
GROUP BY ` + by + `, of_tier, band, of_extras, of_meter`
	err = r.each(q.reading(ctx), "explore meters", query, parameters, func(rows driver.Rows) error {
		var of place
		var meter string
		var amount int64
		if err := rows.Scan(&of.Other, &of.Group, &of.Start, &of.day, &of.model, &of.named, &of.tier, &of.band, &of.extras, &meter, &amount); err != nil {
			return unavailable(err, "read explored meters")
		}
		if lines[of] == nil {
			lines[of] = map[string]int64{}
		}
		lines[of][meter] += amount
		return nil
	})
	for of, meters := range lines {
		m := ModelTokens{Day: beijing.Day(of.day), Model: of.model, UpstreamModel: of.named}
		m.Calls = m.take(of.tier, of.band, meters)
		take(of.ExploredPlace, &m)
	}
	return err
}
