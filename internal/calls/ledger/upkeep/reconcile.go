package upkeep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/jackc/pgx/v5"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/shards"
)

const (
	// confirmWithin is how long a comparison waits for the ledger to be past it.
	confirmWithin = 30 * time.Second
)

// Reconcile compares one day that is due: one of doubt first, then the oldest closed day that was
// never compared, then the newest that was compared before there was another rollup, which that fills. A day is closed when the ledger is past it too. Days that hold nothing any more
// are taken off.
func (m *Maintenance) Reconcile(ctx context.Context) error {
	first, err := m.firstChecked(ctx)
	if err != nil {
		return err
	}
	if _, err := m.pool.Exec(ctx, `DELETE FROM rollup_doubts WHERE day < $1`, first.UTC()); err != nil {
		return fmt.Errorf("days of doubt: %w", err)
	}
	through, err := m.ledger.Through(ctx)
	if err != nil {
		return err
	}
	closed := min(ledger.ClosedDay(m.now()), beijing.DayOf(through)-1)
	var at, began time.Time
	err = m.pool.QueryRow(ctx, `
		SELECT day, now() FROM (
			(SELECT day, 1 AS rank FROM rollup_doubts ORDER BY day LIMIT 1)
			UNION ALL
			(SELECT d::date, 2 FROM generate_series(
				greatest($1::date, (SELECT (started_at AT TIME ZONE 'Asia/Shanghai')::date FROM collection)), $2::date, interval '1 day') AS d
			 WHERE NOT EXISTS (SELECT FROM day_checks c WHERE c.day = d::date) ORDER BY d LIMIT 1)
			UNION ALL
			(SELECT day, 3 FROM day_checks WHERE rollups < $3 AND day >= $1 ORDER BY day DESC LIMIT 1)
		) AS due ORDER BY rank LIMIT 1`, first.UTC(), closed.UTC(), len(rollups)).Scan(&at, &began)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the next day to compare: %w", err)
	}
	return m.check(ctx, beijing.Date(at.Date()), closed, began)
}

// firstChecked is the first day whose calls are all there: rollups outlive them, and are never repaired by what is left.
func (m *Maintenance) firstChecked(ctx context.Context) (beijing.Day, error) {
	today := beijing.Today(m.now())
	left, err := m.ledger.Left(ctx, today)
	if err != nil {
		return 0, err
	}
	return max(left.Calls, m.days.CallsFrom(today)), nil
}

// check compares a day until nothing differs, and notes that it did. A day that is not closed yet
// is only taken off the days of doubt, unless a doubt arose since began, by PostgreSQL's clock.
func (m *Maintenance) check(ctx context.Context, day, closed beijing.Day, began time.Time) error {
	repaired, err := m.repair(ctx, day)
	if err != nil {
		return fmt.Errorf("compare %s: %w", day, err)
	}
	if repaired > 0 {
		return nil // compared again in the next round
	}
	if _, err := m.pool.Exec(ctx, `DELETE FROM rollup_doubts WHERE day = $1 AND noted_at < $2`, day.UTC(), began); err != nil {
		return fmt.Errorf("days of doubt: %w", err)
	}
	if day > closed {
		return nil
	}
	calls, duplicates, err := m.duplicates(ctx, day)
	if err != nil {
		return err
	}
	if duplicates > 0 {
		m.metrics.duplicates.Add(float64(duplicates))
		m.log.Error("calls are stored more than once", "day", day, "rows", calls, "too_many", duplicates)
	}
	var missed int64
	if err := m.pool.QueryRow(ctx, `SELECT coalesce(sum(calls), 0)::bigint FROM dropped_calls WHERE day = $1`, day.UTC()).Scan(&missed); err != nil {
		return fmt.Errorf("missed calls of %s: %w", day, err)
	}
	if missed > 0 {
		m.log.Warn("calls of a closed day are missing", "day", day, "rows", calls, "missed", missed)
	}
	m.metrics.checked.Inc()
	_, err = m.pool.Exec(ctx, `
		INSERT INTO day_checks (day, calls, duplicates, rollups) VALUES ($1, $2, $3, $4)
		ON CONFLICT (day) DO UPDATE SET calls = excluded.calls, duplicates = excluded.duplicates, rollups = excluded.rollups, checked_at = now()`,
		day.UTC(), calls, duplicates, len(rollups))
	if err != nil {
		return fmt.Errorf("note the comparison: %w", err)
	}
	return nil
}

// repair adds to the rollups of a day what they lack of its calls, or takes away what they have
// too much, and tells how many rows it added. Rows and rollups of one insert commit one after the
// other, and a batch of uncertain fate may still be sent again and fill its rollups then. So a
// difference is certain only when it is the same, of the same calls, before and after the ledger
// has confirmed all that was handed over by the first look.
func (m *Maintenance) repair(ctx context.Context, day beijing.Day) (repaired int, err error) {
	err = m.servers.Each(ctx, func(ctx context.Context, on *shards.Shard) error {
		added, err := m.repairOn(ctx, on, day)
		repaired += added
		return err
	})
	if repaired > 0 {
		m.metrics.repaired.Add(float64(repaired))
		m.log.Warn("rollups disagreed with their calls and were repaired", "day", day, "rows", repaired)
	}
	return repaired, err
}

// comparedTables must be as far as each other to be compared.
var comparedTables = []string{"calls", "usage_daily", "usage_hourly", "tokens_daily", "tokens_hourly", "meters_daily", "meters_hourly", "keys_daily", "failures_daily"}

// repairOn is repair on one server, or shard: rollups stand beside their calls.
func (m *Maintenance) repairOn(ctx context.Context, on *shards.Shard, day beijing.Day) (repaired int, err error) {
	if err := on.CaughtUp(ctx, comparedTables...); err != nil {
		return 0, err
	}
	seen := map[differenceKey]uint64{}
	for _, r := range rollups {
		err := differences(ctx, on.Conn(), r, day, func(d *difference) error {
			seen[d.key(r)] = d.fingerprint()
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	if len(seen) == 0 {
		return 0, nil
	}
	if err := m.awaitConfirmed(ctx, time.Now().Add(m.margin)); err != nil {
		return 0, err
	}
	if err := on.CaughtUp(ctx, comparedTables...); err != nil {
		return 0, err
	}
	for _, r := range rollups {
		writer := &repairs{on: on, rollup: r}
		err := differences(ctx, on.Conn(), r, day, func(d *difference) error {
			if seen[d.key(r)] != d.fingerprint() {
				return nil
			}
			return writer.add(ctx, d)
		})
		if err := errors.Join(err, writer.flush(ctx)); err != nil {
			return repaired, err
		}
		repaired += writer.added
	}
	if repaired == 0 {
		return 0, shards.ErrNotCertain
	}
	return repaired, nil
}

// awaitConfirmed waits until everything handed over before until is confirmed.
func (m *Maintenance) awaitConfirmed(ctx context.Context, until time.Time) error {
	ctx, cancel := context.WithTimeoutCause(ctx, confirmWithin, shards.ErrNotCertain)
	defer cancel()
	for {
		through, err := m.ledger.Through(ctx)
		if err == nil && through.After(until) {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// duplicates counts the calls of a day, and the rows whose call id is there already. It looks hour
// by hour, for the ids of a day may not fit into memory; rows of one call have one start.
func (m *Maintenance) duplicates(ctx context.Context, day beijing.Day) (calls, duplicates int64, err error) {
	err = m.servers.Each(ctx, func(ctx context.Context, on *shards.Shard) error {
		rows, tooMany, err := duplicatesOn(ctx, on.Conn(), day)
		if err == nil {
			calls, duplicates = calls+rows, duplicates+tooMany
		}
		return err
	})
	return calls, duplicates, err
}

func duplicatesOn(ctx context.Context, conn driver.Conn, day beijing.Day) (calls, duplicates int64, err error) {
	for hour := day.Start(); hour.Before(day.End()); hour = hour.Add(time.Hour) {
		ctx, cancel := context.WithTimeout(ctx, statementTimeout)
		var rows, ids int64
		err := conn.QueryRow(ctx, `SELECT toInt64(count()), toInt64(uniqExact(call_id)) FROM calls WHERE `+between,
			span(hour, hour.Add(time.Hour))...).Scan(&rows, &ids)
		cancel()
		if err != nil {
			return 0, 0, fmt.Errorf("count calls of %s: %w", day, err)
		}
		calls, duplicates = calls+rows, duplicates+rows-ids
	}
	return calls, duplicates, nil
}
