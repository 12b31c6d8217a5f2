package gateway

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"callgate/internal/calls"
	"callgate/internal/limits"
)

// findLimits finds out what limits hold for the call: its key's, its application's and its owner's.
func (c *call) findLimits() {
	if l := c.gateway.config.Limits; l != nil {
		before := c.share.limited.Load()
		state, scopes := l.Of(before, limits.Caller{Key: c.grant.KeyID, Application: c.grant.ApplicationID, Owner: c.grant.OwnerID})
		if c.limits = scopes; state != before {
			c.share.limited.Store(state)
		}
	}
}

// takeLimits takes of its limits what the call needs, or refuses it.
func (c *call) takeLimits() *refusal {
	if c.limits == nil {
		return nil
	}
	ticket, reached := c.gateway.config.Limits.Admit(c.limits, c.start)
	if reached != nil {
		return refusedLimit(reached)
	}
	c.ticket = ticket
	return nil
}

// endLimits ends what takeLimits took. A call that failed has used no tokens. It gives how many were counted beyond what
// the answer told, where that is not all.
func (c *call) endLimits(u *calls.Usage, o *outcome) (estimated uint32) {
	if c.limits == nil {
		return 0
	}
	input, _ := u.Number(calls.UsageInput)
	output, _ := u.Number(calls.UsageOutput)
	told := int64(input) + int64(output)
	all := c.toldAll(u, o)
	tokens := told
	if !all {
		tokens = c.seenTokens(u)
	}
	counted := c.gateway.config.Limits.End(c.ticket, tokens, all)
	c.ticket = limits.Ticket{}
	return uint32(min(max(0, counted-told), math.MaxUint32))
}

// appendLimits tells the caller what is left to it of its limits.
func (c *call) appendLimits(out []byte) []byte {
	if c.limits == nil {
		return out
	}
	return c.gateway.config.Limits.AppendHeaders(out, c.limits, c.start)
}

// longestWait is the most that a Retry-After of ours asks for. A caller that slept for a minute of many hours, and
// then again, would only hang and be refused more often.
const longestWait = time.Minute

// refusedLimit says which limit is reached, whose it is, and when to come again.
func refusedLimit(reached *limits.Reached) *refusal {
	seconds := int64((min(reached.RetryAfter, longestWait) + time.Second - 1) / time.Second)
	again := fmt.Sprintf("Try again in %d s.", seconds)
	r := refusal{status: 429, code: reached.Code, kind: "rate_limit_error", wait: reached.RetryAfter, reason: calls.Limited, reasonCode: calls.ReasonCode(reached.Code)}
	if reached.Code != limits.QuotaExhausted || reached.RetryAfter <= longestWait {
		r.retryAfter = strconv.FormatInt(seconds, 10)
	}
	may, has := whose(reached)
	switch reached.Limit {
	case limits.RequestsPerMinute:
		r.message = fmt.Sprintf("%s make %d calls a minute, and %s. %s", may, reached.Value, has, again)
	case limits.TokensPerMinute:
		r.message = fmt.Sprintf("%s use %d tokens a minute, and %s. %s", may, reached.Value, has, again)
	case limits.CallsPerDay:
		r.message = fmt.Sprintf("%s make %d calls a day, and %s. The day ends at midnight in Beijing.", may, reached.Value, has)
	case limits.TokensPerDay:
		r.message = fmt.Sprintf("%s use %d tokens a day, and %s. The day ends at midnight in Beijing.", may, reached.Value, has)
	default:
		r.message = fmt.Sprintf("%s have %d calls in flight, and %s. Try again when one of them has ended.", may, reached.Value, has)
	}
	return &r
}

// whose begins and continues the sentence about a limit: who may use so much, and has.
func whose(reached *limits.Reached) (may, has string) {
	switch reached.Scope {
	case limits.ForKey:
		if reached.KeyName == "" {
			return "The application's first key may, by its own limit,", "has"
		}
		return "The application's key “" + reached.KeyName + "” may, by its own limit,", "has"
	case limits.ForOwner:
		return "All applications of the owner together may, by an administrator's ceiling for the owner,", "have"
	case limits.ForAll:
		return "Every application may, by an administrator's ceiling for all,", "this one has"
	}
	return "The application may", "has"
}
