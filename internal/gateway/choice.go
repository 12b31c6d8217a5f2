package gateway

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"callgate/internal/access"
	"callgate/internal/calls"
	"callgate/internal/http1"
)

const (
	maxAttempts = 2  // of a call, at different upstreams
	maxMembers  = 16 // of a capability that are looked at
)

// errKey says that an upstream's key cannot be used.
var errKey = errors.New("the upstream key cannot be used")

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
		t, secret, err := c.aim(u)
		if err != nil {
			e.breaker.giveBack(claim)
			return
		}
		c.redirect(u, e, t, secret)
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

// aim finds out where the chosen upstream is, and unseals its key.
func (c *call) aim(u *access.Upstream) (t *target, secret []byte, err error) {
	base, id := c.capability.UpstreamBaseURL, ""
	if u == nil {
		secret, err = c.gateway.config.OpenKey(c.capability)
	} else {
		base, id = u.BaseURL, u.ID
		secret, err = c.gateway.config.OpenUpstreamKey(u)
	}
	if err == nil && bytes.ContainsAny(secret, "\r\n\x00") {
		err = errors.New("the upstream key cannot stand in a header")
	}
	if err != nil {
		c.gateway.logger.Error("upstream key cannot be used", "capability", c.capability.ID, "upstream", id, "error", err)
		return nil, nil, errKey
	}
	if t, err = c.gateway.upstreams.target(base); err != nil {
		c.gateway.logger.Warn("upstream may not be called", "capability", c.capability.ID, "upstream", id, "cause", logged(err))
	}
	return t, secret, err
}

// upstreamID is the chosen upstream's, empty for the capability's own.
func (c *call) upstreamID() string {
	if c.upstream == nil {
		return ""
	}
	return c.upstream.ID
}

// auth is how the chosen upstream is sent its key.
func (c *call) auth() string {
	if c.upstream == nil {
		return c.capability.UpstreamAuth
	}
	return c.upstream.Auth
}

// elsewhere notes what came of an attempt at a named upstream, and makes another at another one while that is sure
// to be no second time: nothing was answered to the caller, and the request went nowhere or was refused.
func (c *call) elsewhere(conn *upstreamConn, err error) (*upstreamConn, error) {
	if len(c.capability.Upstreams) < 2 {
		c.note(err)
		return conn, err
	}
	retries := c.gateway.budgets.of(c.capability.ID)
	retries.call()
	for {
		c.note(err)
		if c.attempts >= maxAttempts || !c.refusedUnread(conn, err) || c.why() != uncut {
			return conn, err
		}
		at := time.Since(c.gateway.began)
		u, e, _ := c.gateway.pick(c.capability.Upstreams, at, c.endpoint, noProbe)
		if u == nil {
			return conn, err
		}
		if !retries.take(at) {
			c.gateway.metrics.failoversRefused.Inc()
			return conn, err
		}
		t, secret, aimed := c.aim(u)
		if aimed != nil {
			return conn, err
		}
		failed := calls.FailedAttempt{UpstreamID: c.upstreamID(), Status: c.status, Duration: time.Since(c.start), Reason: reasonOf(err)}
		if conn != nil && !c.letGo(conn) {
			return nil, errCut
		}
		c.failedFirst = failed
		c.request.sending = nil
		c.request.stopped.Store(false) // a sender that had to be stopped was reading nothing of the caller
		c.gateway.metrics.failovers.Inc()
		c.redirect(u, e, t, secret)
		c.attempts++
		conn, err = c.forward()
	}
}

// reasonOf is why an attempt failed that another one follows, as it would be told of a call.
func reasonOf(err error) calls.ReasonCode {
	switch {
	case err == nil:
		return calls.UpstreamStatus
	case errors.Is(err, errPoolExhausted):
		return calls.CodeOverloaded
	case timedOut(err):
		return calls.UpstreamTimeout
	}
	return calls.UpstreamUnreachable
}

// refusedUnread tells whether an upstream cannot have acted on the request, and the whole of it can be sent again.
func (c *call) refusedUnread(conn *upstreamConn, err error) bool {
	if err != nil {
		return c.unconnected && !errors.Is(err, errShareExhausted)
	}
	b := &c.request
	return conn != nil && refusesUnread(c.status) && b.atHand && b.size.Load() == int64(len(b.kept))
}

// refusesUnread tells a status that says that the request was not acted on: too many, unavailable, and what proxies in
// front of an origin answer for one that is down (521), that cannot be reached (523) or is overloaded (529). 520, 522 and
// 524 are none: the origin may have had the request.
func refusesUnread(status int) bool {
	switch status {
	case 429, 503, 521, 523, 529:
		return true
	}
	return false
}

// letGo gives up an answer of which nothing was relayed. It reports false when the call was cut.
func (c *call) letGo(conn *upstreamConn) bool {
	sent := c.stopSending(conn, 0)
	uncut := c.leave()
	if uncut && sent && c.answer.Ended() && c.response.KeepAlive && c.answer.Framing().Kind != http1.UntilClose && conn.Buffer().Len() == 0 {
		conn.pool.put(conn, time.Now())
	} else {
		conn.pool.drop(conn)
	}
	c.first, c.status, c.firstByte = http1.Piece{}, 0, -1
	return uncut
}

// redirect makes the head for another upstream out of the one for the last: the caller's own lines are no longer
// where they were read.
func (c *call) redirect(u *access.Upstream, e *endpoint, t *target, secret []byte) {
	c.unprobe()
	last, lastSecret := (*c.out)[:c.headBytes], c.secret
	c.upstream, c.endpoint, c.target, c.secret = u, e, t, secret
	out, parts := takeHead(), c.parts
	next := c.appendStart((*out)[:0], t)
	c.parts.lines = len(next)
	next = append(next, last[parts.lines:parts.credential]...)
	c.parts.credential = len(next)
	next = c.appendCredential(next)
	c.parts.framing = len(next)
	*out = append(next, last[parts.framing:]...)
	giveHead(c.out)
	c.out, c.headBytes, c.former = out, len(*out), lastSecret
}

// note counts an attempt at a named upstream: it was answered, or it failed. What was ours or the caller's doing is
// neither.
func (c *call) note(err error) {
	e, at := c.endpoint, c.start.Add(c.firstByte).Sub(c.gateway.began)
	switch {
	case err == nil && c.status < 500:
		e.answered.Inc()
		e.breaker.count(at, 1, 0)
		if c.probe != 0 {
			e.breaker.close()
			c.unprobe()
		}
	case err == nil:
		c.blame(1, "it answered "+strconv.Itoa(c.status), openFor(&c.response, time.Now()))
	case errors.Is(err, errShareExhausted), errors.Is(err, errPoolExhausted):
	default:
		if why := c.why(); why == uncut || why == tooSlow {
			cause := logged(err)
			if why == tooSlow {
				cause = "it took too long"
			}
			c.blame(1, cause, breakerOpen)
		}
	}
}

// noteCut counts an answer that was counted as one when it began, and did not end.
func (c *call) noteCut() {
	if why := c.why(); why == tooSlow {
		c.blame(0, "it stopped sending", breakerOpen)
	} else if why == uncut {
		c.blame(0, "it closed the connection before its answer ended", breakerOpen)
	}
}

// blame counts a failure, which opens the breaker where there is another upstream.
func (c *call) blame(calls uint64, cause string, length time.Duration) {
	e, now := c.endpoint, time.Now()
	at := now.Sub(c.gateway.began)
	e.failed.Inc()
	e.fault.Store(&upstreamFault{cause: cause, at: now})
	e.breaker.count(at, calls, 1)
	switch {
	case c.probe != 0:
		e.breaker.open(at, length)
		c.unprobe()
	case len(c.capability.Upstreams) > 1 && e.breaker.closed() && e.breaker.failing(at):
		e.breaker.open(at, length)
		c.gateway.logger.Warn("an upstream fails and is left alone", "upstream", e.id, "cause", cause, "for", length)
	}
}

// unprobe lets another call try the upstream that this one was to, and did not.
func (c *call) unprobe() {
	if c.probe != 0 {
		c.endpoint.breaker.giveBack(c.probe)
		c.probe = 0
	}
}
