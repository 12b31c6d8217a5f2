package limits

import "time"

// gate lets one in at a time; who waits may give up.
type gate chan struct{}

func newGate() gate { return make(gate, 1) }

func (g gate) TryLock() bool {
	select {
	case g <- struct{}{}:
		return true
	default:
		return false
	}
}

// LockWithin waits for at most patience.
func (g gate) LockWithin(patience time.Duration) bool {
	if g.TryLock() {
		return true
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case g <- struct{}{}:
		return true
	case <-timer.C:
		return false
	}
}

func (g gate) Unlock() { <-g }
