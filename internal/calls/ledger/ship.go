package ledger

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"callgate/internal/beijing"
	"callgate/internal/calls/spool"
)

const (
	retryUnreachable    = 100 * time.Millisecond // first pause when ClickHouse cannot be reached
	retryUnreachableMax = 500 * time.Millisecond // how soon it is noticed that it can be again
	retryRefused        = 250 * time.Millisecond // first pause of a segment ClickHouse refuses
	retryRefusedMax     = 15 * time.Second
)

// run ships until ctx is done; once stop is closed, until nothing waits.
func (s *lane) run(ctx context.Context) {
	prune := time.NewTicker(min(pruneEvery, max(s.retain/4, time.Millisecond)))
	defer prune.Stop()
	s.prune(ctx)
	stop := s.stop
	for ctx.Err() == nil {
		g, wait := s.next(time.Now())
		if g != nil {
			if pauseFor := s.attempt(ctx, g); pauseFor > 0 {
				pause(ctx.Done(), pauseFor)
			}
			continue
		}
		if stop == nil && s.backlog() == 0 {
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
		case <-s.sealed:
		case <-timer.C:
		case <-prune.C:
			s.prune(ctx)
		}
		timer.Stop()
	}
}

// next returns the first segment to be sent now, or how long until one is due (0: none waits).
func (s *lane) next(now time.Time) (*spool.Segment, time.Duration) {
	var soonest time.Duration
	for g := range s.spool.Unsent() {
		var wait time.Duration
		if known := s.shipments[g]; known != nil {
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

// backlog is the number of segments of which the lane's part waits to be sent.
func (s *lane) backlog() (waiting int) {
	for g := range s.spool.Unsent() {
		if known := s.shipments[g]; known == nil || !known.sent {
			waiting++
		}
	}
	return waiting
}

// attempt ships a segment or puts it off. It returns how long to leave ClickHouse alone: a server
// that answers with an error, or a file that cannot be read, puts off this segment only, a server
// that cannot be reached, or has no Keeper, all of them.
func (s *lane) attempt(ctx context.Context, g *spool.Segment) time.Duration {
	known := s.shipmentOf(g)
	err := s.ship(ctx, g)
	if err == nil {
		if s.unreachable > 0 {
			s.log.Info("clickhouse takes call records again", s.named()...)
		}
		s.unreachable, known.tries, known.sent = 0, 0, true
		s.segments.confirm(s, g)
		s.segments.reach(s, true)
		s.reporter.soon()
		return 0
	}
	if ctx.Err() != nil {
		return 0
	}
	s.shard.failed()
	var disk *fs.PathError // the segment cannot be read, or its quarantine not written
	if !refused(err) && !errors.As(err, &disk) {
		if s.unreachable%30 == 0 {
			s.log.Warn("cannot ship call records; they wait in the spool", s.named("error", err, "segments", s.backlog())...)
		}
		s.unreachable++
		s.segments.reach(s, false)
		return backoff(retryUnreachable, retryUnreachableMax, s.unreachable)
	}
	s.unreachable = 0
	s.segments.reach(s, true)
	s.metrics.refused.Inc()
	if known.tries&(known.tries+1) == 0 { // 1st, 2nd, 4th, 8th … time
		s.log.Error("call records of a segment cannot be shipped; they are tried again until they can", "segment", g.Name(), "tries", known.tries+1, "error", err)
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
	return errors.Is(err, errNotThere) || errors.Is(err, errNotSure)
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
func (s *lane) ship(ctx context.Context, g *spool.Segment) error {
	err := s.content.Read(g)
	if errors.Is(err, fs.ErrNotExist) {
		s.log.Error("a segment vanished from the spool; its calls are missing", "segment", g.Name())
		return nil
	}
	if err != nil {
		return err
	}
	batches := s.batchesOf(g)
	known := s.shipmentOf(g)
	if err := s.countDamage(g, known); err != nil {
		return err
	}
	var refusals error
	for _, b := range batches {
		a := known.attemptOf(b)
		if a.done {
			continue
		}
		err := s.send(ctx, b, a)
		switch {
		case err == nil:
			a.done = true
			s.metrics.shipped.Add(float64(len(b.rows)))
			if late(b.day, time.Now()) { // it came late: what was compared then is not all
				s.reporter.doubt(b.day)
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
func (s *lane) batchesOf(g *spool.Segment) []*batch {
	s.content.Rows = s.shard.own(s.content.Rows)
	return s.shard.batchesOf(g, s.content.Rows)
}

// countDamage counts and keeps what of a segment cannot be sent, the first time it is tried, whatever the number
// of shards; its rows are sorted by day.
func (s *lane) countDamage(g *spool.Segment, known *shipment) error {
	bad := len(s.content.Undecodable)
	if bad+s.content.Damaged == 0 || len(known.batches) > 0 || s.shard.number > 1 {
		return nil
	}
	for _, undecodable := range s.content.Undecodable {
		if err := s.spool.Quarantine(g, undecodable); err != nil {
			return err
		}
	}
	day := beijing.DayOf(g.Sealed)
	if len(s.content.Rows) > 0 {
		day = dayOf(s.content.Rows[0].Start)
	}
	s.spool.Drops.Set(spool.DropKey{Source: g.ID, Day: day}, int64(bad+s.content.Damaged))
	s.metrics.quarantined.Add(float64(bad))
	s.metrics.damaged.Add(float64(s.content.Damaged))
	s.log.Error("call records of a segment are damaged and counted as missed", "segment", g.Name(), "lost", s.content.Damaged, "quarantined", bad)
	return nil
}
