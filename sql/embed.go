// Package sql holds the PostgreSQL schema as goose migrations, embedded in the binary so that
// every node can bring the database to the version it was built for.
package sql

import (
	"context"
	"embed"
	"fmt"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the "pgx" driver goose runs on
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	dbsql "database/sql"
)

// Migrations are the goose files of this directory.
//
//go:embed *.sql
var Migrations embed.FS

// Up brings the database at databaseURL to the newest version. It is safe to run twice and by
// several nodes at once: a session advisory lock lets one of them work and the others wait.
func Up(ctx context.Context, databaseURL string) error {
	db, err := dbsql.Open("pgx", databaseURL)
	if err != nil {
		return fmt.Errorf("open postgres: %w", err)
	}
	defer func() { _ = db.Close() }()
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 120), lock.WithUnlockTimeout(1, 10))
	if err != nil {
		return fmt.Errorf("postgres migration lock: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, Migrations, goose.WithSessionLocker(locker))
	if err != nil {
		return fmt.Errorf("postgres migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate postgres: %w", err)
	}
	return nil
}
