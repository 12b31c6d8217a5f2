package limits

import (
	"sync"
	"testing"
	"time"

	"callgate/internal/redistest"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// Leases double until they last, so that calls in a hurry do not ask one by one.
func TestALoadThatBeginsAtOnceAsksFewTimes(t *testing.T) {
	f := newFleet(t, redistest.Start(t), usual, 1, Limits{RequestsPerMinute: 1 << 40})
	l, end := f.limiters[0], time.Now().Add(2*time.Second)
	var callers sync.WaitGroup
	for range 64 {
		callers.Go(func() {
			for time.Now().Before(end) {
				state := l.scopes(f.application, f.application)
				if _, reached := l.Admit(state, time.Now()); reached != nil {
					t.Error(reached)
					return
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	callers.Wait()
	if asked := testutil.ToFloat64(l.metrics.exchanges.WithLabelValues("done")); asked > 60 {
		t.Errorf("64 callers in a hurry asked %v times in 2 s", asked)
	}
}

// BenchmarkWarmCall is what a call pays for limits and their headers: for three of its application, and for five each of
// its key, its application and its owner. Few of its calls may ask Redis: a lease grows with what is spent of it.
func BenchmarkWarmCall(b *testing.B) {
	key, application, owner := uuid.New(), uuid.New(), uuid.New()
	many := Limits{RequestsPerMinute: 1 << 40, TokensPerMinute: 1 << 40, Concurrency: 10_000, CallsPerDay: 1 << 40, TokensPerDay: 1 << 40}
	few := Limits{RequestsPerMinute: 1 << 40, CallsPerDay: 1 << 40, Concurrency: 10_000}
	for name, held := range map[string]*Snapshot{
		"application": {own: map[uuid.UUID]Limits{application: few}},
		"key":         {keys: map[uuid.UUID]map[uuid.UUID]KeyLimits{application: {key: {Limits: few}}}, own: map[uuid.UUID]Limits{application: few}},
		"all": {keys: map[uuid.UUID]map[uuid.UUID]KeyLimits{application: {key: {Limits: many}}},
			own: map[uuid.UUID]Limits{application: many}, owners: map[uuid.UUID]Limits{owner: many}},
	} {
		b.Run(name, func(b *testing.B) {
			l := newFleetOf(b, redistest.Start(b).Client, usual, 1, held, nil).limiters[0]
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				var state *State
				var scopes *Scopes
				out := make([]byte, 0, 2048)
				for pb.Next() {
					start := time.Now()
					state, scopes = l.Of(state, Caller{key, application, owner})
					ticket, reached := l.Admit(scopes, start)
					if reached != nil {
						b.Error(reached)
						return
					}
					out = l.AppendHeaders(out[:0], scopes, start)
					l.End(ticket, 7, true)
				}
			})
		})
	}
}
