package gateway

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// endpoint is a named upstream as this gateway sees it.
type endpoint struct {
	id               string
	breaker          breaker
	answered, failed prometheus.Counter
	fault            atomic.Pointer[upstreamFault] // the last one
}

// upstreamFault is why an upstream failed, in a few fixed words (see logged).
type upstreamFault struct {
	cause string
	at    time.Time
}

// registry finds what is kept under a name without a lock and without an allocation. There are few, and none is
// ever taken away.
type registry[T any] struct {
	known atomic.Pointer[map[string]*T]
	mu    sync.Mutex
	made  func(name string) *T
}

func newRegistry[T any](made func(name string) *T) *registry[T] {
	r := &registry[T]{made: made}
	r.known.Store(&map[string]*T{})
	return r
}

func (r *registry[T]) of(name string) *T {
	if found := (*r.known.Load())[name]; found != nil {
		return found
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if found := (*r.known.Load())[name]; found != nil {
		return found
	}
	next := maps.Clone(*r.known.Load())
	next[name] = r.made(name)
	r.known.Store(&next)
	return next[name]
}

// UpstreamState is how a named upstream does, as this gateway sees it.
type UpstreamState struct {
	State     string    // of its breaker: closed, open, or probing while one call tries an open one
	OpenedAt  time.Time // zero: it is closed
	Calls     int64     // of the last ten seconds
	Failures  int64
	LastError string // in a few fixed words; empty: none
	ErrorAt   time.Time
}

// Upstreams tells how the named upstreams do that calls went to, by their ids.
func (g *Gateway) Upstreams() map[string]UpstreamState {
	all := map[string]UpstreamState{}
	now := time.Now()
	at := now.Sub(g.began)
	for id, e := range *g.endpoints.known.Load() {
		calls, failures := e.breaker.within(at, func(uint64, uint64) bool { return false })
		s := UpstreamState{State: e.breaker.state(), Calls: int64(calls), Failures: int64(failures)}
		if opened := e.breaker.opened.Load(); opened != 0 && s.State != "closed" {
			s.OpenedAt = g.began.Add(time.Duration(opened))
		}
		if f := e.fault.Load(); f != nil {
			s.LastError, s.ErrorAt = f.cause, f.at
		}
		all[id] = s
	}
	return all
}
