package boot

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/secret"
)

const (
	fitEvery   = time.Second // until it is known whether the secrets fit
	fitTimeout = time.Minute // of one look at what is stored
	fitRepeat  = time.Minute // between two lines that say the same
)

// fit finds out whether the secrets are those that what is stored was written with. Until they are known to be the process is
// not ready: it would refuse every valid Access Key, or fail every call. Once they are, no store that is away changes that.
type fit struct {
	known atomic.Bool
	stop  context.CancelFunc
	ended sync.WaitGroup
}

var errUnfit = errors.New("the secrets are not known to be those of what is stored")

func startFit(pool *pgxpool.Pool, ring *secret.Keyring, pepper secret.Pepper, logger *slog.Logger) *fit {
	ctx, stop := context.WithCancel(context.Background())
	f := &fit{stop: stop}
	f.ended.Go(func() {
		f.run(ctx, func(ctx context.Context) error { return secret.Fit(ctx, pool, ring, pepper) }, logger)
	})
	return f
}

func (f *fit) run(ctx context.Context, look func(context.Context) error, logger *slog.Logger) {
	var said string
	var at time.Time
	for {
		limited, cancel := context.WithTimeout(ctx, fitTimeout)
		err := look(limited)
		cancel()
		if err == nil {
			f.known.Store(true)
			return
		}
		if ctx.Err() != nil {
			return
		}
		if err.Error() != said || time.Since(at) >= fitRepeat {
			said, at = err.Error(), time.Now()
			if errors.Is(err, secret.ErrUnfit) {
				logger.Error("this process does not become ready: its secrets do not fit", "error", err)
			} else {
				logger.Warn("it cannot be found out whether the secrets fit what is stored; it is tried again", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(fitEvery):
		}
	}
}

func (f *fit) ready(context.Context) error {
	if f.known.Load() {
		return nil
	}
	return errUnfit
}

// Close ends the looking.
func (f *fit) Close() {
	f.stop()
	f.ended.Wait()
}
