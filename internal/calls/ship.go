package calls

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"callgate/internal/beijing"
)

const (
	// sureWithin is how long after a first attempt a token is certainly still remembered: the
	// window of 10,000 inserts would take 167 a second to pass by then.
	sureWithin = time.Minute

	retryLost     = 100 * time.Millisecond // first pause when ClickHouse cannot be reached
	retryLostMax  = 500 * time.Millisecond // how soon it is noticed that it can be again
	retryRefused  = 250 * time.Millisecond // first pause of a segment ClickHouse refuses
	retryRefusedM = 15 * time.Second
	sweepEvery    = 15 * time.Second // at most between two looks at the confirmed segments
)

// shipper sends sealed segments to ClickHouse, oldest first, until all of each is confirmed.
type shipper struct {
	spool   *spool
	conn    driver.Conn
	drops   *drops
	keeper  *keeper
	retain  time.Duration // how long a confirmed segment is kept
	sure    time.Duration // sureWithin
	log     *slog.Logger
	metrics *metrics
	content content
	columns callColumns
	lost    int // failed attempts in a row to reach ClickHouse
	stop    chan struct{}
}

// run ships until ctx is done; once stop is closed, until nothing waits.
func (s *shipper) run(ctx context.Context) {
	sweep := time.NewTicker(min(sweepEvery, max(s.retain/4, time.Millisecond)))
	defer sweep.Stop()
	s.sweep(ctx)
	stop := s.stop
	for ctx.Err() == nil {
		g, wait := s.spool.next(time.Now())
		if g != nil {
			if pauseFor := s.attempt(ctx, g); pauseFor > 0 {
				pause(ctx.Done(), pauseFor)
			}
			continue
		}
		if stop == nil && s.spool.backlog() == 0 {
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
		case <-s.spool.wake:
		case <-timer.C:
		case <-sweep.C:
			s.sweep(ctx)
		}
		timer.Stop()
	}
}

// attempt ships a segment or puts it off. It returns how long to leave ClickHouse alone: a server
// that answers with an error, or a file that cannot be read, puts off this segment only, a server
// that cannot be reached all of them.
func (s *shipper) attempt(ctx context.Context, g *segment) time.Duration {
	err := s.ship(ctx, g)
	if err == nil {
		if s.lost > 0 {
			s.log.Info("clickhouse takes call records again")
		}
		s.lost, g.tries = 0, 0
		s.spool.confirm(g)
		s.spool.reach(true)
		s.keeper.hurry()
		return 0
	}
	if ctx.Err() != nil {
		return 0
	}
	var refusal *clickhouse.Exception
	var disk *fs.PathError // the segment cannot be read, or its quarantine not written
	if !errors.As(err, &refusal) && !errors.As(err, &disk) && !errors.Is(err, errNotThere) {
		if s.lost%30 == 0 {
			s.log.Warn("cannot ship call records; they wait in the spool", "error", err, "segments", s.spool.backlog())
		}
		s.lost++
		s.spool.reach(false)
		return backoff(retryLost, retryLostMax, s.lost)
	}
	s.lost = 0
	s.spool.reach(true)
	s.metrics.refused.Inc()
	if g.tries&(g.tries+1) == 0 { // 1st, 2nd, 4th, 8th … time
		s.log.Error("call records of a segment cannot be shipped; they are tried again until they can", "segment", g.name(), "tries", g.tries+1, "error", err)
	}
	g.tries++
	g.due = time.Now().Add(backoff(retryRefused, retryRefusedM, g.tries))
	return 0
}

func backoff(first, most time.Duration, tries int) time.Duration {
	return min(first<<min(tries-1, 16), most)
}

// ship sends every batch of g that is not confirmed yet. Batches are independent: one that is
// refused does not keep back the others.
func (s *shipper) ship(ctx context.Context, g *segment) error {
	err := s.content.read(g)
	if errors.Is(err, fs.ErrNotExist) {
		s.log.Error("a segment vanished from the spool; its calls are missing", "segment", g.name())
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.account(g); err != nil {
		return err
	}
	var refused error
	for i := range s.content.batches {
		b := &s.content.batches[i]
		a := g.attemptOf(b)
		if a.done {
			continue
		}
		err := s.send(ctx, b, a)
		var refusal *clickhouse.Exception
		switch {
		case err == nil:
			a.done = true
			s.metrics.shipped.Add(float64(len(b.rows)))
			if b.day <= closedDay(time.Now()) { // it came late: what was compared then is not all
				s.keeper.doubt(b.day)
			}
		case errors.As(err, &refusal) || errors.Is(err, errNotThere):
			refused = errors.Join(refused, err)
		default:
			return err
		}
	}
	return refused
}

// attemptOf returns what is known of a batch. One of an adopted segment may have been sent any
// time since the segment was sealed.
func (g *segment) attemptOf(b *batch) *attempt {
	a := g.batches[b.token]
	if a == nil {
		a = &attempt{}
		if g.adopted {
			a.first = g.sealed
		}
		if g.batches == nil {
			g.batches = map[string]*attempt{}
		}
		g.batches[b.token] = a
	}
	return a
}

// account counts and keeps what of a segment cannot be sent.
func (s *shipper) account(g *segment) error {
	bad := len(s.content.quarantined)
	if bad+s.content.damaged == 0 || g.batches != nil {
		return nil
	}
	for _, q := range s.content.quarantined {
		if err := s.spool.quarantine(g, q.sequence, q.payload); err != nil {
			return err
		}
	}
	day := beijing.DayOf(g.sealed)
	if len(s.content.rows) > 0 {
		day = dayOf(s.content.rows[0].start)
	}
	s.drops.set(dropKey{Source: g.id, Day: day}, int64(bad+s.content.damaged))
	s.metrics.quarantined.Add(float64(bad))
	s.metrics.damaged.Add(float64(s.content.damaged))
	s.log.Error("call records of a segment are damaged and counted as missed", "segment", g.name(), "lost", s.content.damaged, "quarantined", bad)
	return nil
}

// errNotThere means ClickHouse confirmed a batch whose rows cannot be found.
var errNotThere = errors.New("batch was confirmed but is not there")

// send inserts a batch, so that it counts once whatever became of earlier attempts. Within
// sureWithin of the first the same token is enough, and repairs rollups too; later its rows are
// looked for. After an uncertain attempt a confirmation is not believed unseen (ClickHouse#118089).
func (s *shipper) send(ctx context.Context, b *batch, a *attempt) error {
	uncertain := !a.first.IsZero()
	failuresThere := 0
	if uncertain {
		s.metrics.retried.Inc()
		if a.suspect || time.Since(a.first) > s.sure {
			settled, err := s.settle(ctx, b)
			if err != nil || settled {
				return err
			}
			if failuresThere, err = countRows(ctx, s.conn, "call_failures", b); err != nil {
				return err
			}
			if a.suspect {
				// The token it was sent under is remembered without its rows. Whether the rollups
				// have them cannot be told, so the day is compared.
				a.again++
				s.keeper.doubt(b.day)
			}
		}
	} else {
		a.first = time.Now()
	}
	token := b.token
	if a.again > 0 {
		token += "/" + strconv.Itoa(a.again)
	}
	if columns, count := failureColumns(b.rows, b.token); count > failuresThere {
		if err := insert(ctx, s.conn, insertFailures, token, columns); err != nil {
			return fmt.Errorf("failures of batch %s: %w", b.token, err)
		}
	}
	if err := insert(ctx, s.conn, insertCalls, token, s.columns.fill(b.rows, b.token)); err != nil {
		return fmt.Errorf("batch %s: %w", b.token, err)
	}
	if !uncertain {
		return nil
	}
	found, err := countRows(ctx, s.conn, "calls", b)
	if err == nil && found == 0 {
		a.suspect = true
		return fmt.Errorf("batch %s: %w", b.token, errNotThere)
	}
	return err
}

// settle tells whether a batch's rows are there already. Then they may lack in the rollups, which
// commit separately: the day is marked for comparison. Fewer rows than were sent mean that rows
// of deleted applications have been swept since, for an insert is atomic.
func (s *shipper) settle(ctx context.Context, b *batch) (bool, error) {
	found, err := countRows(ctx, s.conn, "calls", b)
	if err != nil || found == 0 {
		return false, err
	}
	s.log.Warn("call records of uncertain fate are there; their day's rollups are to be compared", "batch", b.token, "day", b.day, "sent", len(b.rows), "found", found)
	s.metrics.settled.Inc()
	s.keeper.doubt(b.day)
	return true, nil
}

// sweep deletes segments confirmed long enough ago. ClickHouse does not sync on insert: if the
// server was started again since, its power may have failed, and the rows are looked for first.
func (s *shipper) sweep(ctx context.Context) {
	old := s.spool.kept(time.Now().Add(-s.retain))
	if len(old) == 0 {
		return
	}
	started, err := serverStart(ctx, s.conn)
	if err != nil {
		return // ClickHouse is away: they are kept longer
	}
	for _, g := range old {
		if g.sent.After(started.Add(2 * time.Second)) {
			s.spool.remove(g)
		} else if !s.recheck(ctx, g) {
			return
		}
	}
}

// recheck removes a segment whose batches are all still there, and takes it back otherwise; false
// when ClickHouse could not be asked.
func (s *shipper) recheck(ctx context.Context, g *segment) bool {
	if err := s.content.read(g); err != nil {
		s.spool.remove(g) // the writer made room with it
		return true
	}
	missing := false
	for i := range s.content.batches {
		b := &s.content.batches[i]
		found, err := countRows(ctx, s.conn, "calls", b)
		if err != nil {
			return false
		}
		a := g.attemptOf(b)
		a.done = found > 0
		if a.done { // rollups and details are files of their own, and may be lost
			s.keeper.doubt(b.day)
			if err := s.restoreFailures(ctx, b); err != nil {
				return false
			}
			continue
		}
		a.suspect, missing = true, true
		if a.first.IsZero() {
			a.first = g.sealed
		}
	}
	if !missing {
		s.spool.remove(g)
		return true
	}
	s.log.Error("clickhouse was restarted and lost confirmed call records; they are sent again", "segment", g.name())
	if err := s.spool.revoke(g); err != nil {
		s.log.Error("cannot send a segment again", "segment", g.name(), "error", err)
	}
	return true
}

// restoreFailures sends the details of a batch again whose calls are there, but none of them.
func (s *shipper) restoreFailures(ctx context.Context, b *batch) error {
	columns, count := failureColumns(b.rows, b.token)
	if count == 0 {
		return nil
	}
	found, err := countRows(ctx, s.conn, "call_failures", b)
	if err != nil || found > 0 {
		return err
	}
	s.log.Warn("clickhouse was restarted and lost failure details; they are sent again", "batch", b.token)
	return insert(ctx, s.conn, insertFailures, b.token+"/restored", columns)
}
