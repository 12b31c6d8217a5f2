package stats

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// DayCalls are the calls of one application on one day.
type DayCalls struct {
	Application                  uuid.UUID
	Calls, Successes, DurationMs int64 // DurationMs: of all together
}

const dayCallsQuery = `
SELECT u.application_id, sum(u.calls) AS total, sum(u.successes), sum(u.duration_ms)
FROM usage_daily AS u
WHERE u.day = {day:Date}
GROUP BY u.application_id
HAVING total != 0`

// DayCalls gives the calls of every application on a day, whoever they are: deleted ones until their rows are swept.
// Faults: Unavailable.
func (r *Reader) DayCalls(ctx context.Context, day beijing.Day) (found []DayCalls, err error) {
	err = r.each(ctx, "calls of a day", dayCallsQuery, args("day", day), func(rows driver.Rows) error {
		var c DayCalls
		if err := rows.Scan(&c.Application, &c.Calls, &c.Successes, &c.DurationMs); err != nil {
			return unavailable(err, "read calls of a day")
		}
		found = append(found, c)
		return nil
	})
	return found, err
}

var tokensOfDayQuery = withMeters(`t.application_id, toInt32(t.day),`+namedModel, `t.day = {day:Date}`, `t.application_id, t.day, t.model, named_model`)

// TokensOfDay is DayTokens of every application by itself, whoever it is, on one day. Faults: Unavailable.
func (r *Reader) TokensOfDay(ctx context.Context, day beijing.Day, named []string, take func(*ModelTokens)) error {
	return r.scanTokens(ctx, "tokens of a day", tokensOfDayQuery, args("day", day, "named", named), take)
}
