// Package clickhouse holds the schema of the call ledger as goose migrations, embedded in the
// binary. Tables are named without a database: the one in the connection string is used.
package clickhouse

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	_ "time/tzdata" // the driver looks up the zones of columns and server; a bare container has none

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/pressly/goose/v3"

	"callgate/internal/cluster"
	"callgate/internal/migrating"
	"callgate/internal/progress"
)

// Migrations are the goose files of this directory.
//
//go:embed *.sql
var Migrations embed.FS

// views are the plain views that data teams read, a file each, whatever the version of the tables: they are replaced at
// every migrate. Materialized views are migrations, for a retry under its token does not know one that was altered.
//
//go:embed views/*.sql
var views embed.FS

// Up brings the database of an address (native or http DSN, or a cluster's) to the newest version and creates
// it when it does not exist; of a cluster on every node (cluster.go). It is safe to run twice; ClickHouse has
// no lock to offer, so callers on several nodes must take one elsewhere.
func Up(ctx context.Context, address string) error {
	return UpWithProgress(ctx, address, progress.Output{})
}

// UpWithProgress is Up, and shows how far it is.
func UpWithProgress(ctx context.Context, address string, display progress.Output) error {
	options, name, err := cluster.Parse(address)
	if err != nil {
		return err
	}
	if name != "" {
		return upCluster(ctx, options, name, display)
	}
	if err := up(ctx, options, Migrations, display); err != nil {
		return err
	}
	return replaceViews(ctx, options, func(sql string) string { return sql })
}

// up brings one database of one server to the newest version.
func up(ctx context.Context, options *driver.Options, migrations fs.FS, display progress.Output) error {
	if err := createDatabase(ctx, *options); err != nil {
		return err
	}
	db := driver.OpenDB(options)
	defer func() { _ = db.Close() }()
	provider, err := goose.NewProvider(goose.DialectClickHouse, db, migrations)
	if err != nil {
		return fmt.Errorf("clickhouse migrations: %w", err)
	}
	if err := migrating.Up(ctx, db, provider, display, "migrations of ClickHouse applied"); err != nil {
		return fmt.Errorf("migrate clickhouse: %w", err)
	}
	return nil
}

// replaceViews makes the views of a database what their files say, as change rewrites them.
func replaceViews(ctx context.Context, options *driver.Options, change func(sql string) string) error {
	files, err := views.ReadDir("views")
	if err != nil {
		return fmt.Errorf("clickhouse views: %w", err)
	}
	db := driver.OpenDB(options)
	defer func() { _ = db.Close() }()
	for _, file := range files {
		text, err := views.ReadFile("views/" + file.Name())
		if err != nil {
			return fmt.Errorf("clickhouse views: %w", err)
		}
		if _, err := db.ExecContext(ctx, change(string(text))); err != nil {
			return fmt.Errorf("replace view %s: %w", file.Name(), err)
		}
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
