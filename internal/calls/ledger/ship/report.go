package ship

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/calls/spool"
)

const (
	reportEvery   = time.Second
	reportLeast   = 200 * time.Millisecond // between two reports, however fast batches are confirmed
	reportTimeout = 5 * time.Second
	// handOver is the time a call may take from its end to Add. Through stays so far behind now,
	// because a call that has ended but is not handed over yet is nowhere to be seen.
	handOver = 200 * time.Millisecond
)

// reporter reports to the ledger: how far this spool and the adopted ones are through, and what is
// known to be missing. Reports state totals, so that one whose fate is uncertain can be repeated.
type reporter struct {
	pool  *pgxpool.Pool
	spool *spool.Spool
	log   *slog.Logger
	stop  chan struct{}
	wake  chan struct{}

	node, role, version string // of this process, which began at
	started             time.Time

	mu     sync.Mutex
	doubts map[beijing.Day]bool // days whose rollups are to be compared

	reports      int
	failed       int    // reports in a row
	warned, shed uint64 // losses already warned about
}

// reportSoon makes the next report come soon: something was confirmed.
func (r *reporter) reportSoon() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// doubt marks a day for the comparison of rollups.
func (r *reporter) doubt(day beijing.Day) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.doubts[day] = true
}

// run reports every second, and soon after a confirmation, until stop is closed.
func (r *reporter) run() {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-tick.C:
		case <-r.wake:
			pause(r.stop, reportLeast)
		}
		r.warn()
		ctx, cancel := context.WithTimeout(context.Background(), reportTimeout)
		r.report(ctx, false)
		cancel()
	}
}

// report writes the present state to the ledger. What the ledger does not take is kept in the
// spool directory. last says that this process is about to end with nothing left to do.
func (r *reporter) report(ctx context.Context, last bool) {
	through := time.Now().Add(-handOver).UnixMilli()
	// Drops come last: records move to the next place, or are counted as dropped, before they leave the last.
	pending := r.spool.Pending()
	dropped, mark := r.spool.Drops.Unstored()
	doubts := r.doubted()

	batch := &pgx.Batch{}
	queueDrops(batch, dropped)
	for _, day := range doubts {
		batch.Queue(`INSERT INTO rollup_doubts (day) VALUES ($1) ON CONFLICT (day) DO UPDATE SET noted_at = now()`, day.UTC())
	}
	finished := r.queueSpools(batch, pending, through, last)
	r.queueHeartbeat(batch, pending, last)
	if r.reports++; r.reports == 1 {
		queueForgetting(batch)
	}
	err := pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error { return tx.SendBatch(ctx, batch).Close() })
	if err != nil {
		r.fail(fmt.Errorf("report to the ledger: %w", err))
		return
	}
	r.failed = 0
	r.spool.Drops.Confirm(mark)
	for _, id := range finished {
		r.spool.Retired(id)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, day := range doubts {
		delete(r.doubts, day)
	}
}

func (r *reporter) doubted() []beijing.Day {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.doubts))
}

func queueDrops(batch *pgx.Batch, dropped []spool.Drop) {
	for _, d := range dropped {
		batch.Queue(`
			INSERT INTO dropped_calls AS old (day, application_id, spool_id, calls) VALUES ($1, $2, $3, $4)
			ON CONFLICT (day, application_id, spool_id) DO UPDATE SET calls = greatest(old.calls, excluded.calls)`,
			d.Key.Day.UTC(), d.Key.Application, d.Key.Source, d.Calls)
	}
}

// queueSpools sets how far this spool and the adopted ones are through, and gives those of which nothing
// waits any more.
func (r *reporter) queueSpools(batch *pgx.Batch, pending spool.Pending, through int64, last bool) (finished []uuid.UUID) {
	for id, oldest := range pending.Per {
		switch {
		case id == r.spool.ID():
			r.queue(batch, id, min(through, oldest), last)
		case oldest == spool.Never:
			finished = append(finished, id)
			queueReturn(batch, id)
			r.queue(batch, id, through, true)
		case oldest > calls.MinStart:
			r.queue(batch, id, min(through, oldest), false)
		}
	}
	return finished
}

// queue sets one spool's row. Through never goes back, and a spool retired by command stays so.
func (r *reporter) queue(batch *pgx.Batch, id uuid.UUID, through int64, retired bool) {
	batch.Queue(`
		INSERT INTO spools AS old (id, node, through, retired) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET through = greatest(old.through, excluded.through),
			retired = excluded.retired OR (old.retired AND $5), updated_at = now()`,
		id, r.node, time.UnixMilli(through), retired, id != r.spool.ID())
}

func (r *reporter) fail(err error) {
	if r.failed%60 == 0 {
		r.log.Warn("the ledger cannot be written; statistics do not advance until it can", "error", err)
	}
	r.failed++
	if err := r.spool.Drops.Keep(); err != nil && r.failed%60 == 1 {
		r.log.Warn("cannot keep the counts of dropped calls", "error", err)
	}
}

// warn tells the log what was dropped since the last time.
func (r *reporter) warn() {
	details, records := r.spool.Lost()
	if records > r.warned {
		r.log.Warn("call records were dropped because the memory ring was full; they are missing from the statistics", "records", records-r.warned)
	}
	if details > r.shed {
		r.log.Warn("failure details were dropped because the memory ring was full", "details", details-r.shed)
	}
	r.warned, r.shed = records, details
}
