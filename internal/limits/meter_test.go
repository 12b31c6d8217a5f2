package limits

import (
	"sync"
	"testing"
	"time"

	"callgate/internal/redistest"
)

// TestALeaseTakenBackGivesBackAllThatIsLeftOfIt: calls that ask for more than it has meanwhile change nothing of it.
func TestALeaseTakenBackGivesBackAllThatIsLeftOfIt(t *testing.T) {
	const rounds, left = 20_000, 3000
	m := newMeter("tokens", beijingDay, true, time.Duration(time.Now().UnixNano()), 0)
	m.limit.Store(1 << 40)
	done := make(chan struct{})
	var asking sync.WaitGroup
	for range 2 {
		asking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					m.take(left+2000, 0)
				}
			}
		})
	}
	for range rounds {
		m.mu.Lock()
		m.lend(&lease{granted: left, bucket: 1}, 0, time.Hour)
		m.mu.Unlock()
	}
	m.mu.Lock()
	m.replace(nil)
	back := -m.pending[1]
	m.mu.Unlock()
	close(done)
	asking.Wait()
	if back != rounds*left {
		t.Errorf("%d of %d came back", back, rounds*left)
	}
}

// TestAGatewayStartedAnewIsNotTakenForTheOneBefore: the count does not give its first exchange the answer to another.
func TestAGatewayStartedAnewIsNotTakenForTheOneBefore(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	f := newFleet(t, s, usual, 2, Limits{CallsPerDay: 10})
	f.limiters[1].config.Gateway = f.limiters[0].config.Gateway
	f.limiters[0].cancel() // killed after its first exchange
	f.limiters[0].running.Wait()
	if f.call(0, 0, 0) != nil || f.call(1, 0, 0) != nil {
		t.Fatal("refused")
	}
	rdb := s.Client()
	defer func() { _ = rdb.Close() }()
	if total := rdb.HGet(t.Context(), keyOf(f.application, "day-calls"), "total").Val(); total != "2" {
		t.Errorf("%s of two calls are counted", total)
	}
}
