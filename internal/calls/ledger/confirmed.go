package ledger

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
func (s *lane) prune(ctx context.Context) {
	maps.DeleteFunc(s.shipments, func(g *spool.Segment, _ *shipment) bool { return g.Removed() })
	old := s.spool.SentBefore(time.Now().Add(-s.retain))
	if len(old) == 0 {
		return
	}
	started, err := s.shard.started(ctx)
	if err != nil {
		return // ClickHouse is away: they are kept longer
	}
	for _, g := range old {
		if s.segments.released(s, g) {
			continue
		}
		if g.Sent.After(started.Add(2 * time.Second)) {
			s.segments.release(s, g)
		} else if !s.recheck(ctx, g) {
			return
		}
	}
}

// recheck removes a segment whose batches are all still there, and takes it back otherwise; false
// when ClickHouse could not be asked.
func (s *lane) recheck(ctx context.Context, g *spool.Segment) bool {
	if err := s.content.Read(g); err != nil {
		s.segments.release(s, g) // the writer made room with it
		return true
	}
	missing := false
	for _, b := range s.batchesOf(g) {
		found, err := s.shard.count(ctx, "calls", b)
		if err != nil {
			return false
		}
		a := s.shipmentOf(g).attemptOf(b)
		a.done = found > 0
		if a.done { // rollups and details are files of their own, and may be lost
			s.reporter.doubt(b.day)
			if err := s.restoreFailures(ctx, b); err != nil {
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
		s.segments.release(s, g)
		return true
	}
	s.log.Error("clickhouse was restarted and lost confirmed call records; they are sent again", "segment", g.Name())
	s.shipmentOf(g).sent = false
	if err := s.segments.revoke(s, g); err != nil {
		s.log.Error("cannot send a segment again", "segment", g.Name(), "error", err)
	}
	return true
}

// restoreFailures sends the details of a batch again whose calls are there, but none of them.
func (s *lane) restoreFailures(ctx context.Context, b *batch) error {
	columns, count := failureColumns(b.rows, b.token)
	if count == 0 {
		return nil
	}
	found, err := s.shard.count(ctx, "call_failures", b)
	if err != nil || found > 0 {
		return err
	}
	s.log.Warn("clickhouse was restarted and lost failure details; they are sent again", "batch", b.token)
	return s.shard.insert(ctx, insertFailures, b.token+"/restored", columns)
}
