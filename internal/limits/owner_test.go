package limits

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"callgate/internal/redistest"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// TestAnOwnersCeilingHoldsForAllApplicationsTogether: on all gateways, for applications made anew, and after Redis lost
// everything. An application of somebody else has the whole of its own.
func TestAnOwnersCeilingHoldsForAllApplicationsTogether(t *testing.T) {
	t.Parallel()
	for name, ceiling := range map[string]Limits{
		RequestsPerMinute: {RequestsPerMinute: 10}, CallsPerDay: {CallsPerDay: 10}, Concurrency: {Concurrency: 10},
		TokensPerMinute: {TokensPerMinute: 1000}, TokensPerDay: {TokensPerDay: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			owner, other := uuid.New(), uuid.New()
			snapshot := &Snapshot{all: Limits{CallsPerDay: 1000}, owners: map[uuid.UUID]Limits{owner: ceiling, other: ceiling}}
			f := newFleetOf(t, s.Client, usual, 2, snapshot, nil)
			admitted, tokens := 0, int64(0)
			call := func(gateway int, application, owner uuid.UUID) *Reached {
				l := f.limiters[gateway]
				ticket, reached := l.Admit(l.scopes(application, owner), time.Now())
				if reached == nil {
					admitted, tokens = admitted+1, tokens+100
					if name != Concurrency { // those stay in flight
						l.End(ticket, 100, true)
					}
				}
				return reached
			}
			last := map[bool]*Reached{}
			use := func() {
				for i := range 40 { // each application is there for two calls only
					if i%2 == 0 {
						f.application = uuid.New()
					}
					if reached := call(i%2, f.application, owner); reached != nil {
						last[true] = reached
					}
					if i%4 == 3 {
						time.Sleep(10 * time.Millisecond)
					}
				}
			}
			use()
			time.Sleep(2 * usual.life) // what is leased and not used goes back
			use()
			time.Sleep(2 * usual.life)
			use()
			if r := last[true]; r == nil || r.Scope != ForOwner || r.Limit != name {
				t.Errorf("refused by %+v", r)
			}
			// Tokens are charged when a call ends: the last one of each gateway may exceed what is left, or find that the other
			// has leased one token of the hundred it needs.
			least, most := 10, 10
			if strings.HasPrefix(name, "tokens") {
				least, most = 9, 12
			}
			if admitted < least || admitted > most {
				t.Errorf("%d calls and %d tokens of all applications together", admitted, tokens)
			}
			if reached := call(0, uuid.New(), other); reached != nil {
				t.Errorf("somebody else's application is refused: %+v", reached)
			}
		})
	}
}

// TestAnApplicationWhoseCeilingWasRaisedAboveItsOwnersIsNotCountedInIt, and one whose own is lower is.
func TestAnApplicationWhoseCeilingWasRaisedAboveItsOwnersIsNotCountedInIt(t *testing.T) {
	owner, raised, lowered, plain, own := uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New()
	s := &Snapshot{all: Limits{CallsPerDay: 5, Concurrency: 3}, owners: map[uuid.UUID]Limits{owner: {CallsPerDay: 10}},
		applications: map[uuid.UUID]Limits{raised: {CallsPerDay: 20}, lowered: {CallsPerDay: 4}}, own: map[uuid.UUID]Limits{own: {CallsPerDay: 8}}}
	for _, c := range []struct {
		application uuid.UUID
		alone       Limits
		together    int64
	}{
		{raised, Limits{CallsPerDay: 20, Concurrency: 3}, 0}, {lowered, Limits{CallsPerDay: 4, Concurrency: 3}, 10},
		{plain, Limits{Concurrency: 3}, 10}, {own, Limits{CallsPerDay: 8, Concurrency: 3}, 10},
	} {
		alone, together := s.split(c.application, owner)
		if alone != c.alone || together != (Limits{CallsPerDay: c.together}) {
			t.Errorf("%+v alone and %+v together, want %+v and %d", alone, together, c.alone, c.together)
		}
	}
	if got := s.raised(owner, 3); len(got) != 1 || got[0] != raised {
		t.Errorf("%v are not counted in it", got)
	}
}

// TestAnOwnersDayIsWhatItWasAfterRedisLostEverything: the ledger is asked for what all of the owner's applications used.
func TestAnOwnersDayIsWhatItWasAfterRedisLostEverything(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	owner := uuid.New()
	asked := make(chan int, 100)
	snapshot := &Snapshot{owners: map[uuid.UUID]Limits{owner: {CallsPerDay: 20}}}
	rdb := s.Client()
	l := Open(t.Context(), Config{Gateway: uuid.New(), Snapshot: func(context.Context, *Snapshot) (*Snapshot, error) { return snapshot, nil }, Redis: rdb,
		Spent: func(_ context.Context, of Subject, _ []uuid.UUID, _ beijing.Day, counted map[uuid.UUID]time.Time) (int64, int64, error) {
			if of != (Subject{Scope: ForOwner, ID: owner}) {
				t.Errorf("asked for %+v", of)
			}
			asked <- len(counted)
			return 8, 0, nil
		},
		Logger: slog.New(slog.DiscardHandler), pace: quick, peers: func(context.Context) (Peers, error) { return alone, nil }})
	t.Cleanup(func() { l.Close(); _ = rdb.Close() })
	used := func(want int64) func() bool {
		return func() bool {
			u, err := NewReader(rdb).Usage(t.Context(), owner)
			return err == nil && u.CallsToday != nil && *u.CallsToday == want
		}
	}
	call := func() bool {
		ticket, reached := l.Admit(l.scopes(uuid.New(), owner), time.Now())
		l.End(ticket, 0, true)
		return reached == nil
	}
	for range 5 {
		call()
	}
	eventually(t, used(13))
	if err := rdb.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, call)
	eventually(t, used(14))
	if gateways := <-asked; gateways != 1 {
		t.Errorf("the ledger was told of %d gateways", gateways)
	}
	let := 0
	for began := time.Now(); time.Since(began) < time.Second; time.Sleep(10 * time.Millisecond) {
		if call() {
			let++
		}
	}
	if let != 6 {
		t.Errorf("%d calls of 6 that are left", let)
	}
}
