package stats

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// Explored are the calls that a question explores: those of some applications in a range of days, narrowed as the call flow is,
// in groups and by time. The queries use the words of the projection explored of calls (clickhouse/00026), and are answered from it
// where it has what they ask for: see FromRows.
type Explored struct {
	Applications []uuid.UUID
	Range        beijing.Range
	GroupBy      Dimension
	Tag          string // the name of the tag to group by
	Interval     Interval
	Only         CallsQuery // Model, From, To, Result, Key, Outcome but for Text, and Dimensions
	Durations    Durations  // whose percentiles are asked for
}

// FromRows tells whether every call is read for the answer, rather than what calls of a day have in common.
func (q Explored) FromRows() bool {
	return q.GroupBy == PerTag || q.GroupBy == PerUser || q.Interval == Hourly || q.Durations != NoDurations ||
		q.Only.Dimensions.narrows() || q.Only.From != nil || q.Only.To != nil
}

func (q Explored) reading(ctx context.Context) context.Context {
	if q.FromRows() {
		return concurrently(ctx)
	}
	return fromProjections(ctx)
}

// Dimension is what calls are grouped by.
type Dimension string

// The dimensions.
const (
	Ungrouped        Dimension = ""
	PerApplication   Dimension = "application"
	PerCapability    Dimension = "capability"
	PerUpstreamModel Dimension = "upstreamModel"
	PerKey           Dimension = "key"
	PerStatus        Dimension = "status"
	PerReason        Dimension = "reason"
	PerEnding        Dimension = "endedBy"
	PerTag           Dimension = "tag"
	PerUser          Dimension = "user"
)

// Interval is how long the parts are that a range is cut into, by Beijing time; weeks begin on Monday.
type Interval string

// The intervals.
const (
	Whole   Interval = ""
	Hourly  Interval = "hour"
	Daily   Interval = "day"
	Weekly  Interval = "week"
	Monthly Interval = "month"
)

// Durations says which ones percentiles are of.
type Durations string

// The durations.
const (
	NoDurations Durations = ""
	OfCalls     Durations = "duration_ms"
	FirstBytes  Durations = "first_byte_ms"
)

// labels are the groups' names, as they are in the rows: ids, and empty for none.
var labels = map[Dimension]string{
	Ungrouped: `''`, PerApplication: `toString(application_id)`, PerCapability: `toString(model)`, PerUpstreamModel: `toString(upstream_model)`,
	PerKey: `if(key_id = toUUID('00000000-0000-0000-0000-000000000000'), '', toString(key_id))`, PerStatus: `toString(status_code)`,
	PerReason: `if(reason_type = '', '', concat(toString(reason_type), ':', toString(reason_code)))`, PerEnding: `toString(ended_by)`,
	PerTag: `tags.value[indexOf(tags.name, {tag:String})]`, PerUser: `end_user`,
}

// starts are when the part begins that a call is in, in Unix seconds.
var starts = map[Interval]string{
	Whole: `toInt64(0)`, Hourly: hourOfRow,
	Daily: startOfDate(`toDate(start_time)`), Weekly: startOfDate(`toMonday(toDate(start_time))`), Monthly: startOfDate(`toStartOfMonth(toDate(start_time))`),
}

// startOfDate is when a Beijing day begins.
func startOfDate(date string) string {
	return `toInt64(toUnixTimestamp(toDateTime(` + date + `, 'Asia/Shanghai')))`
}

// grouped are the columns other, shown and part of a call: whether it is of none of the groups that are named, of which of them else,
// and when its part of the range begins.
func (q Explored) grouped() string {
	return labels[q.GroupBy] + ` AS label, NOT has({groups:Array(String)}, label) AS other, if(other, '', label) AS shown, ` + starts[q.Interval] + ` AS part`
}

// source is where the calls are; false: none of them is kept.
func (q Explored) source(r *Reader, more ...any) (from string, parameters []any, ok bool) {
	days := r.KeptCalls(q.Range)
	if len(q.Applications) == 0 || days.Days() < 1 {
		return "", nil, false
	}
	only := q.Only
	only.Applications = q.Applications
	from = ` FROM calls WHERE ` + only.ofApplications() + ` AND toDate(start_time) BETWEEN {start:Date} AND {end:Date}` + only.filters()
	more = append(more, "start", days.Start, "end", days.End, "tag", q.Tag)
	return from, only.parameters(more...), true
}

// Rank orders groups, the foremost first; of those that are alike, by name.
type Rank string

// The ranks.
const (
	MostCalls      Rank = `count()`
	MostFailures   Rank = `count() - countIf(success)`
	MostTokens     Rank = `sum(ifNull(input_tokens, 0)) + sum(ifNull(output_tokens, 0))` //nolint:gosec // no credential
	MostInput      Rank = `sum(ifNull(input_tokens, 0))`
	MostOutput     Rank = `sum(ifNull(output_tokens, 0))`
	MostCached     Rank = `sum(ifNull(cached_tokens, 0))`
	MostCacheWrite Rank = `sum(ifNull(cache_write_tokens, 0))`
	MostReasoning  Rank = `sum(ifNull(reasoning_tokens, 0))`
)

// Foremost gives the names of the groups that are first by a rank. Faults: Unavailable.
func (r *Reader) Foremost(ctx context.Context, q Explored, by Rank, most int) (groups []string, err error) {
	q.Interval, q.Durations = Whole, NoDurations
	from, parameters, ok := q.source(r, "most", uint32(most))
	if !ok {
		return nil, nil
	}
	query := `SELECT ` + labels[q.GroupBy] + ` AS label` + from + ` GROUP BY label ORDER BY ` + string(by) + ` DESC, label LIMIT {most:UInt32}`
	err = r.each(q.reading(ctx), "foremost groups", query, parameters, func(rows driver.Rows) error {
		var label string
		if err := rows.Scan(&label); err != nil {
			return unavailable(err, "read groups")
		}
		groups = append(groups, label)
		return nil
	})
	return groups, err
}

// ExploredPlace is where figures stand: those of a group, of the groups that were not named together, or of all, in a part of the
// range or the whole.
type ExploredPlace struct {
	All, Other bool
	Group      string
	Start      int64 // Unix seconds; 0: the whole range
}

// Sums are the places to which a group's part adds: itself, the whole of the group, and the part and the whole of all groups.
func (p ExploredPlace) Sums() []ExploredPlace {
	places := []ExploredPlace{{All: true}, {Other: p.Other, Group: p.Group}}
	if p.Start != 0 {
		places = append(places, p, ExploredPlace{All: true, Start: p.Start})
	}
	return places
}

// ExploredFigures are those of the calls at a place: percentiles where durations are asked for, else the others.
type ExploredFigures struct {
	Calls, Successes,
	Input, Output, Cached, CacheWrite, Reasoning int64
	P50, P95, P99 *int64 // ms, nearest rank; those of durations as Metrics has them; nil: of no call
}

// Explore gives the figures of each of some groups, of the others together and of all: of the whole range, and of its parts where
// an interval is asked for. Places without calls are left out. Faults: Unavailable.
func (r *Reader) Explore(ctx context.Context, q Explored, groups []string) (map[ExploredPlace]ExploredFigures, error) {
	figures := map[ExploredPlace]ExploredFigures{}
	from, parameters, ok := q.source(r, "groups", groups)
	if !ok {
		return figures, nil
	}
	if q.Durations != NoDurations {
		return figures, r.explorePercentiles(ctx, q, from, parameters, figures)
	}
	query := `
SELECT other, shown, part, toInt64(count()), toInt64(countIf(success)), toInt64(sum(ifNull(input_tokens, 0))), toInt64(sum(ifNull(output_tokens, 0))),
    toInt64(sum(ifNull(cached_tokens, 0))), toInt64(sum(ifNull(cache_write_tokens, 0))), toInt64(sum(ifNull(reasoning_tokens, 0)))
FROM (SELECT ` + q.grouped() + `, success, input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens` + from + `)
GROUP BY other, shown, part`
	err := r.each(q.reading(ctx), "explore", query, parameters, func(rows driver.Rows) error {
		var at ExploredPlace
		var f ExploredFigures
		if err := rows.Scan(&at.Other, &at.Group, &at.Start, &f.Calls, &f.Successes, &f.Input, &f.Output, &f.Cached, &f.CacheWrite, &f.Reasoning); err != nil {
			return unavailable(err, "read explored calls")
		}
		for _, place := range at.Sums() {
			sum := figures[place]
			sum.Calls, sum.Successes, sum.Input, sum.Output = sum.Calls+f.Calls, sum.Successes+f.Successes, sum.Input+f.Input, sum.Output+f.Output
			sum.Cached, sum.CacheWrite, sum.Reasoning = sum.Cached+f.Cached, sum.CacheWrite+f.CacheWrite, sum.Reasoning+f.Reasoning
			figures[place] = sum
		}
		return nil
	})
	return figures, err
}

// explorePercentiles fills in those of durations. The levels are a hair low, so that the rank is the nearest one.
func (r *Reader) explorePercentiles(ctx context.Context, q Explored, from string, parameters []any, figures map[ExploredPlace]ExploredFigures) error {
	ms, known := bucketOf("duration_ms"), ""
	if q.Durations == FirstBytes {
		ms, known = "assumeNotNull(first_byte_ms)", " AND first_byte_ms IS NOT NULL"
	}
	sets := `(other, shown, part), ()`
	if q.Interval != Whole {
		sets += `, (other, shown), (part)`
	}
	query := `
SELECT grouping(other) != 0, other, shown, if(grouping(part) = 0, part, 0), CAST(quantilesExact(0.4999999, 0.9499999, 0.9899999)(ms), 'Array(Int64)')
FROM (SELECT ` + q.grouped() + `, ` + ms + ` AS ms` + from + known + `)
GROUP BY GROUPING SETS (` + sets + `)
HAVING count() > 0`
	return r.each(q.reading(ctx), "explore durations", query, parameters, func(rows driver.Rows) error {
		var at ExploredPlace
		var found []int64
		if err := rows.Scan(&at.All, &at.Other, &at.Group, &at.Start, &found); err != nil {
			return unavailable(err, "read explored durations")
		}
		for i := range found {
			if q.Durations == OfCalls {
				found[i] = bucketMiddle(uint16(found[i]))
			}
		}
		figures[at] = ExploredFigures{P50: &found[0], P95: &found[1], P99: &found[2]}
		return nil
	})
}

// ExploreUsage gives what the calls used, grouped as Explore's figures are, of each part of the range, and day by day, for prices may
// change. Rows of ModelTokens are as those of DayTokens, in no order. Faults: Unavailable.
func (r *Reader) ExploreUsage(ctx context.Context, q Explored, groups []string, take func(of ExploredPlace, used *ModelTokens)) error {
	from, parameters, ok := q.source(r, "groups", groups)
	if !ok {
		return nil
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
