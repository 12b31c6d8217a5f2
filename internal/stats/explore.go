package stats

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// Explored are the calls that a question explores: those of some applications in a range of days, narrowed as the call flow is,
// in groups and by time. They are answered from the rollups where these have it (see table), else from the projection explored of
// calls (clickhouse/00026), whose words the queries use, else from the calls: see FromRows.
type Explored struct {
	Applications []uuid.UUID
	Everyone     *Explorers // not nil: administrators ask, and Applications, nil but where some are named, are any owner's
	Range        beijing.Range
	GroupBy      Dimension
	Tag          string  // the name of the tag to group by
	Owned        []Owned // the applications of the owners to group by; all others are of the empty group
	Interval     Interval
	Only         CallsQuery // Model, From, To, Result, Key, Outcome but for Text, and Dimensions
	Durations    Durations  // whose percentiles are asked for
	Wanted       Wanted     // what is asked for: other figures may be 0
	Each         bool       // every group is told apart, rather than those that are named
}

// Wanted is what a question asks for.
type Wanted string

// What can be wanted.
const (
	WantCalls  Wanted = "" // or durations
	WantTokens Wanted = "tokens"
	WantUsage  Wanted = "usage" // as ExploreUsage gives it
)

// Explorers are all applications but some.
type Explorers struct {
	InUsage Everyone // without those that the daily usage has rows of
	InRows  Everyone // without all that may have rows of any kind
}

// Owned is an application and whose it is.
type Owned struct{ Application, Owner uuid.UUID }

// FromRows tells whether every call is read for the answer, rather than what calls of a day have in common.
func (q Explored) FromRows() bool {
	return q.FromCalls() && (q.GroupBy == PerTag || q.GroupBy == PerUser || q.GroupBy == PerUpstream || q.Interval == Hourly || q.Durations != NoDurations ||
		q.Only.Dimensions.narrows() || q.Only.From != nil || q.Only.To != nil)
}

// FromCalls tells whether the calls are asked, or their projection, rather than a rollup, which may be kept longer.
func (q Explored) FromCalls() bool { return q.table().name == ofCalls.name }

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
	PerOwner         Dimension = "owner"
	PerUpstream      Dimension = "upstream"
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
	PerTag: `tags.value[indexOf(tags.name, {tag:String})]`, PerUser: `end_user`, PerUpstream: `toString(upstream_id)`,
}

// label is the name of the group that a row is of.
func (q Explored) label() string {
	if q.GroupBy == PerOwner {
		return `transform(application_id, ` + q.owned("owned", "UUID") + `, ` + q.owned("owners", "String") + `, '')`
	}
	return labels[q.GroupBy]
}

// owned are the parameters of one half of Owned, as one array.
func (q Explored) owned(name, of string) string {
	parts := []string{"CAST([], 'Array(" + of + ")')"}
	for i := range slices.Collect(slices.Chunk(q.Owned, exceptAtOnce)) {
		parts = append(parts, fmt.Sprintf("{%s%d:Array(%s)}", name, i, of))
	}
	return "arrayConcat(" + strings.Join(parts, ", ") + ")"
}

func (q Explored) ownedPairs() (pairs []any) {
	for i, some := range slices.Collect(slices.Chunk(q.Owned, exceptAtOnce)) {
		applications, owners := make([]uuid.UUID, len(some)), make([]string, len(some))
		for n, o := range some {
			applications[n], owners[n] = o.Application, o.Owner.String()
		}
		pairs = append(pairs, fmt.Sprintf("owned%d", i), applications, fmt.Sprintf("owners%d", i), owners)
	}
	return pairs
}

// start is when the part begins that a row is in, in Unix seconds.
func (t exploredTable) start(of Interval) string {
	switch of {
	case Hourly:
		return t.hour
	case Daily:
		return startOfDate(t.day)
	case Weekly:
		return startOfDate(`toMonday(` + t.day + `)`)
	case Monthly:
		return startOfDate(`toStartOfMonth(` + t.day + `)`)
	}
	return `toInt64(0)`
}

// startOfDate is when a Beijing day begins.
func startOfDate(date string) string {
	return `toInt64(toUnixTimestamp(toDateTime(` + date + `, 'Asia/Shanghai')))`
}

// grouped are the columns other, shown and part of a row: whether it is of none of the groups that are named, of which of them else,
// and when its part of the range begins.
func (q Explored) grouped() string {
	other := `NOT has({groups:Array(String)}, label)`
	if q.Each {
		other = `false`
	}
	return q.label() + ` AS label, ` + other + ` AS other, if(other, '', label) AS shown, ` + q.table().start(q.Interval) + ` AS part`
}

// exploredTable is where the calls of a question are.
type exploredTable struct {
	name      string
	day, hour string    // of a row: a date, and when its hour begins, in Unix seconds
	columns   string    // that the others are made of
	sums      [7]string // calls, successes, input, output, cached, cache-written and reasoning tokens of a group
	ms        string    // columns that quantiles are of
	quantiles string    // of durations, as an Array(Int64)
}

// The levels are a hair low, so that the rank is the nearest one; see figures.
var (
	ofCalls = exploredTable{name: `calls`, day: `toDate(start_time)`, hour: hourOfRow,
		columns: `success, input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens`,
		sums: [7]string{`count()`, `countIf(success)`, `sum(ifNull(input_tokens, 0))`, `sum(ifNull(output_tokens, 0))`,
			`sum(ifNull(cached_tokens, 0))`, `sum(ifNull(cache_write_tokens, 0))`, `sum(ifNull(reasoning_tokens, 0))`},
		ms: bucketOf("duration_ms") + ` AS ms`, quantiles: `CAST(quantilesExact(0.4999999, 0.9499999, 0.9899999)(ms), 'Array(Int64)')`}
	ofUsage = exploredTable{name: `usage_daily`, day: `day`,
		columns: `calls, successes`, sums: [7]string{`sum(calls)`, `sum(successes)`, `0`, `0`, `0`, `0`, `0`},
		ms:        `calls, durations.1 AS buckets, CAST(durations.2 * 1000, 'Array(UInt64)') AS weights`,
		quantiles: `arrayMap(bucket -> toInt64(if(isFinite(bucket), bucket, 0)), quantilesTimingWeightedArray(0.4999999, 0.9499999, 0.9899999)(buckets, weights))`}
	ofTokens = exploredTable{name: `tokens_daily`, day: `day`,
		columns: `counted, input, output, cached, cache_write, reasoning`,
		sums:    [7]string{`sum(counted)`, `0`, `sum(input)`, `sum(output)`, `sum(cached)`, `sum(cache_write)`, `sum(reasoning)`}}
)

// byHour is the same table by the hour.
func (t exploredTable) byHour() exploredTable {
	t.name = strings.TrimSuffix(t.name, "daily") + "hourly"
	t.day, t.hour = `toDate(hour)`, `toInt64(toUnixTimestamp(hour))`
	return t
}

// table is the one that a question is answered from. Calls, failures and durations are in usage_daily, tokens and what these cost in
// tokens_daily and meters_daily, and in the same by the hour, by application, owner and capability; tokens, but not what they cost,
// by the model that answered as well. All else is in the calls, also what results narrow.
func (q Explored) table() exploredTable {
	if q.Only.Result != AnyResult || q.Only.narrows() || q.Only.Dimensions.narrows() || q.Only.From != nil || q.Only.To != nil ||
		q.Durations == FirstBytes {
		return ofCalls
	}
	found := ofTokens
	if q.Wanted == WantCalls {
		found = ofUsage
	}
	switch q.GroupBy {
	case Ungrouped, PerApplication, PerOwner, PerCapability:
	case PerUpstreamModel:
		if q.Wanted != WantTokens {
			return ofCalls // usage tells the models of lines, not those that answered
		}
	default:
		return ofCalls
	}
	if q.Interval == Hourly {
		return found.byHour()
	}
	return found
}

// source is where the calls are; false: none of them is kept.
func (q Explored) source(r *Reader, more ...any) (from string, parameters []any, ok bool) {
	table := q.table()
	days := r.KeptStatistics(q.Range)
	if q.FromCalls() {
		days = r.KeptCalls(q.Range)
	}
	all := q.Everyone != nil && q.Applications == nil
	if !all && len(q.Applications) == 0 || days.Days() < 1 {
		return "", nil, false
	}
	only := q.Only
	only.Applications = q.Applications
	from = ` FROM ` + table.name + ` WHERE ` + table.day + ` BETWEEN {start:Date} AND {end:Date}`
	if all {
		who := q.Everyone.InRows
		if table.name == ofUsage.name {
			who = q.Everyone.InUsage
		}
		left, pairs := who.condition()
		from, more = from+left, append(more, pairs...)
	} else {
		from += ` AND ` + only.ofApplications()
	}
	more = append(append(more, "start", days.Start, "end", days.End, "tag", q.Tag), q.ownedPairs()...)
	return from + only.filters(), only.parameters(more...), true
}

// Rank orders groups, the foremost first; of those that are alike, by name.
type Rank string

// The ranks.
const (
	MostCalls      Rank = "calls"
	MostFailures   Rank = "failures"
	MostTokens     Rank = "tokens"
	MostInput      Rank = "input tokens"
	MostOutput     Rank = "output tokens"
	MostCached     Rank = "cached tokens"
	MostCacheWrite Rank = "cache-written tokens"
	MostReasoning  Rank = "reasoning tokens"
)

// OfTokens tells whether it is of tokens.
func (by Rank) OfTokens() bool { return by != MostCalls && by != MostFailures }

// Of is what a group is ordered by.
func (by Rank) Of(f ExploredFigures) int64 {
	switch by {
	case MostFailures:
		return f.Calls - f.Successes
	case MostTokens:
		return f.Input + f.Output
	case MostInput:
		return f.Input
	case MostOutput:
		return f.Output
	case MostCached:
		return f.Cached
	case MostCacheWrite:
		return f.CacheWrite
	case MostReasoning:
		return f.Reasoning
	}
	return f.Calls
}

// in is the same in a query of a table.
func (by Rank) in(t exploredTable) string {
	s := t.sums
	return map[Rank]string{
		MostCalls: s[0], MostFailures: s[0] + ` - ` + s[1], MostTokens: s[2] + ` + ` + s[3], MostInput: s[2], MostOutput: s[3],
		MostCached: s[4], MostCacheWrite: s[5], MostReasoning: s[6],
	}[by]
}

// Foremost gives the names of the groups that are first by a rank; not of owners. Faults: Unavailable.
func (r *Reader) Foremost(ctx context.Context, q Explored, by Rank, most int) (groups []string, err error) {
	q.Interval, q.Durations = Whole, NoDurations
	from, parameters, ok := q.source(r, "most", uint32(most))
	if !ok {
		return nil, nil
	}
	table := q.table()
	query := `SELECT ` + q.label() + ` AS label` + from + ` GROUP BY label HAVING ` + table.sums[0] + ` != 0 ORDER BY ` + by.in(table) + ` DESC, label LIMIT {most:UInt32}`
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
	table := q.table()
	query := `
SELECT other, shown, part, toInt64(` + strings.Join(table.sums[:], `), toInt64(`) + `)
FROM (SELECT ` + q.grouped() + `, ` + table.columns + from + `)
GROUP BY other, shown, part
HAVING ` + table.sums[0] + ` != 0`
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

// explorePercentiles fills in those of durations.
func (r *Reader) explorePercentiles(ctx context.Context, q Explored, from string, parameters []any, figures map[ExploredPlace]ExploredFigures) error {
	table, total := q.table(), `count()`
	if q.Durations == FirstBytes {
		table.ms, from = `assumeNotNull(first_byte_ms) AS ms`, from+` AND first_byte_ms IS NOT NULL`
	}
	if !q.FromCalls() {
		total = table.sums[0]
	}
	sets := `(other, shown, part), ()`
	if q.Interval != Whole {
		sets += `, (other, shown), (part)`
	}
	query := `
SELECT grouping(other) != 0, other, shown, if(grouping(part) = 0, part, 0), ` + table.quantiles + `
FROM (SELECT ` + q.grouped() + `, ` + table.ms + from + `)
GROUP BY GROUPING SETS (` + sets + `)
HAVING ` + total + ` > 0`
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
