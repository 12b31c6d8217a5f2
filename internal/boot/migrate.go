package boot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/clickhouse"
	"callgate/internal/beijing"
	"callgate/internal/calls/ledger/upkeep"
	"callgate/internal/config"
	"callgate/internal/progress"
	"callgate/internal/retention"
	"callgate/sql"
)

// migrationLock serialises ClickHouse migrations of several nodes, on PostgreSQL's lock table
// because ClickHouse has none. Any number will do as long as nothing else uses it.
const migrationLock = 0x63616c6c67617465 // "callgate"

// Migrate brings both stores to the newest version, and makes calls live as long as they are to be kept. It is safe
// to run twice and by several nodes at once: they take turns. With ClickHouseReaderPassword it also makes the data
// team's account in ClickHouse, or changes its password. shown tells how far it is.
func Migrate(ctx context.Context, c config.Config, display progress.Output) error {
	pool, err := openPostgres(ctx, c.DatabaseURL, nil)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := refuseTransactionPooling(ctx, pool); err != nil {
		return err
	}
	if err := sql.UpWithProgress(ctx, c.DatabaseURL, display); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, c.DatabaseURL)
	if err != nil {
		return fmt.Errorf("connect to postgres: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // closing gives the lock back
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(migrationLock)); err != nil {
		return fmt.Errorf("lock migrations: %w", err)
	}
	err = errors.Join(clickhouse.UpWithProgress(ctx, c.ClickHouseURL, display), retain(ctx, pool, c.ClickHouseURL, c.Retention()))
	if err != nil || c.ClickHouseReaderPassword == "" {
		return err
	}
	return clickhouse.Reader(ctx, c.ClickHouseURL, c.ClickHouseReaderPassword)
}

// retain notes what longer times to live will not bring back, and sets them. A node of a cluster that is away keeps
// its own until it is back, as with migrations; what is noted then is the worst of those that answered.
func retain(ctx context.Context, pool *pgxpool.Pool, clickhouseURL string, days retention.Days) error {
	lived, err := clickhouse.Lived(ctx, clickhouseURL)
	if noted := upkeep.NoteRetention(ctx, pool, lived, days, beijing.Today(time.Now())); noted != nil {
		return errors.Join(err, noted)
	}
	return errors.Join(err, clickhouse.Retain(ctx, clickhouseURL, days))
}
