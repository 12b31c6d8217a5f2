package ship

import (
	"context"
	"maps"
	"time"

	"callgate/internal/calls/spool"
)

// pruneEvery is at most between two looks at the confirmed segments.
const pruneEvery = 15 * time.Second

// prune deletes segments confirmed long enough ago. ClickHouse does not sync on insert: if the
// server was started again since, its power may have failed, and the rows are looked for first.
func (w *worker) prune(ctx context.Context) {
	maps.DeleteFunc(w.shipments, func(g *spool.Segment, _ *shipment) bool { return g.Removed() })
	old := w.spool.SentBefore(time.Now().Add(-w.retain))
	if len(old) == 0 {
		return
	}
	started, err := w.shard.Started(ctx)
	if err != nil {
		return // ClickHouse is away: they are kept longer
	}
	for _, g := range old {
		if w.segments.released(w, g) {
			continue
		}
		if g.Sent.After(started.Add(2 * time.Second)) {
			w.segments.release(w, g)
		} else if !w.recheck(ctx, g) {
			return
		}
	}
}

// recheck removes a segment whose batches are all still there, and takes it back otherwise; false
// when ClickHouse could not be asked.
func (w *worker) recheck(ctx context.Context, g *spool.Segment) bool {
	if err := w.content.Read(g); err != nil {
		w.segments.release(w, g) // the writer made room with it
		return true
	}
	missing := false
	for _, b := range w.batchesOf(g) {
		found, err := w.shard.Count(ctx, "calls", b.day, b.token)
		if err != nil {
			return false
		}
		a := w.shipmentOf(g).attemptOf(b)
		a.done = found > 0
		if a.done { // rollups and details are files of their own, and may be lost
			w.reporter.doubt(b.day)
			if err := w.restoreFailures(ctx, b); err != nil {
				return false
			}
			continue
		}
		a.suspect, missing = true, true
		if a.first.IsZero() {
			a.first = g.Sealed
		}
	}
	if !missing {
		w.segments.release(w, g)
		return true
	}
	w.log.Error("clickhouse was restarted and lost confirmed call records; they are sent again", "segment", g.Name())
	w.shipmentOf(g).sent = false
	if err := w.segments.revoke(w, g); err != nil {
		w.log.Error("cannot send a segment again", "segment", g.Name(), "error", err)
	}
	return true
}

// restoreFailures sends the details of a batch again whose calls are there, but none of them.
func (w *worker) restoreFailures(ctx context.Context, b *batch) error {
	columns, count := failureColumns(b.rows, b.token)
	if count == 0 {
		return nil
	}
	found, err := w.shard.Count(ctx, "call_failures", b.day, b.token)
	if err != nil || found > 0 {
		return err
	}
	w.log.Warn("clickhouse was restarted and lost failure details; they are sent again", "batch", b.token)
	return w.shard.Insert(ctx, insertFailures, b.token+"/restored", columns)
}
