package boot

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	guardPause = 500 * time.Millisecond
	guardReply = time.Second             // for an answer on the connection at hand
	guardFresh = 1500 * time.Millisecond // for a new connection, of each host
)

var errPostgresSilent = errors.New("PostgreSQL does not answer")

// guard asks PostgreSQL twice a second whether it answers, on a connection of its own, so that a
// server that hangs (frozen, or behind a network that drops everything) makes nobody wait for longer
// than it takes to find that out, about three seconds: what waits then is ended, and until it answers
// again management requests are refused at once. The call path does not ask it.
type guard struct {
	pool  *pgxpool.Pool
	conn  *pgx.Conn
	stop  context.CancelFunc
	ended chan struct{}

	mu    sync.Mutex
	alive context.Context // done while PostgreSQL does not answer
	fail  context.CancelCauseFunc
}

func startGuard(pool *pgxpool.Pool) *guard {
	ctx, stop := context.WithCancel(context.Background())
	g := &guard{pool: pool, stop: stop, ended: make(chan struct{})}
	g.alive, g.fail = context.WithCancelCause(context.Background())
	go g.run(ctx)
	return g
}

// Close ends the asking.
func (g *guard) Close() {
	g.stop()
	<-g.ended
}

// Guard gives a context that ends when PostgreSQL stops to answer, and its release; the error is that
// it does not answer now.
func (g *guard) Guard(ctx context.Context) (context.Context, context.CancelFunc, error) {
	alive := g.state()
	if err := context.Cause(alive); err != nil {
		return nil, nil, err
	}
	limited, cancel := context.WithCancelCause(ctx)
	watching := context.AfterFunc(alive, func() { cancel(context.Cause(alive)) })
	return limited, func() { watching(); cancel(nil) }, nil
}

func (g *guard) state() context.Context {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.alive
}

func (g *guard) run(ctx context.Context) {
	defer close(g.ended)
	defer g.drop()
	pause := time.NewTicker(guardPause)
	defer pause.Stop()
	for {
		err := g.ask(ctx)
		if ctx.Err() != nil {
			return
		}
		g.note(err)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// note tells those who wait when the state has changed; the log has it of watch.
func (g *guard) note(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	was := g.alive.Err() == nil
	switch {
	case err != nil && was:
		g.fail(errors.Join(errPostgresSilent, err))
		g.pool.Reset() // connections that hang are of no use afterwards
	case err == nil && !was:
		g.alive, g.fail = context.WithCancelCause(context.Background())
	}
}

// ask tries the connection at hand and, when that fails, a new one: one lost connection is no outage.
func (g *guard) ask(ctx context.Context) error {
	if g.conn != nil {
		limited, cancel := context.WithTimeout(ctx, guardReply)
		err := g.conn.Ping(limited)
		cancel()
		if err == nil {
			return nil
		}
		g.drop()
	}
	settings := g.pool.Config().ConnConfig
	settings.ConnectTimeout = min(settings.ConnectTimeout, guardFresh)
	limited, cancel := context.WithTimeout(ctx, guardFresh*time.Duration(1+len(settings.Fallbacks)))
	defer cancel()
	conn, err := pgx.ConnectConfig(limited, settings)
	if err != nil {
		return err
	}
	g.conn = conn
	return conn.Ping(limited)
}

func (g *guard) drop() {
	if g.conn == nil {
		return
	}
	limited, cancel := context.WithTimeout(context.Background(), guardPause)
	defer cancel()
	_ = g.conn.Close(limited)
	g.conn = nil
}
