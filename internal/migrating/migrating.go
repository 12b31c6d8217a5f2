// Package migrating brings a store to the newest version of its schema and tells how far that is.
package migrating

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/pressly/goose/v3"

	"callgate/internal/progress"
)

const lookEvery = 250 * time.Millisecond

// Up applies what is missing. what is the work, in the plural, such as "migrations of PostgreSQL applied".
func Up(ctx context.Context, db *sql.DB, p *goose.Provider, display progress.Output, what string) error {
	began := version(ctx, db)
	meter := display.Begin(what, applied(p, began, p.ListSources()[len(p.ListSources())-1].Version))
	if meter == nil {
		_, err := p.Up(ctx)
		return err
	}
	defer meter.End()
	done := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() { // another process may be the one that migrates
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			now := version(ctx, db)
			meter.Add(applied(p, began, now))
			began = max(began, now)
		}
	})
	_, err := p.Up(ctx)
	close(done)
	looking.Wait()
	return err
}

// version is the database's; 0 when it has none, or cannot be asked.
func version(ctx context.Context, db *sql.DB) (v int64) {
	_ = db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version`).Scan(&v) // Up says what is wrong
	return v
}

// applied is how many migrations lie between two versions.
func applied(p *goose.Provider, from, to int64) (n int64) {
	for _, source := range p.ListSources() {
		if source.Version > from && source.Version <= to {
			n++
		}
	}
	return n
}
