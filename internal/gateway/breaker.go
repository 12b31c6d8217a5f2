package gateway

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"callgate/internal/http1"
)

// The breaker of an upstream.
const (
	breakerSpan  = 10 * time.Second // what is counted
	breakerSlot  = 100 * time.Millisecond
	breakerSlots = int(breakerSpan / breakerSlot)
	breakerLeast = 20 // calls below which nothing is concluded
	breakerOpen  = 15 * time.Second

	// What an upstream may ask for with Retry-After instead of breakerOpen.
	leastRetryAfter = time.Second
	mostRetryAfter  = time.Minute
)

// breaker keeps calls from an upstream that fails: it opens when at least half of at least 20 calls failed within
// 10 s or any shorter time up to now, and closes after one call that did not. Times are since the gateway began.
// It takes no lock.
type breaker struct {
	slots   [breakerSlots]atomic.Uint64 // number of the slot (24 bits), calls (20), failures (20)
	opened  atomic.Int64                // when it opened; 0: it is closed
	until   atomic.Int64                // from when one call may try; 0: it is closed
	probing atomic.Int64                // the claim of that call, see probe; 0: none is under way
}

const slotBits, slotNumber = 20, 1<<24 - 1

// count adds to the present slot.
func (b *breaker) count(at time.Duration, calls, failures uint64) {
	number := uint64(at / breakerSlot)
	slot := &b.slots[number%uint64(breakerSlots)]
	for {
		old := slot.Load()
		next := number&slotNumber<<(2*slotBits) | calls<<slotBits | failures
		if old>>(2*slotBits) == number&slotNumber {
			next = old + calls<<slotBits + failures
		}
		if slot.CompareAndSwap(old, next) {
			return
		}
	}
}

// within sums up the last slots, newest first, until enough says so.
func (b *breaker) within(at time.Duration, enough func(calls, failures uint64) bool) (calls, failures uint64) {
	number := uint64(at / breakerSlot)
	for back := uint64(0); back < uint64(breakerSlots) && back <= number; back++ {
		slot := b.slots[(number-back)%uint64(breakerSlots)].Load()
		if slot>>(2*slotBits) != (number-back)&slotNumber {
			continue
		}
		calls += slot >> slotBits & (1<<slotBits - 1)
		failures += slot & (1<<slotBits - 1)
		if enough(calls, failures) {
			break
		}
	}
	return calls, failures
}

// failing tells whether half of the calls fail now.
func (b *breaker) failing(at time.Duration) bool {
	half := func(calls, failures uint64) bool { return calls >= breakerLeast && 2*failures >= calls }
	return half(b.within(at, half))
}

// closed tells whether calls may go there as they come.
func (b *breaker) closed() bool { return b.until.Load() == 0 }

// probe gives a call that is about to be sent the claim to be the one that tries an open upstream, or 0. whole tells that
// its whole body is at hand. One that still comes from its caller may take as long as that likes: its claim, below zero, is
// for as long as the breaker is open at a time, and gives way to a call that is whole.
func (b *breaker) probe(at time.Duration, whole bool) (claim int64) {
	until, held := b.until.Load(), b.probing.Load()
	if until == 0 || int64(at) < until || held > 0 || held < 0 && !whole && int64(at)+held < int64(breakerOpen) {
		return 0
	}
	if claim = max(int64(at), 1); !whole {
		claim = -claim
	}
	if !b.probing.CompareAndSwap(held, claim) {
		return 0
	}
	if b.until.Load() != until { // another one has just tried it
		b.giveBack(claim)
		return 0
	}
	return claim
}

// giveBack ends a claim.
func (b *breaker) giveBack(claim int64) { b.probing.CompareAndSwap(claim, 0) }

// open keeps calls away for a while.
func (b *breaker) open(at, length time.Duration) {
	b.opened.CompareAndSwap(0, max(int64(at), 1))
	b.until.Store(max(int64(at+length), 1))
}

// close lets calls through; what was counted before is of the time when it failed.
func (b *breaker) close() {
	for i := range b.slots {
		b.slots[i].Store(0)
	}
	b.until.Store(0)
	b.opened.Store(0)
}

// state is what metrics and the back office call it.
func (b *breaker) state() string {
	switch {
	case b.closed():
		return "closed"
	case b.probing.Load() != 0:
		return "probing"
	}
	return "open"
}

// openFor is how long an upstream is left alone that answered like this.
func openFor(r *http1.Response, now time.Time) time.Duration {
	for _, f := range r.Fields() {
		if !http1.EqualFold(r.Name(f), "retry-after") {
			continue
		}
		value := string(r.Value(f))
		if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
			return min(max(time.Duration(seconds)*time.Second, leastRetryAfter), mostRetryAfter)
		}
		if at, err := http.ParseTime(value); err == nil {
			return min(max(at.Sub(now), leastRetryAfter), mostRetryAfter)
		}
	}
	return breakerOpen
}
