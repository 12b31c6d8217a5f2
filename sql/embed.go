// Package sql holds the PostgreSQL schema as goose migrations, embedded in the binary so that
// every node can bring the database to the version it was built for.
package sql

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the "pgx" driver goose runs on
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	dbsql "database/sql"

	"callgate/internal/migrating"
	"callgate/internal/progress"
)

// Migrations are the goose files of this directory. Numbers that are missing were never used.
//
//go:embed *.sql
var Migrations embed.FS

// Up brings the database at databaseURL to the newest version. It is safe to run twice and by
// several nodes at once: a session advisory lock lets one of them work and the others wait.
func Up(ctx context.Context, databaseURL string) error {
	return UpWithProgress(ctx, databaseURL, progress.Output{})
}

// UpWithProgress is Up, and shows how far it is.
func UpWithProgress(ctx context.Context, databaseURL string, display progress.Output) error {
	return with(databaseURL, func(db *dbsql.DB, p *goose.Provider) error {
		return migrating.Up(ctx, db, p, display, "migrations of PostgreSQL applied")
	})
}

// Newest is the version that Up leads to.
func Newest() (int64, error) {
	names, err := fs.Glob(Migrations, "*.sql")
	if err != nil || len(names) == 0 {
		return 0, fmt.Errorf("postgres migrations: %w", err)
	}
	return goose.NumericComponent(names[len(names)-1])
}

// Remake takes away everything that is in the database and makes the schema of a version.
func Remake(ctx context.Context, databaseURL string, version int64) error {
	return with(databaseURL, func(_ *dbsql.DB, p *goose.Provider) error {
		if _, err := p.DownTo(ctx, 0); err != nil {
			return err
		}
		_, err := p.UpTo(ctx, version)
		return err
	})
}

func with(databaseURL string, do func(*dbsql.DB, *goose.Provider) error) error {
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
	if err := do(db, provider); err != nil {
		return fmt.Errorf("migrate postgres: %w", err)
	}
	return nil
}
