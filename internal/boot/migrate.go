package boot

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"callgate/clickhouse"
	"callgate/sql"
)

// migrationLock serialises ClickHouse migrations of several nodes, on PostgreSQL's lock table
// because ClickHouse has none. Any number will do as long as nothing else uses it.
const migrationLock = 0x63616c6c67617465 // "callgate"

// Migrate brings both stores to the newest version. It is safe to run twice and by several nodes
// at once: they take turns. With readerPassword it also makes the data team's account in ClickHouse,
// or changes its password.
func Migrate(ctx context.Context, databaseURL, clickhouseURL, readerPassword string) error {
	pool, err := openPostgres(ctx, databaseURL, nil)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := refuseTransactionPooling(ctx, pool); err != nil {
		return err
	}
	if err := sql.Up(ctx, databaseURL); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return fmt.Errorf("connect to postgres: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // closing gives the lock back
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, int64(migrationLock)); err != nil {
		return fmt.Errorf("lock migrations: %w", err)
	}
	if err := clickhouse.Up(ctx, clickhouseURL); err != nil || readerPassword == "" {
		return err
	}
	return clickhouse.Reader(ctx, clickhouseURL, readerPassword)
}
