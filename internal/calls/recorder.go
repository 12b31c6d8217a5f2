package calls

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
)

// Config is what an operator can say about recording. Zero values mean the defaults.
type Config struct {
	SpoolDir  string        // on a disk that outlives the process; one process at a time
	Node      string        // name of this gateway in the ledger
	RingBytes int           // memory for records not yet written, default 64 MiB
	MaxBytes  int64         // bytes the spool may take on disk, default: what the disk holds
	SealAfter time.Duration // age at which a segment is sent, default 500 ms; longer with many gateways
	Retain    time.Duration // how long a confirmed segment is kept, default 5 min
}

func (c Config) withDefaults() Config {
	if c.RingBytes <= 0 {
		c.RingBytes = 64 << 20
	}
	if c.SealAfter <= 0 {
		c.SealAfter = sealAfter
	}
	if c.Retain <= 0 {
		c.Retain = 5 * time.Minute
	}
	return c
}

// Recorder takes finished calls and brings them into the statistics.
type Recorder struct {
	redaction *redaction
	ring      *ring
	spool     *spool
	writer    *writer
	shipper   *shipper
	keeper    *keeper
	conn      driver.Conn
	metrics   *metrics

	writing, shipping, keeping sync.WaitGroup
	giveUp                     chan struct{}
	cancelShipping             context.CancelFunc
	closing                    sync.Once
	closed                     error
}

// Open takes over the spool directory, with what earlier processes left there, and starts
// recording. It succeeds while ClickHouse or PostgreSQL is down: records then wait in the spool.
// ctx bounds the opening alone. reg may be nil.
func Open(ctx context.Context, config Config, pool *pgxpool.Pool, clickhouseURL string, log *slog.Logger, reg prometheus.Registerer) (*Recorder, error) {
	config = config.withDefaults()
	conn, err := openClickHouse(clickhouseURL)
	if err != nil {
		return nil, err
	}
	spool, err := openSpool(ctx, config.SpoolDir, log)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	r := assemble(config, spool, conn, pool, log)
	if reg != nil {
		if err := r.metrics.register(reg, r); err != nil {
			return nil, errors.Join(err, conn.Close(), spool.lock.Close())
		}
	}
	for _, id := range spool.adopted {
		if err := r.keeper.drops.adopt(spool.homeOf(id)); err != nil {
			log.Error("cannot adopt counts of dropped calls", "error", err)
		}
	}
	// The ledger knows this spool before it accepts a record, or else the statistics would claim
	// to be complete without it. Without PostgreSQL nobody can ask the ledger either.
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	r.keeper.report(ctx, false)
	r.start()
	return r, nil
}

func assemble(config Config, spool *spool, conn driver.Conn, pool *pgxpool.Pool, log *slog.Logger) *Recorder {
	r := &Recorder{spool: spool, conn: conn, metrics: newMetrics(), giveUp: make(chan struct{})}
	drops := newDrops(spool.id)
	r.ring = newRing(config.RingBytes, drops)
	r.redaction = newRedaction(r.ring, log)
	r.keeper = &keeper{
		pool: pool, node: config.Node, redaction: r.redaction, ring: r.ring, spool: spool, drops: drops, log: log,
		stop: make(chan struct{}), woken: make(chan struct{}, 1), doubts: map[beijing.Day]bool{},
	}
	r.writer = &writer{
		ring: r.ring, spool: spool, limit: config.MaxBytes, every: config.SealAfter, log: log, metrics: r.metrics,
		stop: make(chan struct{}),
	}
	r.shipper = &shipper{
		spool: spool, conn: conn, drops: drops, keeper: r.keeper, retain: config.Retain, sure: sureWithin, log: log, metrics: r.metrics,
		stop: make(chan struct{}),
	}
	return r
}

func (r *Recorder) start() {
	r.redaction.done.Go(r.redaction.run)
	r.writer.sync.start(r.writer.log)
	r.writing.Go(func() { r.writer.run(r.giveUp) })
	ctx, cancel := context.WithCancel(context.Background())
	r.cancelShipping = cancel
	r.shipping.Go(func() { r.shipper.run(ctx) })
	r.keeping.Go(r.keeper.run)
}

// Add hands over a finished call, from any goroutine, without ever waiting for a disk or a store. The
// detail of a failed one is made beside the caller, unless it is small or very much waits already.
// When memory is full, the failure detail is dropped, then the record, counted and warned about
// (spec section 7). The record must not be touched afterwards.
func (r *Recorder) Add(record *Record) {
	if record.Unredacted != nil {
		r.redaction.add(record)
		return
	}
	r.ring.add(record)
}

// pending is the least end of the records that are not written yet, in Unix ms, or never. They move
// from the redaction to the ring, and are in the next place before they leave the last.
func (r *Recorder) pending() int64 { return min(r.redaction.pending(), r.ring.pending()) }

// Close stops accepting records, writes and syncs what it holds, ships everything and tells the
// ledger. Once ctx is done it leaves the rest on disk, where the next process finds it, and says
// so. Calling it again gives the same answer.
func (r *Recorder) Close(ctx context.Context) error {
	r.closing.Do(func() { r.closed = r.close(ctx) })
	return r.closed
}

// lastWords is what Close still takes after its ctx is done.
const lastWords = 2 * time.Second

func (r *Recorder) close(ctx context.Context) error {
	r.redaction.close()
	r.ring.close()
	close(r.writer.stop)
	writing := context.AfterFunc(ctx, func() { close(r.giveUp) })
	r.writing.Wait()
	writing()

	close(r.shipper.stop)
	shipping := context.AfterFunc(ctx, r.cancelShipping)
	r.shipping.Wait()
	shipping()
	r.cancelShipping()

	close(r.keeper.stop)
	r.keeping.Wait()
	r.keeper.warn()
	left := r.spool.backlog()
	final, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	r.keeper.report(final, left == 0)

	err := errors.Join(r.conn.Close(), r.spool.lock.Close())
	if left > 0 {
		err = errors.Join(err, fmt.Errorf("%d segments of call records are left in the spool: %w", left, context.Cause(ctx)))
	}
	return err
}
