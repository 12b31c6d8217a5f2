package gateway

import (
	"math/rand/v2"
	"time"

	"callgate/internal/access"
)

// maxMembers is how many upstreams of a capability are looked at.
const maxMembers = 16

// choose picks the upstream that a call is to go to: its capability's own, or a named one. Its body is still to be read:
// see rechoose.
func (c *call) choose() {
	members := c.capability.Upstreams
	if len(members) == 0 {
		return
	}
	if len(members) == 1 { // it never opens: there is no other
		c.upstream, c.endpoint = members[0].Upstream, c.gateway.endpoints.of(members[0].ID)
		return
	}
	c.upstream, c.endpoint, _ = c.gateway.pick(members, c.start.Sub(c.gateway.began), nil, noProbe)
}

// rechoose chooses once more when the call is about to be sent, if a breaker of its upstreams is open: it may be the one to
// try that again, and the one chosen may have opened while the body came.
func (c *call) rechoose() {
	if c.endpoint == nil || len(c.capability.Upstreams) < 2 || !c.gateway.anyOpen(c.capability.Upstreams) {
		return
	}
	probes := wholeProbe
	if !c.request.atHand {
		probes = partProbe
	}
	u, e, claim := c.gateway.pick(c.capability.Upstreams, time.Since(c.gateway.began), nil, probes)
	if e != c.endpoint {
		if claim == 0 && c.endpoint.breaker.closed() {
			return
		}
		t, secret, err := c.resolve(u)
		if err != nil {
			e.breaker.giveBack(claim)
			return
		}
		c.turnTo(attempt{upstream: u, endpoint: e, target: t, secret: secret})
	}
	c.probe = claim
}

// anyOpen tells whether a breaker of these is open.
func (g *Gateway) anyOpen(members []access.Member) bool {
	for _, m := range members[:min(len(members), maxMembers)] {
		if !g.endpoints.of(m.ID).breaker.closed() {
			return true
		}
	}
	return false
}

// probing says whether a call may be one that tries an upstream whose breaker is open.
type probing uint8

const (
	noProbe    probing = iota
	partProbe          // its caller still sends its body
	wholeProbe         // it is all there
)

// pick takes the members of the least priority, by weight, whose breakers are closed, or else those of the next.
// One whose time to be tried again has come is tried with this call, if that may be: claim is not 0 then. If all are open
// it is the one that has been for the longest; after a first attempt it is none.
func (g *Gateway) pick(members []access.Member, at time.Duration, tried *endpoint, probes probing) (u *access.Upstream, e *endpoint, claim int64) {
	members = members[:min(len(members), maxMembers)]
	for from := 0; from < len(members); {
		to := from + 1
		for to < len(members) && members[to].Priority == members[from].Priority {
			to++
		}
		if u, e, claim = g.pickEqual(members[from:to], at, tried, probes); u != nil {
			return u, e, claim
		}
		from = to
	}
	if tried != nil {
		return nil, nil, 0
	}
	for _, m := range members {
		other := g.endpoints.of(m.ID)
		if u == nil || other.breaker.opened.Load() < e.breaker.opened.Load() {
			u, e = m.Upstream, other
		}
	}
	return u, e, 0
}

// pickEqual picks among members of one priority.
func (g *Gateway) pickEqual(members []access.Member, at time.Duration, tried *endpoint, probes probing) (u *access.Upstream, e *endpoint, claim int64) {
	var closed [maxMembers]*endpoint
	total := 0
	for i, m := range members {
		switch found := g.endpoints.of(m.ID); {
		case found == tried:
		case found.breaker.closed():
			closed[i] = found
			total += m.Weight
		case tried == nil && probes != noProbe:
			if claim = found.breaker.probe(at, probes == wholeProbe); claim != 0 {
				return m.Upstream, found, claim
			}
		}
	}
	if total <= 0 {
		return nil, nil, 0
	}
	n := rand.IntN(total) //nolint:gosec // shares of load, no secret
	for i, m := range members {
		if closed[i] == nil {
			continue
		}
		if n -= m.Weight; n < 0 {
			return m.Upstream, closed[i], 0
		}
	}
	return nil, nil, 0
}
