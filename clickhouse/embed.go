// Package clickhouse holds the schema of the call ledger as goose migrations, embedded in the
// binary. Tables are named without a database: the one in the connection string is used.
package clickhouse

import (
	"context"
	"database/sql"
	"embed"
	"fmt"

	_ "github.com/ClickHouse/clickhouse-go/v2" // registers the "clickhouse" driver goose runs on
	"github.com/pressly/goose/v3"
)

// Migrations are the goose files of this directory.
//
//go:embed *.sql
var Migrations embed.FS

// Up brings the database of clickhouseURL (native or http DSN) to the newest version. It is safe
// to run twice; ClickHouse has no lock to offer, so callers on several nodes must take one elsewhere.
func Up(ctx context.Context, clickhouseURL string) error {
	db, err := sql.Open("clickhouse", clickhouseURL)
	if err != nil {
		return fmt.Errorf("open clickhouse: %w", err)
	}
	defer func() { _ = db.Close() }()
	provider, err := goose.NewProvider(goose.DialectClickHouse, db, Migrations)
	if err != nil {
		return fmt.Errorf("clickhouse migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate clickhouse: %w", err)
	}
	return nil
}
