package ledger

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// dedupWindow is how long after a first attempt a token is certainly still remembered: the
// window of 10,000 inserts would take 167 a second to pass by then.
const dedupWindow = time.Minute

// errNotThere means ClickHouse confirmed a batch whose rows cannot be found.
var errNotThere = errors.New("batch was confirmed but is not there")

// send inserts a batch, so that it counts once whatever became of earlier attempts. Within
// dedupWindow of the first the same token is enough, and repairs rollups too; later its rows are
// looked for. After an uncertain attempt a confirmation is not believed unseen (ClickHouse#118089).
func (s *lane) send(ctx context.Context, b *batch, a *attempt) error {
	uncertain := !a.first.IsZero()
	failuresThere := 0
	if uncertain {
		s.metrics.retried.Inc()
		if a.suspect || time.Since(a.first) > s.dedupWindow {
			settled, err := s.settle(ctx, b)
			if err != nil || settled {
				return err
			}
			if failuresThere, err = s.shard.count(ctx, "call_failures", b); err != nil {
				return err
			}
			if a.suspect {
				// The token it was sent under is remembered without its rows. Whether the rollups
				// have them cannot be told, so the day is compared.
				a.resends++
				s.reporter.doubt(b.day)
			}
		}
	} else {
		a.first = time.Now()
	}
	token := b.token
	if a.resends > 0 {
		token += "/" + strconv.Itoa(a.resends)
	}
	if columns, count := failureColumns(b.rows, b.token); count > failuresThere {
		if err := s.shard.insert(ctx, insertFailures, token, columns); err != nil {
			return fmt.Errorf("failures of batch %s: %w", b.token, err)
		}
	}
	if err := s.boundModels(ctx, b); err != nil {
		return err
	}
	statement, columns := s.columns.fill(b.rows, b.token)
	if err := s.shard.insert(ctx, statement, token, columns); err != nil {
		return fmt.Errorf("batch %s: %w", b.token, err)
	}
	if !uncertain {
		return nil
	}
	found, err := s.shard.count(ctx, "calls", b)
	if err == nil && found == 0 {
		a.suspect = true
		return fmt.Errorf("batch %s: %w", b.token, errNotThere)
	}
	return err
}

// settle tells whether a batch's rows are there already. Then they may lack in the rollups, which
// commit separately: the day is marked for comparison. Fewer rows than were sent mean that rows
// of deleted applications have been swept since, for an insert is atomic.
func (s *lane) settle(ctx context.Context, b *batch) (bool, error) {
	found, err := s.shard.count(ctx, "calls", b)
	if err != nil || found == 0 {
		return false, err
	}
	s.log.Warn("call records of uncertain fate are there; their day's rollups are to be compared", "batch", b.token, "day", b.day, "sent", len(b.rows), "found", found)
	s.metrics.settled.Inc()
	s.reporter.doubt(b.day)
	return true, nil
}
