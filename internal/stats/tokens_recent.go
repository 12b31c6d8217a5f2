package stats

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"callgate/internal/beijing"
)

// ReportedTokens are the tokens that calls of one capability and upstream model reported on one Beijing day.
type ReportedTokens struct {
	Day                  beijing.Day
	Model, UpstreamModel string
	Calls                int64 // with input or output tokens
	Input, Output        int64
	Metered
}

const reportedQuery = `
SELECT toInt32(t.day), toString(t.model), toString(t.upstream_model), sum(t.counted) AS with_tokens, sum(t.input), sum(t.output),` + withoutMeters + `
FROM tokens_daily AS t
WHERE t.day BETWEEN {start:Date} AND {end:Date}
GROUP BY t.day, t.model, t.upstream_model
HAVING with_tokens != 0
UNION ALL
SELECT toInt32(t.day), toString(t.model), toString(t.upstream_model), toInt64(0), toInt64(0), toInt64(0),` + meteredColumns + `
FROM meters_daily AS t
WHERE t.day BETWEEN {start:Date} AND {end:Date}
GROUP BY t.day, t.model, t.upstream_model` + meteredGroups + `
`

// ReportedTokens gives the tokens of all applications, deleted ones too until their rows are swept, by day and
// model. Faults: Unavailable.
func (r *Reader) ReportedTokens(ctx context.Context, days beijing.Range) (found []ReportedTokens, err error) {
	days = r.KeptStatistics(days)
	if days.Days() < 1 {
		return nil, nil
	}
	err = r.each(ctx, "reported tokens", reportedQuery, args("start", days.Start, "end", days.End), func(rows driver.Rows) error {
		var t ReportedTokens
		var day int32
		var tier string
		var band uint32
		var meters map[string]int64
		if err := rows.Scan(&day, &t.Model, &t.UpstreamModel, &t.Calls, &t.Input, &t.Output, &tier, &band, &meters); err != nil {
			return unavailable(err, "read tokens")
		}
		t.Day = beijing.Day(day)
		t.Calls += t.take(tier, band, meters)
		found = append(found, t)
		return nil
	})
	return found, err
}
