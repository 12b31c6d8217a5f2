package stats

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
)

// Window is what calls did that ended in a few minutes.
type Window struct {
	Calls, Failures int64
	P95Ms           int64 // nearest rank, exact
}

// By says of what windows are: of applications, capabilities or named upstreams.
type By string

// What windows may be of.
const (
	ByApplication By = "application_id"
	ByModel       By = "model"
	ByUpstream    By = "upstream_id"
)

const (
	// longestCall is how long before its end a call of a window may have started, where calls may not take longer (Expect).
	longestCall = 2 * time.Hour
	// clockSkew is by how much the clocks of gateways and of ClickHouse may differ.
	clockSkew = time.Minute
)

// windowsQuery reads the calls themselves, because no rollup knows when they ended: a call that timed out after five minutes failed
// now. What was inserted before the window ended before it, which leaves few granules to read, whatever the sort key.
func windowsQuery(by By) string {
	of := map[By]struct{ id, success, ms, from, condition string }{
		ByApplication: {"application_id", "success", "duration_ms", "", "application_id IN {ids:Array(UUID)}"},
		ByModel:       {"model", "success", "duration_ms", "", "model IN {ids:Array(String)}"},
		ByUpstream:    {"attempt.1", "attempt.2", "attempt.3", attemptsArray, "attempt.1 IN {ids:Array(String)}"},
	}[by]
	const ended = "toUnixTimestamp64Milli(start_time) + duration_ms"
	return `
SELECT toString(` + of.id + `) AS id, toInt64(count()), toInt64(countIf(NOT ` + of.success + `)), toInt64(quantileExact(0.9499999)(` + of.ms + `))
FROM calls` + of.from + `
WHERE ` + of.condition + ` AND start_time >= fromUnixTimestamp64Milli({started:Int64}, 'Asia/Shanghai') AND start_time <= fromUnixTimestamp64Milli({to:Int64}, 'Asia/Shanghai')
  AND recorded_at >= fromUnixTimestamp64Milli({recorded:Int64}, 'Asia/Shanghai') AND ` + ended + ` > {from:Int64} AND ` + ended + ` <= {to:Int64}
GROUP BY id`
}

// Windows gives what calls did that ended after from, at to the latest, by application, capability or upstream; one without such
// calls is not in it. An attempt that failed counts for the upstream it was made at. Faults: Unavailable.
func (r *Reader) Windows(ctx context.Context, by By, ids []string, from, to time.Time) (map[string]Window, error) {
	found := make(map[string]Window, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	var of any = ids
	if by == ByApplication {
		applications := make([]uuid.UUID, 0, len(ids))
		for _, id := range ids {
			if parsed, err := uuid.Parse(id); err == nil {
				applications = append(applications, parsed)
			}
		}
		of = applications
	}
	parameters := args("ids", of, "from", from.UnixMilli(), "to", to.UnixMilli(),
		"started", from.Add(-r.longest).UnixMilli(), "recorded", from.Add(-clockSkew).UnixMilli())
	err := r.each(ctx, "windows", windowsQuery(by), parameters, func(rows driver.Rows) error {
		var id string
		var w Window
		if err := rows.Scan(&id, &w.Calls, &w.Failures, &w.P95Ms); err != nil {
			return unavailable(err, "read windows")
		}
		found[id] = w
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}
