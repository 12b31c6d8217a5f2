package gateway

import (
	"time"

	"callgate/internal/calls"
)

// outcome is how a call ended, as the record has it.
type outcome struct {
	status  int
	success bool
	endedBy calls.EndedBy
	kind    calls.ReasonType
	code    calls.ReasonCode
	message string // our own sentence for the failure's detail
}

// errorAnswer is what is kept of an upstream's error answer, for the failure's detail. What it is called makes no
// difference: errors in JSON come as text, as events and as nothing at all.
type errorAnswer struct {
	copies   bool
	body     []byte
	encoding string
}

// maxCopied bounds what is copied of an upstream's error answer, in bytes.
const maxCopied = 64 << 10

func (a *errorAnswer) add(piece []byte) {
	if a.copies {
		a.body = append(a.body, piece[:min(len(piece), maxCopied-len(a.body))]...)
	}
}

// completed is the outcome of an answer that ended completely.
func (c *call) completed() outcome {
	if c.status/100 == 2 {
		return outcome{status: c.status, success: true, endedBy: calls.Complete}
	}
	return outcome{status: c.status, endedBy: calls.Complete, kind: calls.UpstreamHTTPError, code: calls.UpstreamStatus}
}

// statusIncomplete is recorded when a response did not end completely.
const statusIncomplete = 499

// interrupted is the outcome of an answer that did not end completely, or never began because of
// the caller or a shutdown.
func (c *call) interrupted(byClient bool) outcome {
	o := outcome{status: statusIncomplete, kind: calls.Interrupted}
	switch why := c.why(); {
	case why == tooSlow:
		o.endedBy, o.kind, o.code = calls.TimedOut, calls.Timeout, calls.UpstreamTimeout
		o.message = "The upstream stopped sending, or the call took longer than allowed."
	case why == callerSlow:
		o.endedBy, o.kind, o.code = calls.TimedOut, calls.Timeout, calls.CallerTimeout
		o.message = "The caller stopped reading the response, or sending its request, for longer than allowed."
	case why == shuttingDown:
		o.endedBy, o.code = calls.Shutdown, calls.CodeShutdown
		o.message = "The gateway was shut down before the response ended."
	case why == applicationEnded || why == capabilityEnded:
		o.endedBy, o.code, o.message = calls.Revoked, ended[why].reasonCode, ended[why].message
	case why != uncut || byClient:
		o.endedBy, o.code = calls.ClientAbort, calls.ClientClosed
		o.message = "The caller closed the connection before the response ended."
	default:
		o.endedBy, o.code = calls.UpstreamAbort, calls.UpstreamClosed
		o.message = "The upstream closed the connection before the response ended."
	}
	return o
}

// finish ends the call and hands over its one record; only the first call of it counts. The order is on purpose: from where
// recorded is set nobody cuts the call any more; what it used is told to the limits before the record is made, which keeps
// what they charged, and what it cost to the budgets before the spool has it; trace, log and detail read the body, so it is released after them; and places in pools and shares are
// given back before the record is handed over, so that nobody waits for them longer than for the answer. It leaves the
// supervisor last: a shutdown waits until no call is left there.
func (c *call) finish(o outcome) {
	c.mu.Lock()
	if c.recorded {
		c.mu.Unlock()
		return
	}
	c.ended, c.recorded = true, true
	c.mu.Unlock()
	defer c.gateway.supervisor.remove(c)
	c.endProbe()
	duration := time.Since(c.start)
	used := c.used(o.success)
	record := calls.TakeRecord()
	*record = calls.Record{
		ApplicationID: c.grant.ApplicationID,
		UserID:        c.grant.OwnerID,
		KeyID:         c.grant.KeyID,
		CallID:        c.id,
		Start:         c.start,
		Duration:      duration,
		StatusCode:    o.status,
		Success:       o.success,
		Streamed:      c.streamed,
		FirstByte:     c.firstByte,
		EndedBy:       o.endedBy,
		ReasonType:    o.kind,
		ReasonCode:    o.code,
		UpstreamCode:  c.status,
		RequestBytes:  c.request.size.Load(),
		ResponseBytes: c.responseBytes,
		Usage:         tokensOf(&used),
		Lines:         linesOf(&used),
		AnswerID:      used.AnswerID,
		Charged:       chargedOf(&used),
		Attempts:      c.attempts,
		FailedAttempt: c.failedFirst,
		Tags:          c.tags,
		EndUser:       c.endUser,
	}
	if c.attempts > 0 {
		record.UpstreamID = c.upstreamID()
	}
	record.Estimated = c.endLimits(&record.Usage, &o)
	if c.capability != nil {
		record.Model = c.capability.ID
	}
	c.chargeBudgets(record)
	record.Trace = c.trace.Trace
	if c.trace.Sampled() {
		c.gateway.config.Traces.End(c.trace, record, c.method, c.path)
	}
	if !o.success {
		record.Unredacted = c.unredacted(o)
	}
	c.gateway.config.Log.Add(record)
	c.gateway.metrics.ended(record)
	c.request.release(c.gateway)
	_ = c.takePlace(nil)
	c.share.leave()
	c.gateway.config.Record(record)
}

// unredacted is what the detail of a failed call is made of, after the call and beside it. The kept
// bodies are handed over.
func (c *call) unredacted(o outcome) *calls.FailureInput {
	input := &calls.FailureInput{
		Message:     o.message,
		Method:      c.method,
		Path:        string(c.path),
		RawQuery:    c.asked(),
		Body:        c.request.detail(),
		BodyBytes:   c.request.size.Load(),
		FullyRead:   c.request.complete.Load() && o.code != calls.RequestTooLarge, // nobody looks at the rest
		ContentType: string(c.contentType),
	}
	input.Secrets, input.Hosts = c.secrets()
	c.request.kept = nil
	if o.code == calls.UpstreamStatus {
		input.UpstreamBody = c.errorAnswer.body
		input.UpstreamEncoding = c.errorAnswer.encoding
	}
	return input
}

// secrets are the exact values that must not be shown to a developer, and the hosts that may be spelled in more
// than one way.
func (c *call) secrets() (secrets, hosts []string) {
	secrets = []string{string(c.key)}
	for _, key := range [...][]byte{c.secret, c.former} {
		if len(key) > 0 {
			secrets = append(secrets, string(key))
		}
	}
	if c.capability == nil {
		return secrets, nil
	}
	address := func(base string) {
		if t, err := c.gateway.upstreams.target(base); err == nil {
			secrets, hosts = append(secrets, base, t.host), append(hosts, t.name)
		} else if base != "" {
			secrets = append(secrets, base)
		}
	}
	address(c.capability.UpstreamBaseURL)
	for _, m := range c.capability.Upstreams {
		address(m.BaseURL)
	}
	return secrets, hosts
}
