// Package gateway is the hot path: it finds out whose Access Key a request carries and what that may
// call, forwards the call to the upstream byte for byte, relays the answer as it arrives, and hands
// over one record of every attributed call. It serves the requests of an http1.Server: a call is read,
// forwarded and answered by the goroutine of its connection, from top to bottom.
package gateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"callgate/internal/access"
	"callgate/internal/calls"
	"callgate/internal/http1"
	"callgate/internal/telemetry"
)

// Gateway serves /gateway/* and /via/*.
type Gateway struct {
	config     Config
	logger     *slog.Logger
	sparse     struct{ unchecked, keys, targets, failures *telemetry.Sparse } // what calls would repeat in the log
	metrics    *metrics
	upstreams  upstreams
	endpoints  *registry[endpoint]    // by the id of the named upstream
	budgets    *registry[retryBudget] // by the id of the capability
	began      time.Time
	supervisor *supervisor
	origins    origins
	shares     shares
	lookups    *lookups
	stopping   atomic.Bool // no time is left for new calls
	closed     atomic.Bool
}

// New returns a gateway; Close or Shutdown ends its goroutines.
func New(config Config) *Gateway {
	config.defaults()
	g := &Gateway{
		lookups: newLookups(),
		config:  config,
		logger:  config.Logger, origins: newOrigins(config.Origins),
		upstreams: upstreams{
			allowPrivate: config.AllowPrivate, timeout: config.ConnectTimeout, limit: config.MaxUpstreamConns, share: config.OwnerShare, quiet: (*probe).quiet,
			watchTLS: config.WatchTLS, sessions: tls.NewLRUClientSessionCache(256), pools: map[string]*connPool{},
		},
	}
	g.sparse.unchecked, g.sparse.keys, g.sparse.targets, g.sparse.failures = telemetry.NewSparse(), telemetry.NewSparse(), telemetry.NewSparse(), telemetry.NewSparse()
	g.shares.divide(config.MaxInflightBytes, config.OwnerShare)
	g.supervisor = newSupervisor(timeouts{header: config.HeaderTimeout, idle: config.IdleTimeout, whole: config.CallTimeout}, func(now time.Time) {
		g.upstreams.each(func(p *connPool) { p.evict(now.Add(-idleConnLife)) })
		g.shares.tidy(now)
	})
	g.began = time.Now()
	g.metrics = newMetrics(config.Registry, g)
	g.endpoints = newRegistry(g.metrics.endpoint)
	g.budgets = newRegistry(func(string) *retryBudget { return newRetryBudget() })
	return g
}

// Owns tells whether a request target is the gateway's.
func Owns(target []byte) bool {
	_, ok := splitTarget(target)
	return ok
}

// OwnsBeginning tells whether bytes that could not be read as a request begin like one to the gateway.
func OwnsBeginning(unread []byte) bool {
	_, target, ok := bytes.Cut(unread, []byte(" "))
	target, _, _ = bytes.Cut(target, []byte(" "))
	return ok && Owns(target)
}

// Handle answers a request to the gateway. It reports whether another may follow on the connection.
func (g *Gateway) Handle(x *http1.Exchange) (again bool) {
	var head requestHead
	if !head.read(&x.Request) {
		g.Refuse(x, http1.ErrMalformed)
		return false
	}
	cors := g.origins.says(head.origin)
	if g.isPreflight(x, &head) {
		return g.preflight(x, cors)
	}
	if head.upgrade {
		// Clients that try WebSocket first go on by plain HTTP when they are told so by 426. It is how they begin, not
		// a call that failed: nobody is asked whose it is.
		return g.refuse(x, refusedUpgrade, cors)
	}
	c, refused := g.admit(x, &head)
	if refused != nil {
		return g.refuse(x, *refused, cors)
	}
	c.cors = cors
	again = c.handle()
	if !c.awaits {
		c.release()
	}
	return again
}

// Refuse answers what begins like a request to the gateway and cannot be read; nobody knows whose it is.
func (g *Gateway) Refuse(x *http1.Exchange, fault error) {
	refused := refusedMalformed
	switch {
	case errors.Is(fault, http1.ErrHeadTooLong):
		refused = refusedHead
	case errors.Is(fault, http1.ErrHeadTimeout):
		refused = refusedLate
	}
	g.metrics.refused.WithLabelValues(refused.code).Inc()
	if _, err := x.Conn.Write(refused.append(nil, answering{})); err == nil {
		x.Linger()
	}
}

// admit attributes a request to the application of its key: from here on it is a call in flight,
// which ends with one record. Otherwise it returns the refusal.
func (g *Gateway) admit(x *http1.Exchange, head *requestHead) (*call, *refusal) {
	start := time.Now()
	recent, _ := x.Peer.Memo.(*access.Recent)
	if recent == nil {
		recent = new(access.Recent)
		x.Peer.Memo = recent
	}
	switch {
	case head.differ && head.shown:
		return nil, &refusedShown
	case head.differ:
		return nil, &refusedKeys
	}
	grant, err := g.grant(recent, head.key)
	switch {
	case errors.Is(err, access.ErrUnknownKey) && head.shown:
		return nil, &refusedShown
	case errors.Is(err, access.ErrUnknownKey):
		return nil, &refusedKey
	case err != nil:
		g.sparse.unchecked.Say(func(held int64) { g.logger.Warn("access keys cannot be checked", "error", err, "held", held) })
		return nil, &refusedAccess
	}
	c := takeCall()
	c.gateway, c.x, c.client, c.start, c.id = g, x, x.Conn, start, calls.NewCallID(start)
	c.grant, c.firstByte = grant, -1
	c.keep(head)
	if g.config.Traces != nil {
		c.trace = g.config.Traces.Begin(head.traceparent)
	}
	if !g.supervisor.add(c) { // after Shutdown: the process ends, nobody takes a record any more
		c.release()
		return nil, &refusedStopping
	}
	c.share = g.shares.enter(grant.ApplicationID, grant.OwnerID)
	c.request.owner = c.share.holding
	g.shares.bytes.note(c.share.holding, start)
	return c, nil
}

func (g *Gateway) grant(recent *access.Recent, accessKey []byte) (grant *access.Grant, err error) {
	defer func() {
		if p := recover(); p != nil {
			g.logger.Error("panic while checking a key", "panic", p, "stack", string(debug.Stack()))
			err = errors.New("panic while checking a key")
		}
	}()
	if len(accessKey) == 0 {
		return nil, access.ErrUnknownKey
	}
	return g.config.Grant(context.Background(), recent, accessKey)
}

// passOver reads what is small of the body of a request that is attributed to nobody, so that its connection lives. It reports
// whether that was all of it.
func (g *Gateway) passOver(x *http1.Exchange) (whole bool) {
	var b requestBody
	if b.open(g, x) == nil {
		b.drain()
	}
	b.release(g)
	return b.complete.Load()
}

// refuse answers a request that is attributed to nobody.
func (g *Gateway) refuse(x *http1.Exchange, r refusal, cors string) (again bool) {
	g.metrics.refused.WithLabelValues(r.code).Inc()
	asked, _ := splitTarget(x.Target())
	how := answering{old: x.Old, head: string(x.Method()) == "HEAD", cors: cors, to: dialectOf(asked.path)}
	whole := g.passOver(x) // the head is gone with it
	again = whole && !x.Last()
	how.again = again
	_, err := x.Conn.Write(r.append(nil, how))
	if err == nil && !whole {
		x.Linger()
	}
	return again && err == nil
}

// End ends the calls in flight that may not go on. It does not wait for their ends.
func (g *Gateway) End(these []access.Ending) {
	g.supervisor.each(func(c *call) {
		named := c.named.Load()
		for _, e := range these {
			switch {
			case e.CapabilityID == "" && c.grant.ApplicationID == e.ApplicationID && c.grant.Version < e.Version:
				c.cut(applicationEnded)
			case e.CapabilityID != "" && named != nil && named.ID == e.CapabilityID && named.Version < e.Version:
				c.cut(capabilityEnded)
			}
		}
	})
}

const (
	shutdownLook = 5 * time.Millisecond
	// cutTime is how long calls have to end once they are cut. One that is stuck even so is given up.
	cutTime = 3 * time.Second
)

// Shutdown waits until no call is in flight; calls that still come are served. Once ctx is done, new
// calls are refused, the rest is cut, and what does not end within 3 s is given up: the error says
// how many. It closes the gateway. Every call but those has its record handed over when it returns.
func (g *Gateway) Shutdown(ctx context.Context) error {
	defer g.Close()
	ticker := time.NewTicker(shutdownLook)
	defer ticker.Stop()
	var end time.Time
	for done := ctx.Done(); !g.supervisor.finish(); {
		select {
		case <-done:
			g.stopping.Store(true)
			done, end = nil, time.Now().Add(cutTime)
		case <-ticker.C:
		}
		if !g.stopping.Load() {
			continue
		}
		// Again each time: some were between two steps when the others were cut.
		g.supervisor.each(func(c *call) { c.cut(shuttingDown) })
		if time.Now().After(end) {
			return fmt.Errorf("%d calls did not end %v after they were cut", g.supervisor.len(), cutTime)
		}
	}
	return nil
}

// Close ends the gateway's goroutines and closes idle connections. Calls in flight are not waited for.
func (g *Gateway) Close() {
	if g.closed.Swap(true) {
		return
	}
	g.supervisor.close()
	g.upstreams.each(func(p *connPool) { p.evict(time.Now().Add(time.Hour)) })
}
