package stats

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// estimatedQuery reads one column of an application's day: it is in no rollup, which hold what answers report.
var estimatedQuery = `
SELECT toInt64(sum(estimated_tokens)) FROM calls
WHERE application_id = {application:UUID} AND ` + since("from") + ` AND ` + before("to")

// EstimatedTokens is what limits were charged for an application's calls of a day beyond what their answers reported.
// Faults: Unavailable.
func (r *Reader) EstimatedTokens(ctx context.Context, application uuid.UUID, day beijing.Day) (tokens int64, err error) {
	parameters := args("application", application, "from", day.Start().Unix(), "to", day.End().Unix())
	err = r.each(inOneThread(ctx), "estimated tokens", estimatedQuery, parameters, func(rows driver.Rows) error {
		if err := rows.Scan(&tokens); err != nil {
			return unavailable(err, "estimated tokens")
		}
		return nil
	})
	return tokens, err
}
