package gateway

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"callgate/internal/limits"
)

var errShareExhausted = errors.New("the application's share of the connections to the upstream is in use")

// shares hold what each application with calls in flight takes of what all share, so that none can
// take more of it than MAX_APPLICATION_SHARE. An application is found by one look into a map that is
// read without a lock, and everything else is counted by atomics.
type shares struct {
	bytes int64 // of kept bodies that one application may have at once
	conns int32 // to one upstream that one application may use at once

	known sync.Map // application id -> *share
	count atomic.Int64
}

// share is what one application takes.
type share struct {
	calls atomic.Int64 // in flight; below zero once the share is forgotten
	bytes atomic.Int64
	// limited is what its limits were found to be last.
	limited atomic.Pointer[limits.State]

	mu    sync.Mutex
	pools atomic.Pointer[[]*poolShare] // of the few upstreams that the application calls
}

// poolShare is what one application uses of one pool.
type poolShare struct {
	pool  *connPool
	inUse atomic.Int32
}

// part is share of limit, at least one.
func part(share float64, limit int64) int64 { return max(1, int64(share*float64(limit))) }

// enter finds an application's share for a call; leave ends it.
func (s *shares) enter(application uuid.UUID) *share {
	for {
		found, ok := s.known.Load(application)
		if !ok {
			if found, ok = s.known.LoadOrStore(application, new(share)); !ok {
				s.count.Add(1)
			}
		}
		if one := found.(*share); one.calls.Add(1) > 0 {
			return one
		}
		s.known.CompareAndDelete(application, found) // it was just being forgotten
	}
}

func (o *share) leave() { o.calls.Add(-1) }

// manyShares is how many are kept although nobody uses them.
const manyShares = 4096

// tidy forgets applications without calls when there are many of them.
func (s *shares) tidy(time.Time) {
	const forgotten = -1 << 40
	if s.count.Load() <= manyShares {
		return
	}
	s.known.Range(func(id, found any) bool {
		if found.(*share).calls.CompareAndSwap(0, forgotten) {
			s.known.CompareAndDelete(id, found)
			s.count.Add(-1)
		}
		return true
	})
}

// of finds what the application uses of a pool.
func (o *share) of(pool *connPool) *poolShare {
	if found := o.look(pool); found != nil {
		return found
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if found := o.look(pool); found != nil {
		return found
	}
	var all []*poolShare
	if old := o.pools.Load(); old != nil {
		all = append(all, *old...)
	}
	made := &poolShare{pool: pool}
	all = append(all, made)
	o.pools.Store(&all)
	return made
}

func (o *share) look(pool *connPool) *poolShare {
	if all := o.pools.Load(); all != nil {
		for _, one := range *all {
			if one.pool == pool {
				return one
			}
		}
	}
	return nil
}

// take takes one connection of at most limit.
func (p *poolShare) take(limit int32) bool {
	if p.inUse.Add(1) <= limit {
		return true
	}
	p.inUse.Add(-1)
	return false
}

// takePlace takes one connection to a pool out of the application's share; it is given back for one
// to another pool, or to none. It reports false when the share is used up.
func (c *call) takePlace(pool *connPool) bool {
	if c.place != nil {
		if c.place.pool == pool {
			return true
		}
		c.place.inUse.Add(-1)
		c.place = nil
	}
	if pool == nil {
		return true
	}
	place := c.share.of(pool)
	if !place.take(c.gateway.shares.conns) {
		return false
	}
	c.place = place
	return true
}

// reserve takes n bytes of the application's part of the budget for kept bodies, or gives back -n.
func (o *share) reserve(n, limit int64) bool {
	if o.bytes.Add(n) <= limit || n <= 0 {
		return true
	}
	o.bytes.Add(-n)
	return false
}
