package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/beijing"
	"callgate/internal/calls/spool"
)

// Config is what an operator can say about shipping. Zero values mean the defaults.
type Config struct {
	Node    string        // name of this gateway's host in the ledger
	Role    string        // of this process, and
	Version string        // its version, for its heartbeat
	Retain  time.Duration // how long a confirmed segment is kept, default 5 min
}

// Shipper sends the sealed segments of a spool to ClickHouse, oldest first, until all of each is confirmed,
// and tells the ledger.
type Shipper struct {
	spool    *spool.Spool
	conn     driver.Conn
	reporter *reporter
	log      *slog.Logger
	metrics  *metrics

	retain      time.Duration // how long a confirmed segment is kept
	dedupWindow time.Duration // how long a token is certainly remembered

	// Touched by the shipping goroutine alone.
	shipments   map[*spool.Segment]*shipment
	content     spool.Content
	columns     callColumns
	unreachable int // attempts in a row in which ClickHouse could not be reached

	stop                chan struct{} // closed: end when nothing waits
	shipping, reporting sync.WaitGroup
	cancel              context.CancelFunc
	closing             sync.Once
	closed              error
}

// Ship starts to ship what is in a spool. It succeeds while ClickHouse or PostgreSQL is down: records then
// wait. ctx bounds the start alone. reg may be nil.
func Ship(ctx context.Context, config Config, from *spool.Spool, pool *pgxpool.Pool, clickhouseURL string, log *slog.Logger, reg prometheus.Registerer) (*Shipper, error) {
	if config.Retain <= 0 {
		config.Retain = 5 * time.Minute
	}
	conn, err := openClickHouse(clickhouseURL)
	if err != nil {
		return nil, err
	}
	s := newShipper(config, from, conn, pool, log)
	if reg != nil {
		if err := s.metrics.register(reg); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	// The ledger knows this spool before it is given a record, or else the statistics would claim to be
	// complete without it. Without PostgreSQL nobody can ask the ledger either.
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	s.reporter.report(ctx, false)
	s.start()
	return s, nil
}

func newShipper(config Config, from *spool.Spool, conn driver.Conn, pool *pgxpool.Pool, log *slog.Logger) *Shipper {
	return &Shipper{
		spool: from, conn: conn, log: log, metrics: newMetrics(), retain: config.Retain, dedupWindow: dedupWindow,
		reporter: &reporter{
			pool: pool, node: config.Node, role: config.Role, version: config.Version, started: time.Now(), spool: from, log: log,
			stop: make(chan struct{}), wake: make(chan struct{}, 1), doubts: map[beijing.Day]bool{},
		},
		shipments: map[*spool.Segment]*shipment{}, stop: make(chan struct{}),
	}
}

func (s *Shipper) start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.shipping.Go(func() { s.run(ctx) })
	s.reporting.Go(s.reporter.run)
}

// Close ships everything that waits, and tells the ledger. It comes after the spool's Drain and before its
// Close. Once ctx is done it leaves the rest on disk, where the next process finds it, and says so. Calling it
// again gives the same answer.
func (s *Shipper) Close(ctx context.Context) error {
	s.closing.Do(func() { s.closed = s.close(ctx) })
	return s.closed
}

// finalReport is what Close still takes after its ctx is done.
const finalReport = 2 * time.Second

func (s *Shipper) close(ctx context.Context) error {
	close(s.stop)
	giveUp := context.AfterFunc(ctx, s.cancel)
	s.shipping.Wait()
	giveUp()
	s.cancel()

	close(s.reporter.stop)
	s.reporting.Wait()
	s.reporter.warn()
	unsent := s.spool.Backlog()
	final, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalReport)
	defer cancel()
	s.reporter.report(final, unsent == 0)

	err := s.conn.Close()
	if unsent > 0 {
		err = errors.Join(err, fmt.Errorf("%d segments of call records are left in the spool: %w", unsent, context.Cause(ctx)))
	}
	return err
}
