// Package clickhouse holds the schema of the call ledger as goose migrations, embedded in the
// binary. Tables are named without a database: the one in the connection string is used.
package clickhouse

import (
	"context"
	"embed"
	"errors"
	"fmt"
	_ "time/tzdata" // the driver looks up the zones of columns and server; a bare container has none

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/pressly/goose/v3"
)

// Migrations are the goose files of this directory.
//
//go:embed *.sql
var Migrations embed.FS

// Up brings the database of clickhouseURL (native or http DSN) to the newest version and creates it
// when it does not exist. It is safe to run twice; ClickHouse has no lock to offer, so callers on
// several nodes must take one elsewhere.
func Up(ctx context.Context, clickhouseURL string) error {
	options, err := driver.ParseDSN(clickhouseURL)
	if err != nil {
		return fmt.Errorf("clickhouse URL: %w", err)
	}
	if err := createDatabase(ctx, *options); err != nil {
		return err
	}
	db := driver.OpenDB(options)
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

// codeUnknownDatabase is ClickHouse's UNKNOWN_DATABASE.
const codeUnknownDatabase = 81

// createDatabase creates the database only when it is missing: an account that may not create
// databases can still migrate one that exists.
func createDatabase(ctx context.Context, options driver.Options) error {
	db := driver.OpenDB(&options)
	err := db.PingContext(ctx)
	_ = db.Close()
	var refused *driver.Exception
	if err == nil || !errors.As(err, &refused) || refused.Code != codeUnknownDatabase {
		return nil // other errors show themselves in the migration
	}
	name := options.Auth.Database
	options.Auth.Database = "default"
	db = driver.OpenDB(&options)
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS {name:Identifier}", driver.Named("name", name)); err != nil {
		return fmt.Errorf("create clickhouse database: %w", err)
	}
	return nil
}
