package limits

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Subject is who is held to limits: a key, an application, or an owner.
type Subject struct {
	Scope       Scope // ForKey, ForApplication or ForOwner
	ID          uuid.UUID
	Application uuid.UUID // of a key its application
}

// tally is what a gateway knows of what a subject uses. Safe for concurrent use.
type tally struct {
	Subject
	setting   sync.Mutex
	snapshot  atomic.Pointer[Snapshot] // whose limits are set; nil: forgotten
	requests  *meter
	tokens    *meter
	calls     *meter // a day
	dayTokens *meter
	slots     slots
	reserving atomic.Int64 // reservations of calls in flight
	perCall   atomic.Int64 // tokens of a call, on average; 0: none was counted
}

// tallyOf gives a subject's tally, with the limits that a snapshot has of it.
func (l *Limiter) tallyOf(of Subject, limits Limits, now *Snapshot) *tally {
	found, ok := l.tallies.Load(of)
	if !ok {
		found, _ = l.tallies.LoadOrStore(of, l.newTally(of))
	}
	t := found.(*tally)
	if t.snapshot.Load() != now {
		t.set(limits, now)
	}
	return t
}

func (l *Limiter) newTally(of Subject) *tally {
	wall, now := time.Duration(time.Now().UnixNano()), l.elapsed()
	t := &tally{Subject: of,
		requests:  newMeter("requests", l.pace.minute(), false, wall, now),
		tokens:    newMeter("tokens", l.pace.minute(), true, wall, now),
		calls:     newMeter("day-calls", beijingDay, false, wall, now),
		dayTokens: newMeter("day-tokens", beijingDay, false, wall, now),
		slots:     slots{exchange: newGate()},
	}
	t.slots.lastUse.Store(int64(now))
	return t
}

func (t *tally) set(limits Limits, now *Snapshot) {
	t.setting.Lock()
	defer t.setting.Unlock()
	for _, name := range meterNames {
		t.meter(name).limit.Store(limits.Get(name))
	}
	t.slots.limit.Store(limits.Concurrency)
	t.snapshot.Store(now)
}

// meterNames are the limits that meters count, in the order in which calls take of them and answers state them: all but
// that of calls in flight.
var meterNames = [...]string{RequestsPerMinute, TokensPerMinute, CallsPerDay, TokensPerDay}

// meter is the one of a limit.
func (t *tally) meter(name string) *meter {
	switch name {
	case RequestsPerMinute:
		return t.requests
	case TokensPerMinute:
		return t.tokens
	case CallsPerDay:
		return t.calls
	default:
		return t.dayTokens
	}
}

// meters are those of its limits that there are.
func (t *tally) meters(yield func(*meter) bool) {
	for _, m := range [...]*meter{t.requests, t.tokens, t.calls, t.dayTokens} {
		if m.limit.Load() > 0 && !yield(m) {
			return
		}
	}
}
