package calls

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/beijing"
)

const (
	keepEvery   = time.Second
	keepLeast   = 200 * time.Millisecond // between two reports, however fast batches are confirmed
	keepTimeout = 5 * time.Second
	// handOver is the time a call may take from its end to Add. Through stays so far behind now,
	// because a call that has ended but is not handed over yet is nowhere to be seen.
	handOver = 200 * time.Millisecond
)

// keeper reports to the ledger: how far this spool and the adopted ones are through, and what is
// known to be missing. Reports state totals, so that one whose fate is uncertain can be repeated.
type keeper struct {
	pool      *pgxpool.Pool
	node      string
	redaction *redaction
	ring      *ring
	spool     *spool
	drops     *drops
	log       *slog.Logger
	stop      chan struct{}
	woken     chan struct{}

	mu     sync.Mutex
	doubts map[beijing.Day]bool // days whose rollups are to be compared

	failed       int    // reports in a row
	warned, shed uint64 // losses already warned about
}

// hurry makes the next report come soon: something was confirmed.
func (k *keeper) hurry() {
	select {
	case k.woken <- struct{}{}:
	default:
	}
}

// doubt marks a day for the comparison of rollups.
func (k *keeper) doubt(day beijing.Day) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.doubts[day] = true
}

// run reports every second, and soon after a confirmation, until stop is closed.
func (k *keeper) run() {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-k.stop:
			return
		case <-tick.C:
		case <-k.woken:
			pause(k.stop, keepLeast)
		}
		k.warn()
		ctx, cancel := context.WithTimeout(context.Background(), keepTimeout)
		k.report(ctx, false)
		cancel()
	}
}

// report writes the present state to the ledger. What the ledger does not take is kept in the
// spool directory. last says that this process is about to end with nothing left to do.
func (k *keeper) report(ctx context.Context, last bool) {
	through := time.Now().Add(-handOver).UnixMilli()
	// The order matters: records move from redaction to ring to spool to ClickHouse, and are in the next
	// place before they leave the last, so that none is overlooked in between. Drops come last.
	waiting := k.redaction.pending()
	waiting = min(waiting, k.ring.pending())
	spooled := k.spool.state()
	k.mu.Lock()
	var doubts []beijing.Day
	for day := range k.doubts {
		doubts = append(doubts, day)
	}
	k.mu.Unlock()
	dropped, mark := k.drops.unstored()

	batch := &pgx.Batch{}
	for _, d := range dropped {
		batch.Queue(`
			INSERT INTO dropped_calls AS old (day, application_id, spool_id, calls) VALUES ($1, $2, $3, $4)
			ON CONFLICT (day, application_id, spool_id) DO UPDATE SET calls = greatest(old.calls, excluded.calls)`,
			date(d.Key.Day), d.Key.Application, d.Key.Source, d.Calls)
	}
	for _, day := range doubts {
		batch.Queue(`INSERT INTO rollup_doubts (day) VALUES ($1) ON CONFLICT (day) DO UPDATE SET noted_at = now()`, date(day))
	}
	var finished []uuid.UUID
	for id, oldest := range spooled.per {
		own := id == k.spool.id
		switch {
		case own:
			k.queue(batch, id, min(through, waiting, oldest), last)
		case oldest == never:
			finished = append(finished, id)
			k.queue(batch, id, through, true)
		case oldest > minStart:
			k.queue(batch, id, min(through, oldest), false)
		}
	}
	err := pgx.BeginFunc(ctx, k.pool, func(tx pgx.Tx) error { return tx.SendBatch(ctx, batch).Close() })
	if err != nil {
		k.fail(fmt.Errorf("report to the ledger: %w", err))
		return
	}
	k.failed = 0
	k.drops.confirm(mark, k.spool.home())
	for _, id := range finished {
		k.spool.retired(id)
	}
	k.mu.Lock()
	for _, day := range doubts {
		delete(k.doubts, day)
	}
	k.mu.Unlock()
}

// queue sets one spool's row. Through never goes back, and a spool retired by command stays so.
func (k *keeper) queue(batch *pgx.Batch, id uuid.UUID, through int64, retired bool) {
	batch.Queue(`
		INSERT INTO spools AS old (id, node, through, retired) VALUES ($1, $2, $3, $4)
		ON CONFLICT (id) DO UPDATE SET through = greatest(old.through, excluded.through),
			retired = excluded.retired OR (old.retired AND $5), updated_at = now()`,
		id, k.node, time.UnixMilli(through), retired, id != k.spool.id)
}

func (k *keeper) fail(err error) {
	if k.failed%60 == 0 {
		k.log.Warn("the ledger cannot be written; statistics do not advance until it can", "error", err)
	}
	k.failed++
	if err := k.drops.keep(k.spool.home()); err != nil && k.failed%60 == 1 {
		k.log.Warn("cannot keep the counts of dropped calls", "error", err)
	}
}

// warn tells the log what was dropped since the last time (spec section 7).
func (k *keeper) warn() {
	details, records := k.ring.lost()
	if records > k.warned {
		k.log.Warn("call records were dropped because the memory ring was full; they are missing from the statistics", "records", records-k.warned)
	}
	if details > k.shed {
		k.log.Warn("failure details were dropped because the memory ring was full", "details", details-k.shed)
	}
	k.warned, k.shed = records, details
}
