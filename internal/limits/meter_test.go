package limits

import (
	"sync"
	"testing"
	"time"
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
