package stats

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
)

// Slot is what calls did that ended within some seconds before At, or at it.
type Slot struct {
	At              time.Time
	Calls, Failures int64
	LastStart       time.Time
	Durations       []uint32 // in ms, in no order, where they are asked for
}

// slotsQuery counts calls by when they ended, as windowsQuery does.
func slotsQuery(durations bool) string {
	took := `CAST([], 'Array(UInt32)')`
	if durations {
		took = `groupArray(duration_ms)`
	}
	return `
SELECT intDiv(toUnixTimestamp64Milli(start_time) + duration_ms + {slot:Int64} - 1, {slot:Int64}) * {slot:Int64} AS at,
    toInt64(count()), toInt64(countIf(NOT success)), toUnixTimestamp64Milli(max(start_time)), ` + took + `
FROM calls
WHERE application_id = {application:UUID} AND duration_ms <= {longest:Int64}
  AND start_time >= fromUnixTimestamp64Milli({started:Int64}, 'Asia/Shanghai') AND start_time <= fromUnixTimestamp64Milli({to:Int64}, 'Asia/Shanghai')
  AND toUnixTimestamp64Milli(start_time) + duration_ms > {from:Int64} AND toUnixTimestamp64Milli(start_time) + duration_ms <= {to:Int64}
GROUP BY at ORDER BY at`
}

// Slots hands what the calls of an application did that ended after from, at to the latest, to take, by slots of a length, ascending.
// Slots without calls are left out. Faults: Unavailable.
func (r *Reader) Slots(ctx context.Context, application uuid.UUID, from, to time.Time, length time.Duration, durations bool, take func(Slot)) error {
	parameters := args("application", application, "slot", length.Milliseconds(), "longest", r.longest.Milliseconds(),
		"started", from.Add(-r.longest).UnixMilli(), "from", from.UnixMilli(), "to", to.UnixMilli())
	return r.each(concurrently(ctx), "slots", slotsQuery(durations), parameters, func(rows driver.Rows) error {
		var at, last int64
		var s Slot
		if err := rows.Scan(&at, &s.Calls, &s.Failures, &last, &s.Durations); err != nil {
			return unavailable(err, "read slots")
		}
		s.At, s.LastStart = time.UnixMilli(at), time.UnixMilli(last)
		take(s)
		return nil
	})
}
