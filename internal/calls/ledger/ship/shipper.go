// Package ship brings the calls of a spool into ClickHouse, each once.
//
// A Shipper cuts sealed segments into batches by Beijing day and inserts each under a token that any process
// derives alike, so that it can be sent again and still counts once; what ClickHouse lost in a power
// failure is sent again. It reports to the ledger up to when everything is confirmed, and what is known to
// be missing.
package ship

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger/shards"
	"callgate/internal/calls/spool"
)

// Config is what an operator can say about shipping. Zero values mean the defaults.
type Config struct {
	Node    string        // name of this gateway's host in the ledger
	Role    string        // of this process, and
	Version string        // its version, for its heartbeat
	Retain  time.Duration // how long a confirmed segment is kept, default 5 min
	// WatchTLS is given the configuration of connections to ClickHouse, nil for those without TLS.
	WatchTLS func(*tls.Config)
}

// Shipper sends the sealed segments of a spool to ClickHouse, oldest first, until all of each is confirmed,
// and tells the ledger. Each shard of a cluster has a worker of its own, so that one that is away holds up its own
// batches and no others; a single server has one.
type Shipper struct {
	shipping
	servers *shards.Servers
	workers []*worker

	sending, reporting sync.WaitGroup
	cancel             context.CancelFunc
	closing            sync.Once
	closed             error
}

// shipping is what the workers share.
type shipping struct {
	spool    *spool.Spool
	segments *progress
	reporter *reporter
	log      *slog.Logger
	metrics  *metrics

	retain      time.Duration // how long a confirmed segment is kept
	dedupWindow time.Duration // how long a token is certainly remembered

	stop chan struct{} // closed: end when nothing waits
}

// Start starts to ship what is in a spool. It succeeds while ClickHouse or PostgreSQL is down: records then
// wait. ctx bounds the start alone. reg may be nil.
func Start(ctx context.Context, config Config, from *spool.Spool, pool *pgxpool.Pool, address string, log *slog.Logger, reg prometheus.Registerer) (*Shipper, error) {
	if config.Retain <= 0 {
		config.Retain = 5 * time.Minute
	}
	servers, err := shards.Open(address)
	if err != nil {
		return nil, err
	}
	if config.WatchTLS != nil {
		config.WatchTLS(servers.Options().TLS)
	}
	s := newShipper(config, from, servers, pool, log)
	if reg != nil {
		if err := s.metrics.register(reg); err != nil {
			return nil, errors.Join(err, servers.Close())
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

func newShipper(config Config, from *spool.Spool, to *shards.Servers, pool *pgxpool.Pool, log *slog.Logger) *Shipper {
	return &Shipper{servers: to, shipping: shipping{
		spool: from, segments: newProgress(from), log: log, metrics: newMetrics(), retain: config.Retain, dedupWindow: dedupWindow,
		reporter: &reporter{
			pool: pool, node: config.Node, role: config.Role, version: config.Version, started: time.Now(), spool: from, log: log,
			stop: make(chan struct{}), wake: make(chan struct{}, 1), doubts: map[beijing.Day]bool{},
		},
		stop: make(chan struct{}),
	}}
}

func (s *Shipper) start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.sending.Go(func() { s.send(ctx) })
	s.reporting.Go(s.reporter.run)
}

// Close ships everything that waits, and tells the ledger. It comes after the spool's Drain and before its
// Close. Once ctx is done it leaves the rest on disk, where the next process finds it, and says so: Waiting. Calling it
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
	s.sending.Wait()
	giveUp()
	s.cancel()

	close(s.reporter.stop)
	s.reporting.Wait()
	s.reporter.warn()
	unsent := s.spool.Backlog()
	final, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalReport)
	defer cancel()
	s.reporter.report(final, unsent == 0)

	err := s.servers.Close()
	if unsent > 0 {
		err = errors.Join(err, Waiting{Segments: unsent, Cause: context.Cause(ctx)})
	}
	return err
}

// Waiting is what Close did not ship. Nothing of it is lost: the next process on the spool's directory does.
type Waiting struct {
	Segments int
	Cause    error
}

func (w Waiting) Error() string {
	return fmt.Sprintf("%d segments of call records are left in the spool: %v", w.Segments, w.Cause)
}

// Ping asks ClickHouse whether it answers, on a connection of the shipper's; of a cluster every shard.
func (s *Shipper) Ping(ctx context.Context) error {
	err := s.servers.Each(ctx, func(ctx context.Context, on *shards.Shard) error { return on.Conn().Ping(ctx) })
	if err != nil {
		return fmt.Errorf("ask clickhouse: %w", err)
	}
	return nil
}
