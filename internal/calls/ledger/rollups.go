package ledger

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// rollup is a table the views fill from calls, and how it tells time.
type rollup struct {
	table  string
	column string // its day or hour
	slots  string // Unix seconds in which that of a row of calls begins
	own    string // the same, of a row of the rollup
	within string // condition that a row of the rollup is of the day
}

// Beijing days and hours by arithmetic, not by the functions the views use.
var rollups = []rollup{
	{
		table: "usage_daily", column: "day",
		slots:  "intDiv(toUnixTimestamp64Milli(start_time) + 28800000, 86400000) * 86400 - 28800",
		own:    "toInt64(u.day) * 86400 - 28800",
		within: "u.day = toDate(toInt32(intDiv({from:Int64} + 28800000, 86400000)))",
	},
	{
		table: "usage_hourly", column: "hour",
		slots:  "intDiv(toUnixTimestamp64Milli(start_time), 3600000) * 3600",
		own:    "toInt64(toUnixTimestamp(u.hour))",
		within: "u.hour >= fromUnixTimestamp(intDiv({from:Int64}, 1000)) AND u.hour < fromUnixTimestamp(intDiv({to:Int64}, 1000))",
	},
}

// difference is what must be added to a rollup so that it agrees with the calls.
type difference struct {
	application uuid.UUID
	model       string
	slot        int64 // Unix seconds of the day's or hour's start
	rows        int64 // calls of it there are
	calls       int64
	successes   int64
	durationMs  int64
	buckets     []uint16
	counts      []int64
}

type differenceKey struct {
	table       string
	application uuid.UUID
	model       string
	slot        int64
}

func (d *difference) key(r rollup) differenceKey {
	return differenceKey{r.table, d.application, d.model, d.slot}
}

var seed = maphash.MakeSeed()

// fingerprint stands for the whole difference and the number of rows it was found in.
func (d *difference) fingerprint() uint64 {
	return maphash.String(seed, fmt.Sprint(d.rows, d.calls, d.successes, d.durationMs, d.buckets, d.counts))
}

const between = `start_time >= fromUnixTimestamp64Milli({from:Int64}) AND start_time < fromUnixTimestamp64Milli({to:Int64})`

func span(from, to time.Time) []any {
	return []any{clickhouse.Named("from", strconv.FormatInt(from.UnixMilli(), 10)), clickhouse.Named("to", strconv.FormatInt(to.UnixMilli(), 10))}
}

// query gives a difference for every application, model and slot in which a rollup and the calls
// do not agree. Swept applications are left out: their tables are emptied one after the other.
func (r rollup) query() string {
	return `
WITH toUInt8(greatest(ceil(log2(toUInt64(duration_ms) + 1)) - 6, 0)) AS shift
SELECT application_id, toString(of_model), slot, sum(is_row), sum(n) AS calls, sum(ok) AS successes, sum(ms) AS duration,
    tupleElement(sumMap(histogram.1, histogram.2) AS durations, 1), tupleElement(durations, 2) AS counts
FROM (
    SELECT application_id, model AS of_model, toInt64(` + r.slots + `) AS slot, toInt64(count()) AS is_row,
        toInt64(count()) AS n, toInt64(countIf(success)) AS ok, toInt64(sum(duration_ms)) AS ms,
        sumMap([toUInt16(32 * shift + bitShiftRight(duration_ms, shift))], [toInt64(1)]) AS histogram
    FROM calls WHERE ` + between + `
    GROUP BY application_id, of_model, slot
    UNION ALL
    SELECT application_id, model AS of_model, ` + r.own + ` AS slot, toInt64(0),
        -sum(u.calls), -sum(u.successes), -sum(u.duration_ms),
        sumMap(u.durations.1, arrayMap(n -> -n, u.durations.2))
    FROM ` + r.table + ` AS u WHERE ` + r.within + `
    GROUP BY application_id, of_model, slot
)
WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
GROUP BY application_id, of_model, slot
HAVING calls != 0 OR successes != 0 OR duration != 0 OR arrayExists(n -> n != 0, counts)`
}

// differences hands each difference of a day to yield.
func differences(ctx context.Context, conn driver.Conn, r rollup, day beijing.Day, yield func(*difference) error) error {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	rows, err := conn.Query(ctx, r.query(), span(day.Start(), day.End())...)
	if err != nil {
		return fmt.Errorf("compare %s: %w", r.table, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var d difference
		if err := rows.Scan(&d.application, &d.model, &d.slot, &d.rows, &d.calls, &d.successes, &d.durationMs, &d.buckets, &d.counts); err != nil {
			return fmt.Errorf("compare %s: %w", r.table, err)
		}
		if err := yield(&d); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("compare %s: %w", r.table, err)
	}
	return nil
}

// repairs adds differences to a rollup, some thousand rows at a time. Each block has a token of its
// own, under which it is repeated when its fate is uncertain: it counts once. A block given up
// shows, or does not, when the day is compared again.
type repairs struct {
	on     *shard
	rollup rollup
	block  []difference
	added  int
}

const (
	repairBlock = 5000
	repairTries = 3
)

func (w *repairs) add(ctx context.Context, d *difference) error {
	w.block = append(w.block, *d)
	if len(w.block) < repairBlock {
		return nil
	}
	return w.flush(ctx)
}

func (w *repairs) flush(ctx context.Context) (err error) {
	if len(w.block) == 0 {
		return nil
	}
	token := "repair/" + uuid.NewString()
	for range repairTries {
		if err = w.insert(ctx, token); err == nil {
			w.added += len(w.block)
			w.block = w.block[:0]
			return nil
		}
	}
	return fmt.Errorf("repair %s: %w", w.rollup.table, err)
}

func (w *repairs) insert(ctx context.Context, token string) error {
	ctx, cancel := context.WithTimeout(ctx, insertTimeout)
	defer cancel()
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": token}))
	batch, err := w.on.conn().PrepareBatch(ctx, `INSERT INTO `+w.rollup.table+
		` (application_id, `+w.rollup.column+`, model, calls, successes, duration_ms, durations)`)
	if err != nil {
		return fmt.Errorf("begin insert: %w", err)
	}
	for i := range w.block {
		d := &w.block[i]
		start := time.Unix(d.slot, 0)
		if w.rollup.column == "day" {
			start = date(beijing.DayOf(start))
		}
		err := batch.Append(d.application, start, d.model, d.calls, d.successes, d.durationMs, []any{d.buckets, d.counts})
		if err != nil {
			return errors.Join(fmt.Errorf("fill insert: %w", err), batch.Abort())
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	return nil
}
