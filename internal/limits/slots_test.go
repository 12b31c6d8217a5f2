package limits

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestARefusedCallHoldsNoSlot has calls refused by the thousand while exchanges tell what is held.
func TestARefusedCallHoldsNoSlot(t *testing.T) {
	const limit = 2
	var s slots
	s.limit.Store(limit)
	s.hold(limit)
	for range limit {
		if !s.take() {
			t.Fatal("a free slot is not given")
		}
	}
	var done atomic.Bool
	var calling sync.WaitGroup
	for range 8 {
		calling.Go(func() {
			for !done.Load() {
				if s.take() {
					t.Error("a slot is given that nobody holds")
					return
				}
			}
		})
	}
	for asked := time.Now(); time.Since(asked) < 300*time.Millisecond; {
		s.ask("gateway", 1, 3, true, time.Second)
		if held := s.held.Load(); held != limit {
			t.Errorf("%d slots are held, want %d", held, limit)
			break
		}
	}
	done.Store(true)
	calling.Wait()
}
