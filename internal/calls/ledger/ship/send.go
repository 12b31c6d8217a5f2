package ship

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
func (w *worker) send(ctx context.Context, b *batch, a *attempt) error {
	uncertain := !a.first.IsZero()
	failuresThere := 0
	if uncertain {
		w.metrics.retried.Inc()
		if a.suspect || time.Since(a.first) > w.dedupWindow {
			stored, err := w.alreadyStored(ctx, b)
			if err != nil || stored {
				return err
			}
			if failuresThere, err = w.shard.Count(ctx, "call_failures", b.day, b.token); err != nil {
				return err
			}
			if a.suspect {
				// The token it was sent under is remembered without its rows. Whether the rollups
				// have them cannot be told, so the day is compared.
				a.resends++
				w.reporter.doubt(b.day)
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
		if err := w.shard.Insert(ctx, insertFailures, token, columns); err != nil {
			return fmt.Errorf("failures of batch %s: %w", b.token, err)
		}
	}
	if err := w.boundModels(ctx, b); err != nil {
		return err
	}
	statement, columns := w.columns.fill(b.rows, b.token)
	if err := w.shard.Insert(ctx, statement, token, columns); err != nil {
		return fmt.Errorf("batch %s: %w", b.token, err)
	}
	if !uncertain {
		return nil
	}
	found, err := w.shard.Count(ctx, "calls", b.day, b.token)
	if err == nil && found == 0 {
		a.suspect = true
		return fmt.Errorf("batch %s: %w", b.token, errNotThere)
	}
	return err
}

// alreadyStored tells whether a batch's rows are there already. Then they may lack in the rollups, which
// commit separately: the day is marked for comparison. Fewer rows than were sent mean that rows
// of deleted applications have been swept since, for an insert is atomic.
func (w *worker) alreadyStored(ctx context.Context, b *batch) (bool, error) {
	found, err := w.shard.Count(ctx, "calls", b.day, b.token)
	if err != nil || found == 0 {
		return false, err
	}
	w.log.Warn("call records of uncertain fate are there; their day's rollups are to be compared", "batch", b.token, "day", b.day, "sent", len(b.rows), "found", found)
	w.metrics.alreadyStored.Inc()
	w.reporter.doubt(b.day)
	return true, nil
}
