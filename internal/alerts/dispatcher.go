package alerts

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	lookEvery = 500 * time.Millisecond // for deliveries that are due

	// atATime bounds the attempts of this console, retriesAtATime those of deliveries that failed before, and besideAtATime
	// how many there may be when one begins beside another one of the same owner: the other half is for owners for whom
	// nothing is under way.
	atATime        = 64
	retriesAtATime = 16
	besideAtATime  = 32

	settleTimeout = 5 * time.Second

	slowAttempt = 2 * time.Second // an owner whose attempt took longer is slow,
	slowFor     = time.Minute     // for so long
)

// dispatcher delivers what is due. Every console has one.
type dispatcher struct {
	pool    *pgxpool.Pool
	sender  *sender
	log     *slog.Logger
	metrics *metrics
	pace    pace
	wake    chan struct{}

	mu            sync.Mutex
	busy, retries int
	slow          map[uuid.UUID]time.Time // owners, and when it was seen
	attempts      sync.WaitGroup
}

// nudge has it look at once.
func (d *dispatcher) nudge() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// run takes what is due until ctx is done; what is being attempted then goes on under attempting.
func (d *dispatcher) run(ctx, attempting context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for failed := 0; ; {
		more, err := d.look(ctx, attempting)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if failed%120 == 0 {
				d.log.Warn("alerts cannot be delivered; it is tried again", "error", err)
			}
			failed++
		default:
			failed = 0
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-d.wake:
		}
	}
}

// look begins what is due and for which there is room; more says that it took something, so that there may be more of it.
func (d *dispatcher) look(ctx, attempting context.Context) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	for _, again := range []bool{false, true} {
		room := d.room(again)
		if room.all <= 0 {
			continue
		}
		jobs, err := claim(ctx, d.pool, room, again, d.pace.claimFor)
		if err != nil {
			return false, err
		}
		more = more || len(jobs) > 0
		for _, j := range jobs {
			d.begin(attempting, j, again)
		}
	}
	return more, nil
}

func (d *dispatcher) room(again bool) places {
	d.mu.Lock()
	defer d.mu.Unlock()
	room := places{all: atATime - d.busy, beside: besideAtATime - d.busy, slow: maps.Clone(d.slow)}
	if again {
		room.all = min(room.all, retriesAtATime-d.retries)
	}
	return room
}

// note remembers whose attempts take long.
func (d *dispatcher) note(owner uuid.UUID, took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.slow, func(_ uuid.UUID, at time.Time) bool { return time.Since(at) > slowFor })
	if took > slowAttempt {
		d.slow[owner] = time.Now()
	}
}

func (d *dispatcher) begin(ctx context.Context, j job, again bool) {
	d.count(1, again)
	d.attempts.Go(func() {
		defer d.nudge()
		defer d.count(-1, again)
		began := time.Now()
		r := d.sender.send(ctx, j)
		d.note(j.Owner, time.Since(began))
		if ctx.Err() != nil && r.fail != "" {
			return // this console ends: another one tries when the claim has run out
		}
		d.metrics.noteAttempt(j.Kind, r)
		settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
		defer cancel()
		if err := settle(settling, d.pool, j, r, d.pace.retry); err != nil {
			d.log.Warn("what became of an alert could not be kept; it is sent again", "delivery", j.ID, "error", err)
		}
		if r.fail != "" && (r.final || time.Now().After(j.Deadline.Add(-longestRetry))) {
			d.log.Warn("an alert is not delivered", "delivery", j.ID, "kind", j.Kind, "fault", r.fail, "attempts", j.Attempts)
		}
	})
}

func (d *dispatcher) count(n int, again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy += n
	if again {
		d.retries += n
	}
}
