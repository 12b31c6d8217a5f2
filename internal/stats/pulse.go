package stats

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/singleflight"
)

const (
	// quietFor is how long a question goes on before, and between, looks whether the server answers at all, and
	// beatWithin how long it has to. Together they make an answer about a server that hangs come within three seconds.
	quietFor   = 800 * time.Millisecond
	beatWithin = 1200 * time.Millisecond
)

var errHangs = errors.New("ClickHouse accepts connections and answers nothing")

// pulse tells a single server that hangs from a question that takes long: a long one goes on as long as the server
// answers something simpler. Nodes of a cluster are watched by cluster.Pool. Nil watches nothing.
type pulse struct {
	conn  driver.Conn // one that lives for a second: an old one may be dead for reasons of its own
	looks singleflight.Group
}

func newPulse(options *clickhouse.Options) (*pulse, error) {
	of := *options
	of.DialTimeout, of.MaxOpenConns, of.MaxIdleConns, of.ConnMaxLifetime = beatWithin, 1, 1, time.Second
	conn, err := clickhouse.Open(&of)
	return &pulse{conn: conn}, err
}

func (p *pulse) close() error {
	if p == nil {
		return nil
	}
	return p.conn.Close()
}

// follow gives a context for a question that ends when the server is found to hang, and what must be called after it.
func (p *pulse) follow(ctx context.Context) (context.Context, func()) {
	if p == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(quietFor, func() {
		for ctx.Err() == nil {
			if err := p.look(); err != nil {
				cancel(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(quietFor):
			}
		}
	})
	return ctx, func() { late.Stop(); cancel(nil) }
}

// look asks, together with all who want to know, whether the server answers. Whatever else is wrong its questions tell.
func (p *pulse) look() error {
	_, err, _ := p.looks.Do("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), beatWithin)
		defer cancel()
		err := p.conn.Ping(ctx)
		var timed net.Error
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, clickhouse.ErrAcquireConnTimeout) || errors.As(err, &timed) && timed.Timeout() {
			return nil, fmt.Errorf("%w: %w", errHangs, err)
		}
		return nil, nil
	})
	return err
}

// ask is conn.Query that ends with ctx, also while it makes a connection, which the driver goes on with for a while.
func ask(ctx context.Context, conn asker, query string, args []any) (driver.Rows, error) {
	type answer struct {
		rows driver.Rows
		err  error
	}
	came := make(chan answer, 1)
	go func() {
		rows, err := conn.Query(ctx, query, args...)
		came <- answer{rows, err}
	}()
	select {
	case a := <-came:
		if a.err != nil {
			a.err = errors.Join(a.err, context.Cause(ctx))
		}
		return a.rows, a.err
	case <-ctx.Done():
		go func() {
			if a := <-came; a.err == nil {
				_ = a.rows.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
}
