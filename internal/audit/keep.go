package audit

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/beijing"
)

const (
	keepEvery    = time.Hour
	forgetAtOnce = 5000 // entries, so that no transaction is long
)

// Keeper forgets entries once they have been kept for long enough. Every node may run one.
type Keeper struct {
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// Keep begins to forget entries of Beijing days that are more than so many before today.
func Keep(pool *pgxpool.Pool, days int, log *slog.Logger) *Keeper {
	ctx, stop := context.WithCancel(context.Background())
	k := &Keeper{stop: stop}
	k.ended.Go(func() {
		tick := time.NewTicker(keepEvery)
		defer tick.Stop()
		for {
			gone, err := forget(ctx, pool, (beijing.Today(time.Now()) - beijing.Day(days)).Start())
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				log.Warn("old audit entries could not be removed; next try in an hour", "error", err)
			case gone > 0:
				log.Info("old audit entries were removed", "entries", gone)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
	return k
}

// Close ends it.
func (k *Keeper) Close() {
	k.stop()
	k.ended.Wait()
}

// forget removes entries of before a time, and gives how many those were.
func forget(ctx context.Context, pool *pgxpool.Pool, before time.Time) (gone int64, err error) {
	for {
		tag, err := pool.Exec(ctx, `DELETE FROM audit_log WHERE id IN (SELECT id FROM audit_log WHERE at < $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)`, before, forgetAtOnce)
		if err != nil {
			return gone, fmt.Errorf("remove audit entries: %w", err)
		}
		if gone += tag.RowsAffected(); tag.RowsAffected() < forgetAtOnce {
			return gone, nil
		}
	}
}
