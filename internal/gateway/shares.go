package gateway

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"callgate/internal/limits"
)

var errShareExhausted = errors.New("the owner's share of the connections to the upstream, or of the memory for bodies, is in use")

// A fair divides something that is bounded among owners of applications: each has a part that the others leave to it, and
// may take more of it while nobody else needs it. Everything is counted by atomics.
type fair struct {
	limit int64 // of all
	part  int64 // of an owner

	used   atomic.Int64
	wanted atomic.Int64 // when an owner that was within its part last found nothing left

	// The owner that came last, and when it and another one did.
	latest             atomic.Pointer[holding]
	latestAt, beforeAt atomic.Int64
	noting             sync.Mutex
}

const (
	// needLasts is how long an owner that came is expected again: one that takes more than its part leaves a part free.
	needLasts = time.Minute
	// wantLasts is how long nobody is given more than its part after another was refused within its own. Callers are
	// asked to come again after a second.
	wantLasts = 5 * time.Second
	// spared is the fraction that is kept for owners that nobody expected.
	spared = 64
	// noteEvery is how exactly it is known when an owner came.
	noteEvery = time.Second
)

func (f *fair) divide(limit int64, share float64) {
	f.limit, f.part = limit, max(1, int64(share*float64(limit)))
}

// note notes that an owner came.
func (f *fair) note(by *holding, at time.Time) {
	now := at.UnixNano()
	fresh := func(last *atomic.Int64) bool { return now-last.Load() < int64(noteEvery) }
	if fresh(&f.latestAt) && (f.latest.Load() == by || fresh(&f.beforeAt)) {
		return
	}
	f.noting.Lock()
	defer f.noting.Unlock()
	if f.latest.Load() != by {
		f.beforeAt.Store(f.latestAt.Load())
		f.latest.Store(by)
	}
	f.latestAt.Store(max(now, f.latestAt.Load()))
}

// most is how much all may have for an owner to get more than its part.
func (f *fair) most(by *holding, now int64) int64 {
	other := f.latestAt.Load()
	if f.latest.Load() == by {
		other = f.beforeAt.Load()
	}
	switch {
	case now-f.wanted.Load() < int64(wantLasts):
		return 0
	case now-other < int64(needLasts):
		return f.limit - f.part
	}
	return f.limit - f.limit/spared
}

// stake is what an owner has of it.
type stake struct {
	of    *fair
	taken atomic.Int64
}

var errAllTaken = errors.New("all of it is taken")

// take takes n for an owner. errShareExhausted: it has its part; errAllTaken: nothing is left.
func (s *stake) take(by *holding, n int64) error {
	mine, all := s.taken.Add(n), s.of.used.Add(n)
	var err error
	switch {
	case all > s.of.limit:
		if err = errAllTaken; mine <= s.of.part {
			s.of.wanted.Store(time.Now().UnixNano())
		}
	case mine > s.of.part && all > s.of.most(by, time.Now().UnixNano()):
		err = errShareExhausted
	}
	if err != nil {
		s.give(n)
	}
	return err
}

func (s *stake) give(n int64) {
	s.taken.Add(-n)
	s.of.used.Add(-n)
}

// shares hold what each owner of applications with calls in flight takes of what all share. An application is found by
// one look into a map that is read without a lock.
type shares struct {
	bytes  fair    // of kept bodies
	nobody holding // of requests that are attributed to nobody

	known sync.Map // application id -> *share
	count atomic.Int64

	mu     sync.Mutex
	owners map[uuid.UUID]*holding // of the known applications
}

func (s *shares) divide(bytes int64, share float64) {
	s.bytes.divide(bytes, share)
	s.nobody.bytes.of = &s.bytes
}

// share is an application's.
type share struct {
	*holding
	calls atomic.Int64 // in flight; below zero once the share is forgotten
	// limited is what its limits were found to be last.
	limited atomic.Pointer[limits.State]
}

// holding is what an owner's applications have together.
type holding struct {
	owner        uuid.UUID
	applications int // that are known

	bytes stake
	mu    sync.Mutex
	pools atomic.Pointer[[]*poolStake] // of the few upstreams that they call
}

// poolStake is what an owner uses of one pool.
type poolStake struct {
	pool *connPool
	stake
}

// enter finds an application's share for a call; leave ends it. After it was moved to another owner it has another share:
// calls that run end with that of the former.
func (s *shares) enter(application, owner uuid.UUID) *share {
	for {
		found, ok := s.known.Load(application)
		if !ok {
			made := &share{holding: s.hold(owner)}
			if found, ok = s.known.LoadOrStore(application, made); ok {
				s.letGo(made.holding)
			} else {
				s.count.Add(1)
			}
		}
		one := found.(*share)
		if one.owner == owner && one.calls.Add(1) > 0 {
			return one
		}
		s.forget(application, one) // it was just being forgotten, or is another owner's
	}
}

// forget takes a share out of the known ones, once.
func (s *shares) forget(application any, one *share) {
	if s.known.CompareAndDelete(application, one) {
		s.count.Add(-1)
		s.letGo(one.holding)
	}
}

func (o *share) leave() { o.calls.Add(-1) }

// hold finds what an owner has for one more application.
func (s *shares) hold(owner uuid.UUID) *holding {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.owners[owner]
	if h == nil {
		h = &holding{owner: owner}
		h.bytes.of = &s.bytes
		if s.owners == nil {
			s.owners = map[uuid.UUID]*holding{}
		}
		s.owners[owner] = h
	}
	h.applications++
	return h
}

func (s *shares) letGo(h *holding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.applications--; h.applications == 0 {
		delete(s.owners, h.owner)
	}
}

// manyShares is how many are kept although nobody uses them.
const manyShares = 4096

// tidy forgets applications without calls when there are many of them.
func (s *shares) tidy(time.Time) {
	const forgotten = -1 << 40
	if s.count.Load() <= manyShares {
		return
	}
	s.known.Range(func(id, found any) bool {
		if one := found.(*share); one.calls.CompareAndSwap(0, forgotten) {
			s.forget(id, one)
		}
		return true
	})
}

// at finds what the owner uses of a pool.
func (h *holding) at(pool *connPool) *poolStake {
	if found := h.look(pool); found != nil {
		return found
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if found := h.look(pool); found != nil {
		return found
	}
	var all []*poolStake
	if old := h.pools.Load(); old != nil {
		all = append(all, *old...)
	}
	made := &poolStake{pool: pool}
	made.of = &pool.places
	all = append(all, made)
	h.pools.Store(&all)
	return made
}

func (h *holding) look(pool *connPool) *poolStake {
	if all := h.pools.Load(); all != nil {
		for _, one := range *all {
			if one.pool == pool {
				return one
			}
		}
	}
	return nil
}

// takePlace takes one connection to a pool out of the owner's share; it is given back for one to another pool, or to
// none.
func (c *call) takePlace(pool *connPool) error {
	if c.place != nil {
		if c.place.pool == pool {
			return nil
		}
		c.place.give(1)
		c.place = nil
	}
	if pool == nil {
		return nil
	}
	place := c.share.at(pool)
	pool.places.note(c.share.holding, c.start)
	switch err := place.take(c.share.holding, 1); {
	case errors.Is(err, errAllTaken):
		return errPoolExhausted
	case err != nil:
		return err
	}
	c.place = place
	return nil
}

// reserve takes n bytes of the memory for kept bodies, or gives back -n. by is the owner's; nil: there is none.
func (g *Gateway) reserve(by *holding, n int64) error {
	if by == nil {
		by = &g.shares.nobody
	}
	if n <= 0 {
		by.bytes.give(-n)
		return nil
	}
	err := by.bytes.take(by, n)
	if errors.Is(err, errAllTaken) {
		return errNoBudget
	}
	return err
}
