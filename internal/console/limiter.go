package console

import (
	"sync"
	"time"

	"callgate/internal/fault"
	"callgate/internal/identity"
)

const (
	limitWindow    = time.Minute
	maxLimited     = 10_000 // principals remembered at once
	limitSweepLeap = time.Second
)

// caller is whom a limit counts: a user or an administrator, whatever session or token speaks.
type caller struct {
	audience identity.Audience
	email    string
}

// limiter bounds the requests of each caller to a burst of perMinute, which refills evenly within a
// minute. It counts in this process alone, and remembers at most maxLimited callers: of more than
// that, the ones it forgets begin afresh.
type limiter struct {
	spacing time.Duration // a request uses up this much of the minute; 0 limits nothing
	now     func() time.Time

	mu    sync.Mutex
	used  map[caller]time.Time // when the caller's burst is whole again
	swept time.Time
}

// newLimiter returns a limiter of perMinute requests; 0 limits nothing.
func newLimiter(perMinute int, now func() time.Time) *limiter {
	l := &limiter{now: now, used: map[caller]time.Time{}}
	if perMinute > 0 {
		l.spacing = limitWindow / time.Duration(perMinute)
	}
	return l
}

// admit counts one request of who, or refuses it with TooManyAttempts and the time to wait.
func (l *limiter) admit(who identity.Principal) error {
	if l.spacing == 0 {
		return nil
	}
	now, key := l.now(), caller{who.Audience, who.Email}
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
	if now.Sub(l.swept) >= limitSweepLeap {
		l.swept = now
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
