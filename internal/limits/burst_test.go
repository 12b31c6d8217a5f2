package limits

import (
	"sync"
	"sync/atomic"
	"testing"

	"callgate/internal/redistest"
)

// TestABurstWithinTheLimitsIsNotRefused: many calls at once, of an application that has just begun.
func TestABurstWithinTheLimitsIsNotRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t, redistest.Start(t), usual, 1, Limits{RequestsPerMinute: 1_000_000, Concurrency: 100_000, CallsPerDay: 1_000_000})
	var refused atomic.Int64
	var running sync.WaitGroup
	for range 200 {
		running.Go(func() {
			for range 100 {
				if f.call(0, 0, 0) != nil {
					refused.Add(1)
				}
			}
		})
	}
	running.Wait()
	if n := refused.Load(); n > 0 {
		t.Errorf("%d of 20,000 calls are refused", n)
	}
}
