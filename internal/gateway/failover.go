package gateway

import (
	"errors"
	"strconv"
	"time"

	"callgate/internal/calls"
	"callgate/internal/http1"
)

// maxAttempts of a call are made, at different upstreams.
const maxAttempts = 2

// failOver counts what came of an attempt at a named upstream, and makes another at another one while the call is sure not
// to be acted on twice: nothing was answered to the caller, and the request went nowhere or was refused.
func (c *call) failOver(conn *upstreamConn, err error) (*upstreamConn, error) {
	if len(c.capability.Upstreams) < 2 {
		c.countAttempt(err)
		return conn, err
	}
	retries := c.gateway.budgets.of(c.capability.ID)
	retries.call()
	for {
		c.countAttempt(err)
		if c.attempts >= maxAttempts || !c.mayRepeat(conn, err) || c.why() != uncut {
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
		t, secret, unresolved := c.resolve(u)
		if unresolved != nil {
			return conn, err
		}
		failed := calls.FailedAttempt{UpstreamID: c.upstreamID(), Status: c.status, Duration: time.Since(c.start), Reason: reasonOf(err)}
		if conn != nil && !c.giveUp(conn) {
			return nil, errCut
		}
		c.failedFirst = failed
		c.request.sending = nil
		c.request.stopped.Store(false) // a sender that had to be stopped was reading nothing of the caller
		c.gateway.metrics.failovers.Inc()
		c.turnTo(attempt{upstream: u, endpoint: e, target: t, secret: secret})
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

// mayRepeat tells whether an upstream cannot have acted on the request, and the whole of it can be sent again.
func (c *call) mayRepeat(conn *upstreamConn, err error) bool {
	if err != nil {
		return c.unconnected && !errors.Is(err, errShareExhausted)
	}
	b := &c.request
	return conn != nil && notActedOn(c.status) && b.atHand && b.size.Load() == int64(len(b.kept))
}

// notActedOn tells a status that says that the request was not acted on: too many, unavailable, and what proxies in
// front of an origin answer for one that is down (521), that cannot be reached (523) or is overloaded (529). 520, 522 and
// 524 are none: the origin may have had the request.
func notActedOn(status int) bool {
	switch status {
	case 429, 503, 521, 523, 529:
		return true
	}
	return false
}

// giveUp ends an attempt of whose answer nothing was relayed. It reports false when the call was cut: there is no answer then.
func (c *call) giveUp(conn *upstreamConn) bool {
	sent := c.stopSending(conn, 0)
	uncut := c.leave()
	c.putBack(conn, uncut && sent && c.answer.Ended())
	if !uncut {
		c.first, c.status, c.firstByte = http1.Piece{}, 0, -1
	}
	return uncut
}

// turnTo makes an attempt the one to be made, its head out of that for the last: the caller's own lines are no longer where
// they were read.
func (c *call) turnTo(next attempt) {
	c.endProbe()
	last := c.attempt
	next.firstByte = -1
	c.attempt, c.former = next, last.secret
	head := (*last.out)[:last.headBytes]
	c.out = takeHead()
	out := c.appendStart((*c.out)[:0], c.target)
	c.parts.lines = len(out)
	out = append(out, head[last.parts.lines:last.parts.credential]...)
	c.parts.credential = len(out)
	out = c.appendCredential(out)
	c.parts.framing = len(out)
	*c.out = append(out, head[last.parts.framing:]...)
	c.headBytes = len(*c.out)
	giveHead(last.out)
}

// countAttempt counts an attempt at a named upstream: it was answered, or it failed. What was ours or the caller's doing is
// neither.
func (c *call) countAttempt(err error) {
	e, at := c.endpoint, c.start.Add(c.firstByte).Sub(c.gateway.began)
	switch {
	case err == nil && c.status < 500:
		e.answered.Inc()
		e.breaker.count(at, 1, 0)
		if c.probe != 0 {
			e.breaker.close()
			c.endProbe()
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

// countCut counts an answer that was counted as one when it began, and did not end.
func (c *call) countCut() {
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
		c.endProbe()
	case len(c.capability.Upstreams) > 1 && e.breaker.closed() && e.breaker.failing(at):
		e.breaker.open(at, length)
		c.gateway.logger.Warn("an upstream fails and is left alone", "upstream", e.id, "cause", cause, "for", length)
	}
}

// endProbe lets another call try the upstream that this one was to, and did not.
func (c *call) endProbe() {
	if c.probe != 0 {
		c.endpoint.breaker.giveBack(c.probe)
		c.probe = 0
	}
}
