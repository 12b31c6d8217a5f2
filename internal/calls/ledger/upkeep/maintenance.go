// Package upkeep keeps right what is stored of calls: those of deleted applications are hidden and swept, rollups that
// disagree with their calls are repaired, and how long calls are kept is noted.
package upkeep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/shards"
	"callgate/internal/leader"
	"callgate/internal/retention"
)

// maintenanceLock is the advisory lock of PostgreSQL under which one node at a time maintains.
const maintenanceLock = 0x6d61696e7461696e // "maintain"

const (
	maintenanceEvery = time.Second      // how soon a deleted application is hidden from the views
	maintenanceRetry = 20 * time.Second // after a failure, and until a busy day is compared again
	statementTimeout = 10 * time.Minute // of one statement
)

// Maintenance keeps what is stored right in the background: calls of deleted applications are
// hidden and swept (deleted_applications.go), and every closed day's rollups are compared with its calls and
// repaired (reconcile.go). Every node may run one; they take turns.
type Maintenance struct {
	pool    *pgxpool.Pool
	ledger  *ledger.Ledger
	servers *shards.Servers
	days    retention.Days
	log     *slog.Logger
	now     func() time.Time
	longest time.Duration // that a call may take
	margin  time.Duration // by which the ledger must be past a comparison: clocks of nodes differ
	metrics *maintenanceMetrics

	mu     sync.Mutex
	putOff map[string]time.Time // when a task that failed or is not certain yet is due again
	cancel context.CancelFunc
	done   sync.WaitGroup
}

type maintenanceMetrics struct {
	checked, repaired, duplicates, swept prometheus.Counter
}

// New returns a Maintenance that does nothing by itself: Start does.
func New(pool *pgxpool.Pool, address string, days retention.Days, longest time.Duration, log *slog.Logger) (*Maintenance, error) {
	servers, err := shards.Open(address)
	if err != nil {
		return nil, err
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "callgate", Subsystem: "maintenance", Name: name, Help: help})
	}
	return &Maintenance{
		pool: pool, ledger: ledger.New(pool), servers: servers, days: days, longest: longest, log: log, now: time.Now, cancel: func() {}, margin: 2 * time.Second, putOff: map[string]time.Time{},
		metrics: &maintenanceMetrics{
			checked:    counter("days_checked_total", "Days whose rollups agreed with their calls."),
			repaired:   counter("rollup_rows_repaired_total", "Difference rows added to rollups that disagreed with the calls."),
			duplicates: counter("duplicate_calls_total", "Rows of checked days whose call id is there more than once; must stay 0."),
			swept:      counter("applications_swept_total", "Deleted applications whose calls were removed."),
		},
	}, nil
}

// Start starts the background work; days is how long calls are kept, longest how long one may take. It succeeds while the
// stores are down. reg may be nil.
func Start(pool *pgxpool.Pool, address string, days retention.Days, longest time.Duration, log *slog.Logger, reg prometheus.Registerer) (*Maintenance, error) {
	m, err := New(pool, address, days, longest, log)
	if err != nil {
		return nil, err
	}
	if reg != nil {
		for _, c := range []prometheus.Collector{m.metrics.checked, m.metrics.repaired, m.metrics.duplicates, m.metrics.swept} {
			err = errors.Join(err, reg.Register(c))
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("register maintenance metrics: %w", err), m.servers.Close())
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	// Hiding waits for no sweep, and twice is as good as once: every node does it.
	m.done.Go(func() { m.run(ctx, "hide deleted applications", m.hide) })
	m.done.Go(func() { m.run(ctx, "take the turn", m.takeTurn) })
	return m, nil
}

// Close breaks off what is being done, which is safe at any point, and ends.
func (m *Maintenance) Close() error {
	m.cancel()
	m.done.Wait()
	if err := m.servers.Close(); err != nil {
		return fmt.Errorf("close maintenance: %w", err)
	}
	return nil
}

func (m *Maintenance) run(ctx context.Context, task string, run func(context.Context) error) {
	tick := time.NewTicker(maintenanceEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			m.try(ctx, task, run)
		}
	}
}

// try runs a task unless it is put off, and puts it off when it fails.
func (m *Maintenance) try(ctx context.Context, task string, run func(context.Context) error) {
	m.mu.Lock()
	due := m.putOff[task]
	m.mu.Unlock()
	if time.Now().Before(due) {
		return
	}
	err := run(ctx)
	if err == nil || ctx.Err() != nil {
		return
	}
	m.mu.Lock()
	m.putOff[task] = time.Now().Add(maintenanceRetry)
	m.mu.Unlock()
	if errors.Is(err, shards.ErrNotCertain) {
		m.log.Info("maintenance of call records waits for calls that arrive", "task", task, "error", err)
		return
	}
	m.log.Warn("maintenance of call records failed; it is tried again", "task", task, "error", err)
}

// takeTurn does what is due, if no other node is at it.
func (m *Maintenance) takeTurn(ctx context.Context) error {
	return leader.Turn(ctx, m.pool, maintenanceLock, func(ctx context.Context, _ *pgx.Conn) error {
		m.try(ctx, "sweep deleted applications", m.sweep)
		m.try(ctx, "compare rollups", m.Reconcile)
		return nil
	})
}
