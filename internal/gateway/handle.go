package gateway

import (
	"errors"
	"fmt"
	"runtime/debug"

	"callgate/internal/calls"
)

// handle takes a call through every check to the upstream and back; each exit makes one record. It
// reports whether another request may follow on the connection.
func (c *call) handle() (again bool) {
	defer func() {
		if p := recover(); p != nil {
			again = c.panicked(p)
		}
	}()
	switch refused := c.prepare(); {
	case refused == &modelsAsked:
		return c.tellModels()
	case refused == &callAsked:
		return c.answerQuestion(c.callQuestion())
	case refused == &usageAsked:
		return c.answerQuestion(c.usageQuestion())
	case refused != nil:
		return c.refuse(*refused)
	}
	err := c.request.receive(c)
	if err == nil && len(c.capability.Upstreams) > 1 {
		err = c.request.receiveForAnother(c, c.gateway.config.FailoverBodyBytes)
	}
	c.request.atHand = c.request.complete.Load()
	if err != nil || !c.enter(waiting) {
		return c.unreceived(err)
	}
	c.rechoose()
	c.attempts = 1
	conn, err := c.forward()
	if c.endpoint != nil {
		conn, err = c.failOver(conn, err)
	}
	if err != nil {
		return c.failed(err)
	}
	return c.relay(conn)
}

// unreceived ends a call whose request could not be read, or that was cut meanwhile.
func (c *call) unreceived(err error) (again bool) {
	switch why := c.why(); {
	case errors.Is(err, errTooLarge):
		return c.refuse(refusedLarge)
	case errors.Is(err, errChunks):
		return c.refuse(refusedChunks)
	case why == callerSlow, why == uncut && timedOut(err):
		return c.refuse(refusedStalled)
	case why == applicationEnded || why == capabilityEnded:
		return c.refuse(ended[why])
	}
	return c.abandon()
}

// refuse ends the call with an answer of our own. What is small of the body is read first: the
// developer is shown it, and the connection can be used again.
func (c *call) refuse(r refusal) (again bool) {
	if r.status != statusTooLarge && r.status != statusCallerTimeout {
		c.request.finishReading(c)
	}
	whole := c.request.complete.Load()
	again = whole && !c.x.Last()
	out := r.append(nil, answering{id: c.id[:], again: again, old: c.x.Old, head: c.method == "HEAD", cors: c.cors, to: dialectOf(c.path), limits: append(c.appendLimits(nil), c.ignored...)})
	endedBy := r.endedBy
	if endedBy == "" {
		endedBy = calls.Denied
	}
	c.finish(outcome{status: r.status, endedBy: endedBy, kind: r.reason, code: r.reasonCode, message: r.message})
	c.unhurry()
	_, err := c.client.Write(out)
	if err == nil && !whole {
		c.x.Linger()
	}
	return again && err == nil
}

// failed ends a call whose request could not be exchanged for a response head.
func (c *call) failed(err error) (again bool) {
	switch why := c.why(); {
	case why == tooLong || errors.Is(err, errTooLarge):
		return c.refuse(refusedLarge)
	case why == malformed:
		return c.refuse(refusedChunks)
	case why == tooSlow || why == uncut && timedOut(err):
		return c.refuse(refusedTimeout)
	case why == callerSlow:
		return c.refuse(refusedStalled)
	case why == applicationEnded || why == capabilityEnded:
		return c.refuse(ended[why])
	case why != uncut:
		return c.abandon()
	case errors.Is(err, errShareExhausted):
		return c.refuse(refusedShare)
	case errors.Is(err, errPoolExhausted):
		return c.refuse(refusedPool)
	}
	c.gateway.sparse.failures.Say(func(held int64) {
		c.gateway.logger.Info("upstream failed", "call", c.id, "capability", c.capability.ID, "upstream", c.upstreamID(), "cause", logged(err), "held", held)
	})
	switch {
	case http2Only(err):
		return c.refuse(refusedHTTP2)
	case errors.Is(err, errAnswer):
		return c.refuse(refusedAnswer)
	}
	return c.refuse(refusedUnreachable)
}

// abandon ends a call whose caller left before the answer began, or that a shutdown cut: nothing is
// answered, the connection is closed.
func (c *call) abandon() (again bool) {
	c.finish(c.interrupted(true))
	return false
}

// panicked turns a panic into a recorded 500, or, once the answer has begun, into a cut.
func (c *call) panicked(p any) (again bool) {
	c.gateway.logger.Error("panic in a call", "call", c.id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	c.mu.Lock()
	conn, answering, recorded := c.conn, c.phase == relaying, c.recorded
	c.conn = nil
	c.mu.Unlock()
	if conn != nil {
		c.stopSending(conn, 0)
		conn.pool.drop(conn)
	}
	switch {
	case recorded:
		return false
	case answering:
		c.finish(outcome{status: statusIncomplete, endedBy: calls.UpstreamAbort, kind: calls.InternalFault, code: calls.CodeInternal,
			message: refusedInternal.message})
		return false
	}
	return c.refuse(refusedInternal)
}
