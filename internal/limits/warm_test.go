package limits

import (
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// Leases double until they last, so that calls in a hurry do not ask one by one.
func TestALoadThatBeginsAtOnceAsksFewTimes(t *testing.T) {
	f := newFleet(t, startRedis(t), usual, 1, Limits{RequestsPerMinute: 1 << 40})
	l, end := f.limiters[0], time.Now().Add(2*time.Second)
	var callers sync.WaitGroup
	for range 64 {
		callers.Go(func() {
			for time.Now().Before(end) {
				state := l.Of(nil, f.application, f.application)
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

// BenchmarkWarmCall is what a call pays for three limits and their headers. Few of its calls may ask Redis: a lease
// grows with what is spent of it.
func BenchmarkWarmCall(b *testing.B) {
	f := newFleet(b, startRedis(b), usual, 1, Limits{RequestsPerMinute: 1 << 40, CallsPerDay: 1 << 40, Concurrency: 10_000})
	l := f.limiters[0]
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		var state *State
		out := make([]byte, 0, 1024)
		for pb.Next() {
			start := time.Now()
			state = l.Of(state, f.application, f.application)
			ticket, reached := l.Admit(state, start)
			if reached != nil {
				b.Error(reached)
				return
			}
			out = l.AppendHeaders(out[:0], state, start)
			l.End(ticket, 0, true)
		}
	})
}
