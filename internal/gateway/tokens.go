package gateway

import (
	"sync"

	"callgate/internal/calls"
	"callgate/internal/http1"
	"callgate/internal/usage"
)

// readers are taken when an answer begins, not with the memory of a call: of most answers nothing is waited for after
// that, so that a few readers, which are in the processor's cache, serve all calls.
var readers = sync.Pool{New: func() any { return new(usage.Reader) }}

func takeReader() *usage.Reader { return readers.Get().(*usage.Reader) }

// counts tells whether the answer is looked at for tokens. What is fetched again with GET was counted when it was
// made.
func (c *call) counts() bool {
	return c.gateway.config.TokenUsage && c.status/100 == 2 && c.method == "POST"
}

// count lets a piece of the answer be read. The caller has it by then.
func (c *call) count(piece http1.Piece) {
	if c.usage != nil {
		c.usage.Write(piece.Bytes())
	}
}

// reserveForUsage takes memory for the decoder of a compressed answer, or gives it back, as for kept bodies.
func (c *call) reserveForUsage(bytes int64) bool {
	return c.gateway.reserve(c.share.holding, bytes) == nil
}

// tokens are what the answer reported; complete says that it ended properly.
func (c *call) tokens(complete bool) calls.Usage {
	if c.usage == nil {
		if c.gateway.config.TokenUsage {
			return calls.Usage{State: calls.UsageNone}
		}
		return calls.Usage{}
	}
	r := c.usage.End(complete)
	c.passed = c.usage.Passed()
	readers.Put(c.usage)
	c.usage = nil
	u := calls.Usage{State: calls.UsageState(r.State), Model: r.Model, Known: calls.UsageFields(r.Known),
		Input: r.Input, Output: r.Output, Cached: r.Cached, CacheWrite: r.CacheWrite, Reasoning: r.Reasoning}
	return u
}

// The two sets of fields are one.
var _ = [1]struct{}{}[usage.Reasoning-usage.Fields(calls.UsageReasoning)]
