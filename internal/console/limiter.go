package console

import (
	"sync"
	"time"

	"callgate/internal/fault"
	"callgate/internal/identity"
)

const (
	limitWindow      = time.Minute
	maxLimited       = 10_000 // callers remembered at once
	evictionInterval = time.Second
)

// callerOf is whom a limit counts: a user or an administrator, whatever session or token speaks.
func callerOf(who identity.Principal) string { return string(who.Audience) + " " + who.Email }

// limiter bounds the requests of each caller to a burst of perMinute, which refills evenly within a
// minute. It counts in this process alone, and remembers at most maxLimited callers: of more than
// that, the ones it forgets begin afresh.
type limiter struct {
	spacing time.Duration // a request uses up this much of the minute; 0 limits nothing
	now     func() time.Time

	mu      sync.Mutex
	used    map[string]time.Time // when the caller's burst is whole again
	evicted time.Time
}

// newLimiter returns a limiter of perMinute requests; 0 limits nothing.
func newLimiter(perMinute int, now func() time.Time) *limiter {
	l := &limiter{now: now, used: map[string]time.Time{}}
	if perMinute > 0 {
		l.spacing = limitWindow / time.Duration(perMinute)
	}
	return l
}

// admit counts one request of the caller, or refuses it with TooManyAttempts and the time to wait.
func (l *limiter) admit(key string) error {
	if l.spacing == 0 {
		return nil
	}
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	whole, known := l.used[key]
	if whole.Before(now) {
		whole = now
	}
	whole = whole.Add(l.spacing)
	if wait := whole.Sub(now) - limitWindow; wait > 0 {
		return &fault.Error{Kind: fault.TooManyAttempts, Message: "too many requests; try again later", RetryAfter: wait}
	}
	if !known && len(l.used) >= maxLimited {
		l.makeRoom(now)
	}
	l.used[key] = whole
	return nil
}

// makeRoom forgets the callers whose burst is whole again, or else any one.
func (l *limiter) makeRoom(now time.Time) {
	if now.Sub(l.evicted) >= evictionInterval {
		l.evicted = now
		for key, whole := range l.used {
			if !whole.After(now) {
				delete(l.used, key)
			}
		}
	}
	for key := range l.used {
		if len(l.used) < maxLimited {
			return
		}
		delete(l.used, key)
	}
}
