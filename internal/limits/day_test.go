package limits

import (
	"context"
	"sync"
	"testing"
	"time"

	"callgate/internal/redistest"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"callgate/internal/beijing"
)

// use calls through the gateways in turn until both have refused for a while, and tells how many calls were admitted.
func (f *fleet) use(most int) (admitted int) {
	f.t.Helper()
	var refused time.Time
	for refused.IsZero() || time.Since(refused) < 10*f.pace.tick {
		for gateway := range f.limiters {
			if f.call(gateway, 0, 0) == nil {
				admitted++
				refused = time.Time{}
			} else if refused.IsZero() {
				refused = time.Now()
			}
		}
		if admitted > 2*most {
			f.t.Fatalf("more than %d calls", admitted)
		}
		time.Sleep(time.Millisecond)
	}
	return admitted
}

// TestAQuotaIsWhatItWasAfterRedisLostEverything: gateways tell again what they counted, the ledger what nobody there did.
func TestAQuotaIsWhatItWasAfterRedisLostEverything(t *testing.T) {
	t.Parallel()
	const limit, before = 100, 25
	s := redistest.Start(t)
	var mu sync.Mutex
	asked, gateways := 0, 0
	ledger := func(_ context.Context, _ Subject, _ []uuid.UUID, day beijing.Day, counted map[uuid.UUID]time.Time) (int64, int64, error) {
		mu.Lock()
		defer mu.Unlock()
		asked, gateways = asked+1, len(counted)
		if day != beijing.Today(time.Now()) {
			t.Errorf("asked for %s", day)
		}
		return before, 0, nil
	}
	based := func(times int) bool {
		mu.Lock()
		defer mu.Unlock()
		return asked >= times
	}
	f := newFleetOn(t, s.Client, quick, 2, Limits{CallsPerDay: limit}, ledger)
	for range 20 {
		f.call(0, 0, 0)
		f.call(1, 0, 0)
	}
	rdb := s.Client()
	defer func() { _ = rdb.Close() }()
	eventually(t, func() bool { return rdb.HExists(t.Context(), keyOf(f.application, "day-calls"), "based").Val() })
	eventually(t, func() bool {
		return f.limiters[0].knowsBase(Caller{Application: f.application}) && f.limiters[1].knowsBase(Caller{Application: f.application})
	})
	mu.Lock()
	asked = 0
	mu.Unlock()
	if err := rdb.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	f.use(limit)
	eventually(t, func() bool { return based(1) })
	time.Sleep(2 * quick.life)
	f.use(limit)
	if n := len(f.admitted); n > limit-before || n < (limit-before)*95/100 {
		t.Errorf("%d calls of %d, of which the ledger had %d", n, limit, before)
	}
	if gateways != 2 {
		t.Errorf("the ledger was told of %d gateways", gateways)
	}
}

// TestADayEndsAtMidnightInBeijing: what is leased of it before is not spent after it.
func TestADayEndsAtMidnightInBeijing(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	midnight := beijing.Today(time.Now()).End()
	server.SetTime(midnight.Add(-time.Hour))
	client := func() redis.UniversalClient { return redis.NewClient(&redis.Options{Addr: server.Addr()}) }
	f := newFleetOn(t, client, patient(quick), 2, Limits{CallsPerDay: 20}, nil)
	if n := f.use(20); n != 20 {
		t.Errorf("%d calls of 20 before midnight", n)
	}
	server.SetTime(midnight)
	eventually(t, func() bool { return f.call(0, 0, 0) == nil })
	if n := f.use(20); n != 19 {
		t.Errorf("%d calls of 20 after midnight", n+1)
	}
}

func (l *Limiter) knowsBase(by Caller) bool {
	_, scopes := l.Of(nil, by)
	for _, of := range scopes.levels {
		of.calls.mu.Lock()
		based := of.calls.based
		of.calls.mu.Unlock()
		if !based {
			return false
		}
	}
	return true
}

func TestALeaseOfADayEndsWithIt(t *testing.T) {
	m := newMeter("day-calls", beijingDay, false, time.Duration(time.Now().UnixNano()), 0)
	m.limit.Store(100)
	day := int64(beijing.Today(time.Now()))
	m.accept(counted{epoch: "1", bucket: day, total: 10, charged: 10, granted: 10, grantedIn: day, milliseconds: beijing.Day(day).End().UnixMilli() - 40}, time.Second, time.Second, time.Minute, false, 0)
	if l := m.lease.Load(); l == nil || l.until != time.Second+40*time.Millisecond {
		t.Errorf("%+v", l)
	}
}

func eventually(t testing.TB, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}

// TestAKilledGatewaysShareComesBack: what it had leased, and its slots.
func TestAKilledGatewaysShareComesBack(t *testing.T) {
	t.Parallel()
	f := newFleet(t, redistest.Start(t), quick, 2, Limits{Concurrency: 10, RequestsPerMinute: 100})
	for range 10 {
		if _, reached := f.limiters[0].Admit(f.limiters[0].scopes(f.application, uuid.Nil), time.Now()); reached != nil {
			t.Fatal("refused")
		}
	}
	if f.call(1, 0, 0) == nil {
		t.Fatal("an eleventh call is in flight")
	}
	f.limiters[0].cancel() // it says nothing any more
	began := time.Now()
	eventually(t, func() bool { return f.call(1, 0, 0) == nil })
	if took := time.Since(began); took > quick.window {
		t.Errorf("its slots came back after %v", took)
	}
}
