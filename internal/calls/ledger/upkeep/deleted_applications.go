package upkeep

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/calls/ledger/shards"
)

const (
	// sweepAtOnce bounds the applications of one round; each statement deletes in one partition.
	sweepAtOnce = 200
	// lateRows is how long after its deletion an application's last rows may come, when no spool
	// is held up, and lateMargin how much later than its longest call: calls in flight end within CALL_TIMEOUT.
	lateRows   = 24 * time.Hour
	lateMargin = time.Hour
)

// sweptTables are all that hold an application's calls.
var sweptTables = []string{"calls", "call_failures", "usage_daily", "usage_hourly", "tokens_daily", "tokens_hourly", "meters_daily", "meters_hourly", "keys_daily", "failures_daily", "app_models", "app_keys", "days_closed"}

// hide tells ClickHouse which applications are deleted, so that its live_ views forget them.
// Doing it twice changes nothing.
func (m *Maintenance) hide(ctx context.Context) error {
	deleted, err := m.deleted(ctx, `hidden_at IS NULL`)
	if err != nil || len(deleted) == 0 {
		return err
	}
	if err := m.servers.Each(ctx, func(ctx context.Context, on *shards.Shard) error { return hideOn(ctx, on.Conn(), deleted) }); err != nil {
		return err
	}
	return m.note(ctx, `UPDATE deleted_applications SET hidden_at = now() WHERE id = ANY($1)`, deleted)
}

// hideOn tells one server, or shard: each is told of all, for it looks among those that it knows.
func hideOn(ctx context.Context, conn driver.Conn, deleted []deletedApplication) error {
	ctx, cancel := context.WithTimeout(ctx, shards.InsertTimeout)
	defer cancel()
	batch, err := conn.PrepareBatch(ctx, `INSERT INTO deleted_applications (application_id, deleted_at)`)
	if err != nil {
		return fmt.Errorf("hide deleted applications: %w", err)
	}
	for _, d := range deleted {
		if err := batch.Append(d.ID, d.DeletedAt); err != nil {
			return fmt.Errorf("hide deleted applications: %w", err)
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("hide deleted applications: %w", err)
	}
	return nil
}

// sweep removes the rows of hidden applications: once soon, and again when neither time nor the
// ledger leaves room for late ones. Ids are never reused, so a row removed is never missed.
func (m *Maintenance) sweep(ctx context.Context) error {
	fresh, err := m.deleted(ctx, `hidden_at IS NOT NULL AND swept_at IS NULL`)
	if err != nil {
		return err
	}
	if err := m.remove(ctx, fresh, `UPDATE deleted_applications SET swept_at = now() WHERE id = ANY($1)`); err != nil {
		return err
	}
	m.metrics.swept.Add(float64(len(fresh)))
	through, err := m.ledger.Through(ctx)
	if err != nil {
		return err
	}
	if now := m.now(); now.Before(through) {
		through = now
	}
	late, err := m.deleted(ctx, `swept_at IS NOT NULL AND purged_at IS NULL AND deleted_at < $2`, through.Add(-max(lateRows, m.longest+lateMargin)))
	if err != nil {
		return err
	}
	return m.remove(ctx, late, `UPDATE deleted_applications SET purged_at = now() WHERE id = ANY($1)`)
}

type deletedApplication struct {
	ID        uuid.UUID
	DeletedAt time.Time
}

func (m *Maintenance) deleted(ctx context.Context, condition string, args ...any) ([]deletedApplication, error) {
	rows, err := m.pool.Query(ctx, `SELECT id, deleted_at FROM deleted_applications
		WHERE purged_at IS NULL AND `+condition+` ORDER BY deleted_at LIMIT $1`, append([]any{sweepAtOnce}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("deleted applications: %w", err)
	}
	deleted, err := pgx.CollectRows(rows, pgx.RowToStructByPos[deletedApplication])
	if err != nil {
		return nil, fmt.Errorf("deleted applications: %w", err)
	}
	return deleted, nil
}

func (m *Maintenance) note(ctx context.Context, update string, deleted []deletedApplication) error {
	if _, err := m.pool.Exec(ctx, update, idsOf(deleted)); err != nil {
		return fmt.Errorf("note the state of deleted applications: %w", err)
	}
	return nil
}

func idsOf(deleted []deletedApplication) []uuid.UUID {
	ids := make([]uuid.UUID, len(deleted))
	for i, d := range deleted {
		ids[i] = d.ID
	}
	return ids
}

// remove deletes every row of the applications, partition by partition, and notes that it has.
func (m *Maintenance) remove(ctx context.Context, deleted []deletedApplication, update string) error {
	if len(deleted) == 0 {
		return nil
	}
	ids := clickhouse.Named("applications", idsOf(deleted))
	err := m.servers.Each(ctx, func(ctx context.Context, on *shards.Shard) error {
		// A replica that lacks rows would find nothing to remove, and wait in vain for what it must fetch first.
		if err := on.CaughtUp(ctx, sweptTables...); err != nil {
			return err
		}
		return removeFrom(ctx, on.Conn(), ids)
	})
	if err != nil {
		return err
	}
	m.log.Info("calls of deleted applications were removed", "applications", len(deleted))
	return m.note(ctx, update, deleted)
}

// removeFrom deletes on one server, or shard. Its replicas need not all be there: those that are away follow
// when they are back.
func removeFrom(ctx context.Context, conn driver.Conn, ids any) error {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"lightweight_deletes_sync": 1}))
	for _, table := range sweptTables {
		partitions, err := partitionsOf(ctx, conn, table, ids)
		if err != nil {
			return err
		}
		for _, partition := range partitions {
			ctx, cancel := context.WithTimeout(ctx, statementTimeout)
			err := conn.Exec(ctx, `DELETE FROM `+table+` IN PARTITION ID '`+partition+`' WHERE application_id IN {applications:Array(UUID)}`, ids)
			cancel()
			if err != nil {
				return fmt.Errorf("sweep %s: %w", table, err)
			}
		}
	}
	return nil
}

// partitionsOf are those of a table that hold rows of the applications. Their ids are ClickHouse's
// own: digits, or "all".
func partitionsOf(ctx context.Context, conn driver.Conn, table string, ids any) ([]string, error) {
	rows, err := conn.Query(ctx, `SELECT DISTINCT _partition_id FROM `+table+` WHERE application_id IN {applications:Array(UUID)}`, ids)
	if err != nil {
		return nil, fmt.Errorf("partitions of %s: %w", table, err)
	}
	defer func() { _ = rows.Close() }()
	var partitions []string
	for rows.Next() {
		var partition string
		if err := rows.Scan(&partition); err != nil {
			return nil, fmt.Errorf("partitions of %s: %w", table, err)
		}
		partitions = append(partitions, partition)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("partitions of %s: %w", table, err)
	}
	return partitions, nil
}
