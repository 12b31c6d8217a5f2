package gateway

import (
	"sync"

	"callgate/internal/calls"
	"callgate/internal/http1"
	"callgate/internal/meter"
)

// readers are taken when an answer begins, not with the memory of a call: of most answers nothing is waited for after
// that, so that a few readers, which are in the processor's cache, serve all calls.
var readers = sync.Pool{New: func() any { return new(meter.Reader) }}

func takeReader() *meter.Reader { return readers.Get().(*meter.Reader) }

// counts tells whether the answer is looked at for what was used. What is fetched again with GET was counted when it was
// made.
func (c *call) counts() bool {
	return c.gateway.config.TokenUsage && c.status/100 == 2 && c.method == "POST"
}

// count lets a piece of the answer be read. The caller has it by then.
func (c *call) count(piece http1.Piece) {
	if c.meter != nil {
		c.meter.Write(piece.Bytes())
	}
}

// reserveForUsage takes memory for the decoder of a compressed answer, or gives it back, as for kept bodies.
func (c *call) reserveForUsage(bytes int64) bool {
	return c.gateway.reserve(c.share.holding, bytes) == nil
}

// used is what the answer reported; complete says that it ended properly.
func (c *call) used(complete bool) meter.Report {
	if c.meter == nil {
		if c.gateway.config.TokenUsage {
			return meter.Report{State: meter.None}
		}
		return meter.Report{}
	}
	r := c.meter.End(complete)
	c.passed = c.meter.Passed()
	c.streamed = c.streamed || c.meter.IsStream()
	readers.Put(c.meter)
	c.meter = nil
	return r
}

// tokensOf are the five numbers that the record of a call has, summed over the models that it used. The first of them is
// the one that answered.
func tokensOf(r *meter.Report) calls.Usage {
	u := calls.Usage{State: calls.UsageState(r.State), Model: r.Model()}
	sum := r.Sum()
	for is, field := range [...]calls.UsageFields{meter.Input: calls.UsageInput, meter.Output: calls.UsageOutput,
		meter.CachedInput: calls.UsageCached, meter.CacheWrite: calls.UsageCacheWrite, meter.Reasoning: calls.UsageReasoning} {
		if n, known := sum.Count(meter.Meter(is)); known {
			u.Set(field, n)
		}
	}
	return u
}

func chargedOf(r *meter.Report) calls.Charge {
	return calls.Charge{Amount: r.ReportedCost, Currency: r.Currency}
}

// linesOf are the lines that the record of a call has: mostly none, for its five numbers say all, which KeptLines tells.
func linesOf(r *meter.Report) []calls.Line {
	lines := make([]calls.Line, len(r.Lines))
	for i := range r.Lines {
		of := &r.Lines[i]
		lines[i] = calls.Line{Model: of.Model, Tier: of.Tier}
		for m := range meter.Meter(meter.NumMeters) {
			if n, _ := of.Count(m); n != 0 {
				lines[i].Meters = append(lines[i].Meters, calls.Meter{Name: m.String(), Amount: uint64(n)})
			}
		}
	}
	return calls.KeptLines(lines, chargedOf(r))
}
