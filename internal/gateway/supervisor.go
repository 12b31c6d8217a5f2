package gateway

import (
	"sync"
	"time"
)

const (
	// lookEvery is how often the calls in flight are looked at. Timeouts are exact to it.
	lookEvery = 20 * time.Millisecond
	// silence is for how long no look must have seen anything move before a caller's socket is watched:
	// calls that are answered faster pay nothing for the watch. With the distance of looks it makes 40
	// to 60 ms of real silence.
	silence = 30 * time.Millisecond
)

// supervisor looks after all calls in flight from one goroutine: it watches the callers of silent ones
// and cuts those that are out of time, so that a call needs no timer and no goroutine of its own.
type supervisor struct {
	timeouts timeouts
	watcher  *watcher

	mu      sync.Mutex
	first   *call
	count   int
	resting bool // until a call comes
	ended   bool // no call is taken any more

	wake chan struct{}
	stop chan struct{}
	done sync.WaitGroup
	tidy func(now time.Time) // called now and then
}

type timeouts struct{ header, idle, whole time.Duration }

func newSupervisor(l timeouts, tidy func(time.Time)) *supervisor {
	s := &supervisor{timeouts: l, tidy: tidy, wake: make(chan struct{}, 1), stop: make(chan struct{})}
	s.watcher = newWatcher(s.gone)
	s.done.Go(s.run)
	return s
}

func (s *supervisor) close() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	close(s.stop)
	s.done.Wait()
	s.watcher.close()
}

// add begins to look after a call. It reports false when none is taken any more.
func (s *supervisor) add(c *call) bool {
	c.changed = c.start
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return false
	}
	if c.next = s.first; c.next != nil {
		c.next.previous = c
	}
	s.first = c
	s.count++
	resting := s.resting
	s.resting = false
	s.mu.Unlock()
	if resting { // rarely: waking another goroutine costs more than most of the call's own work
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	return true
}

// finish ends the taking of calls if none is in flight, and reports whether it did.
func (s *supervisor) finish() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = s.ended || s.count == 0
	return s.ended
}

// remove ends it. After it returned, the call is touched by nobody else.
func (s *supervisor) remove(c *call) {
	s.mu.Lock()
	if c.previous != nil {
		c.previous.next = c.next
	} else {
		s.first = c.next
	}
	if c.next != nil {
		c.next.previous = c.previous
	}
	c.next, c.previous = nil, nil
	s.count--
	armed := c.armed != 0
	if armed {
		s.watcher.forget(c.armed)
	}
	s.mu.Unlock()
	if armed {
		s.watcher.disarm(c.client.Conn)
	}
}

// each visits the calls in flight.
func (s *supervisor) each(visit func(*call)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := s.first; c != nil; c = c.next {
		visit(c)
	}
}

func (s *supervisor) run() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	const tidyEvery = 5 * time.Second
	tidied := time.Now()
	for {
		select {
		case <-s.stop:
			return
		case now := <-ticker.C:
			s.each(func(c *call) { s.look(c, now) })
			if now.Sub(tidied) >= tidyEvery {
				s.tidy(now)
				tidied = now
			}
			if s.rest() {
				ticker.Reset(tidyEvery)
			}
		case <-s.wake:
			ticker.Reset(lookEvery)
		}
	}
}

// rest reports true when there is nothing to look after: the next call will wake the supervisor.
func (s *supervisor) rest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resting = s.count == 0
	return s.resting
}

func (s *supervisor) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

func (s *supervisor) look(c *call, now time.Time) {
	if p := c.progress.Load(); p != c.seen {
		c.seen, c.changed = p, now
	}
	quiet := now.Sub(c.changed)
	if quiet >= silence && c.armed == 0 {
		c.armed = s.watcher.arm(c.client.Conn, c)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	limit, why := s.timeouts.idle, tooSlow
	switch {
	case c.phase == receiving || awaitsCaller(c.seen):
		why = callerSlow
	case c.phase == waiting:
		limit = s.timeouts.header
	}
	if quiet >= limit || now.Sub(c.start) >= s.timeouts.whole {
		c.cutLocked(why)
	}
}

// gone is told by the watcher; the token was given by arm. A call cannot end while it is cut here.
func (s *supervisor) gone(token uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.watcher.call(token); c != nil {
		c.cut(clientGone)
	}
}
