package limits

import (
	"testing"
	"time"
)

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
