package ship

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/shards"
	"callgate/internal/calls/spool"
)

const (
	retryUnreachable    = 100 * time.Millisecond // first pause when ClickHouse cannot be reached
	retryUnreachableMax = 500 * time.Millisecond // how soon it is noticed that it can be again
	retryRefused        = 250 * time.Millisecond // first pause of a segment ClickHouse refuses
	retryRefusedMax     = 15 * time.Second
)

// run ships until ctx is done; once stop is closed, until nothing waits.
func (w *worker) run(ctx context.Context) {
	prune := time.NewTicker(min(pruneEvery, max(w.retain/4, time.Millisecond)))
	defer prune.Stop()
	w.prune(ctx)
	stop := w.stop
	for ctx.Err() == nil {
		g, wait := w.next(time.Now())
		if g != nil {
			if pauseFor := w.attempt(ctx, g); pauseFor > 0 {
				pause(ctx.Done(), pauseFor)
			}
			continue
		}
		if stop == nil && w.backlog() == 0 {
			return
		}
		if wait == 0 {
			wait = time.Hour
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-stop:
			stop = nil
		case <-w.sealed:
		case <-timer.C:
		case <-prune.C:
			w.prune(ctx)
		}
		timer.Stop()
	}
}

// next returns the first segment to be sent now, or how long until one is due (0: none waits).
func (w *worker) next(now time.Time) (*spool.Segment, time.Duration) {
	var soonest time.Duration
	for g := range w.spool.Unsent() {
		var wait time.Duration
		if known := w.shipments[g]; known != nil {
			if known.sent {
				continue // others have not sent theirs
			}
			wait = known.due.Sub(now)
		}
		if wait <= 0 {
			return g, 0
		}
		if soonest == 0 || wait < soonest {
			soonest = wait
		}
	}
	return nil, soonest
}

// backlog is the number of segments of which the worker's part waits to be sent.
func (w *worker) backlog() (waiting int) {
	for g := range w.spool.Unsent() {
		if known := w.shipments[g]; known == nil || !known.sent {
			waiting++
		}
	}
	return waiting
}

// attempt ships a segment or puts it off. It returns how long to leave ClickHouse alone: a server
// that answers with an error, or a file that cannot be read, puts off this segment only, a server
// that cannot be reached, or has no Keeper, all of them.
func (w *worker) attempt(ctx context.Context, g *spool.Segment) time.Duration {
	known := w.shipmentOf(g)
	err := w.ship(ctx, g)
	if err == nil {
		if w.unreachable > 0 {
			w.log.Info("clickhouse takes call records again", w.named()...)
		}
		w.unreachable, known.tries, known.sent = 0, 0, true
		w.segments.confirm(w, g)
		w.segments.setReachable(w, true)
		w.reporter.reportSoon()
		return 0
	}
	if ctx.Err() != nil {
		return 0
	}
	w.shard.Failed()
	var disk *fs.PathError // the segment cannot be read, or its quarantine not written
	if !refused(err) && !errors.As(err, &disk) {
		if w.unreachable%30 == 0 {
			w.log.Warn("cannot ship call records; they wait in the spool", w.named("error", err, "segments", w.backlog())...)
		}
		w.unreachable++
		w.segments.setReachable(w, false)
		return backoff(retryUnreachable, retryUnreachableMax, w.unreachable)
	}
	w.unreachable = 0
	w.segments.setReachable(w, true)
	w.metrics.refused.Inc()
	if known.tries&(known.tries+1) == 0 { // 1st, 2nd, 4th, 8th … time
		w.log.Error("call records of a segment cannot be shipped; they are tried again until they can", "segment", g.Name(), "tries", known.tries+1, "error", err)
	}
	known.tries++
	known.due = time.Now().Add(backoff(retryRefused, retryRefusedMax, known.tries))
	return 0
}

// What ClickHouse answers to every insert while it has no Keeper: NO_ZOOKEEPER, TABLE_IS_READ_ONLY and
// KEEPER_EXCEPTION.
var withoutKeeper = []int32{225, 242, 999}

// refused tells whether an insert failed for what it is, so that others may succeed.
func refused(err error) bool {
	var answer *clickhouse.Exception
	if errors.As(err, &answer) {
		return !slices.Contains(withoutKeeper, answer.Code)
	}
	return errors.Is(err, errNotThere) || errors.Is(err, shards.ErrUncertain)
}

func backoff(first, most time.Duration, tries int) time.Duration {
	return min(first<<min(tries-1, 16), most)
}

// pause waits, but not beyond done.
func pause(done <-chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

// ship sends every batch of g that is not confirmed yet. Batches are independent: one that is
// refused does not keep back the others.
func (w *worker) ship(ctx context.Context, g *spool.Segment) error {
	err := w.content.Read(g)
	if errors.Is(err, fs.ErrNotExist) {
		w.log.Error("a segment vanished from the spool; its calls are missing", "segment", g.Name())
		return nil
	}
	if err != nil {
		return err
	}
	batches := w.batchesOf(g)
	known := w.shipmentOf(g)
	if err := w.countDamage(g, known); err != nil {
		return err
	}
	var refusals error
	for _, b := range batches {
		a := known.attemptOf(b)
		if a.done {
			continue
		}
		err := w.send(ctx, b, a)
		switch {
		case err == nil:
			a.done = true
			w.metrics.shipped.Add(float64(len(b.rows)))
			if ledger.Late(b.day, time.Now()) { // it came late: what was compared then is not all
				w.reporter.doubt(b.day)
			}
		case refused(err):
			refusals = errors.Join(refusals, err)
		default:
			return err
		}
	}
	return refusals
}

// batchesOf are the batches of what was read that are for the shard.
func (w *worker) batchesOf(g *spool.Segment) []*batch {
	w.content.Rows = ofShard(w.shard, w.content.Rows)
	return cut(w.shard, g, w.content.Rows)
}

// countDamage counts and keeps what of a segment cannot be sent, the first time it is tried, whatever the number
// of shards; its rows are sorted by day.
func (w *worker) countDamage(g *spool.Segment, known *shipment) error {
	bad := len(w.content.Undecodable)
	if bad+w.content.Damaged == 0 || len(known.batches) > 0 || w.shard.Number > 1 {
		return nil
	}
	for _, undecodable := range w.content.Undecodable {
		if err := w.spool.Quarantine(g, undecodable); err != nil {
			return err
		}
	}
	day := beijing.DayOf(g.Sealed)
	if len(w.content.Rows) > 0 {
		day = dayOf(w.content.Rows[0].Start)
	}
	w.spool.Drops.Set(spool.DropKey{Source: g.ID, Day: day}, int64(bad+w.content.Damaged))
	w.metrics.quarantined.Add(float64(bad))
	w.metrics.damaged.Add(float64(w.content.Damaged))
	w.log.Error("call records of a segment are damaged and counted as missed", "segment", g.Name(), "lost", w.content.Damaged, "quarantined", bad)
	return nil
}
