package gateway

import (
	"sync/atomic"
	"time"
)

// The retries of a capability: a tenth of its calls, saved up for a burst, or
// two a second where that is more. At two calls a second and less a breaker sees too few calls to open, so there
// each must be allowed a retry.
const (
	retryCost  = 10 // calls that pay for one
	retryMost  = 500 * retryCost
	retryStart = 25 * retryCost // more than a breaker needs to open
	retryFloor = 2              // a second
	retryDebt  = 20 * retryCost // of what the floor gave, that is paid back before more is saved
)

// retryBudget is what a capability may still retry. It takes no lock.
type retryBudget struct {
	saved  atomic.Int64  // calls that no retry was paid with
	second atomic.Uint64 // number of the second, and in the lowest 16 bits the retries in it
}

func newRetryBudget() *retryBudget {
	b := new(retryBudget)
	b.saved.Store(retryStart)
	return b
}

// call notes a call.
func (b *retryBudget) call() {
	if b.saved.Load() < retryMost {
		b.saved.Add(1)
	}
}

// take asks for a retry.
func (b *retryBudget) take(at time.Duration) bool {
	saved := b.saved.Add(-retryCost)
	paid := saved >= 0
	number := uint64(at / time.Second)
	for {
		old := b.second.Load()
		next := number<<16 + 1
		if old>>16 == number {
			if next = old + 1; !paid && old&0xffff >= retryFloor {
				b.saved.Add(retryCost)
				return false
			}
			if old&0xffff == 0xffff {
				next = old
			}
		}
		if b.second.CompareAndSwap(old, next) {
			if saved < -retryDebt {
				b.saved.Add(retryCost)
			}
			return true
		}
	}
}
