package verify

import (
	"context"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/stats"
)

// tokenRow is what the calls of one application on one Beijing day reported whose capability and model that answered
// are the same, counted from the rows of calls alone.
type tokenRow struct {
	Day                  beijing.Day
	Model, UpstreamModel string
	Counted              int64 // calls with input or output tokens
	rowTokens
}

// rowTokens are stats.Tokens as the rows of calls tell them: nil where no call reported that number.
type rowTokens struct {
	Input, Output, Cached, CacheWrite, Reasoning *int64
	stats.TokenStates
}

// tokenRowsQuery counts by comparing states and nulls, not as the view does it.
var tokenRowsQuery = `
SELECT
    toInt32(intDiv(toUnixTimestamp64Milli(start_time) + 8 * 3600000, 24 * 3600000)) AS day, toString(model) AS of_model, toString(upstream_model) AS of_upstream,
    toInt64(sum(input_tokens IS NOT NULL OR output_tokens IS NOT NULL)),
    toInt64(sum(input_tokens)), toInt64(sum(output_tokens)), toInt64(sum(cached_tokens)), toInt64(sum(cache_write_tokens)), toInt64(sum(reasoning_tokens)),
    toInt64(sum(usage_state = 'reported')), toInt64(sum(usage_state = 'partial')), toInt64(sum(usage_state = 'absent')), toInt64(sum(usage_state = 'unreadable')),
    toInt64(sum(streamed)), toInt64(sum(streamed AND usage_state = 'absent'))
FROM calls
WHERE application_id = {application:UUID} AND ` + between + ` AND usage_state != '' AND usage_state != 'none'
GROUP BY day, of_model, of_upstream`

// tokenRows counts the tokens of one application in the days that are answered. It reads every row of the range.
// Faults: Unavailable.
func (v *verifier) tokenRows(ctx context.Context, application uuid.UUID, days beijing.Range) (found []tokenRow, err error) {
	days = v.Stats.KeptStatistics(days)
	if days.Days() < 1 {
		return nil, nil
	}
	parameters := []any{"application", application, "from", days.Start.Start().Unix(), "to", days.End.End().Unix()}
	err = v.Stats.Stream(ctx, "recount tokens", tokenRowsQuery, parameters, func(scan func(...any) error) error {
		var row tokenRow
		var day int32
		err := scan(&day, &row.Model, &row.UpstreamModel, &row.Counted, &row.Input, &row.Output, &row.Cached, &row.CacheWrite, &row.Reasoning,
			&row.Reported, &row.Partial, &row.Absent, &row.Unreadable, &row.Streamed, &row.StreamedAbsent)
		if err != nil {
			return err
		}
		row.Day = beijing.Day(day)
		found = append(found, row)
		return nil
	})
	return found, err
}
