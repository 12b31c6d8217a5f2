package stats

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// totalsAtOnce bounds the applications of one question; see exceptAtOnce.
const totalsAtOnce = 2_000

// groupTotalsQuery tells groups of applications apart by their place in a list beside that of the applications.
const groupTotalsQuery = `
SELECT g.place,` + figures + `
FROM usage_daily AS u
INNER JOIN (
    SELECT tupleElement(pair, 1) AS id, tupleElement(pair, 2) AS place
    FROM (SELECT arrayJoin(arrayZip({applications:Array(UUID)}, {places:Array(UInt32)})) AS pair)
) AS g ON g.id = u.application_id
WHERE u.application_id IN {applications:Array(UUID)} AND u.day BETWEEN {start:Date} AND {end:Date}
GROUP BY g.place
HAVING total != 0`

// GroupTotals gives the figures of each group of applications together, in the order of the groups. Faults: Unavailable.
func (r *Reader) GroupTotals(ctx context.Context, groups [][]uuid.UUID, days beijing.Range) ([]Metrics, error) {
	totals := make([]Metrics, len(groups))
	if days = r.KeptStatistics(days); days.Days() < 1 {
		return totals, nil
	}
	var applications []uuid.UUID
	var places []uint32
	ask := func() error {
		if len(applications) == 0 {
			return nil
		}
		parameters := args("applications", applications, "places", places, "start", days.Start, "end", days.End)
		applications, places = nil, nil
		return r.each(ctx, "totals of groups", groupTotalsQuery, parameters, func(rows driver.Rows) error {
			var place uint32
			m, err := scanMetrics(rows, &place)
			if err == nil {
				totals[place] = m
			}
			return err
		})
	}
	for place, group := range groups {
		if len(applications)+len(group) > totalsAtOnce {
			if err := ask(); err != nil {
				return nil, err
			}
		}
		for _, id := range group {
			applications, places = append(applications, id), append(places, uint32(place)) //nolint:gosec // some hundred groups
		}
	}
	return totals, ask()
}

const everyonesSpent = `
SELECT ` + ofSpan + namedModel + `
    sum(t.counted) AS counted, sum(t.input), sum(t.cached), sum(t.cache_write), sum(t.output), sum(t.reasoning),` + withoutMeters + `
FROM tokens_daily AS t
WHERE t.day BETWEEN {start:Date} AND {end:Date}
GROUP BY t.application_id, span, t.model, named_model
HAVING counted != 0
UNION ALL
SELECT ` + ofSpan + namedModel + `
    toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0), toInt64(0),` + meteredColumns + `
FROM meters_daily AS t
WHERE t.day BETWEEN {start:Date} AND {end:Date}
GROUP BY t.application_id, span, t.model, named_model` + meteredGroups + `
`

// EveryonesSpent gives what is priced of the tokens of each application, whoever it is, as SpanTokens does it of those that
// are named. What take is given is overwritten after it returns. Faults: Unavailable.
func (r *Reader) EveryonesSpent(ctx context.Context, days beijing.Range, spans []beijing.Day, named []string, take func(*ModelTokens)) error {
	if days = r.KeptStatistics(days); days.Days() < 1 {
		return nil
	}
	var m ModelTokens
	var day int32
	var tier string
	var band uint32
	var meters map[string]int64
	parameters := args("start", days.Start, "end", days.End, "spans", firstDays(spans), "named", named)
	return r.each(ctx, "what everyone spent", everyonesSpent, parameters, func(rows driver.Rows) error {
		if err := rows.Scan(&m.Application, &day, &m.Model, &m.UpstreamModel, &m.Calls, &m.Input.N, &m.Cached.N, &m.CacheWrite.N, &m.Output.N, &m.Reasoning.N, &tier, &band, &meters); err != nil {
			return unavailable(err, "read what everyone spent")
		}
		m.Day = beijing.Day(day)
		m.Calls += m.take(tier, band, meters)
		take(&m)
		return nil
	})
}
