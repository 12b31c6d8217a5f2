package limits

import (
	"fmt"
	"strconv"
	"time"
)

// headers is what limits alone decide of their headers.
type headers struct {
	policy []byte // RateLimit-Policy, and the name of RateLimit; empty without limits
	stated []stated
}

// stated is one limit in RateLimit: what comes before and after what is left.
type stated struct {
	meter         *meter
	slots         *slots // instead of a meter
	before, after []byte
}

// AppendHeaders adds RateLimit-Policy and RateLimit (the IETF's draft) for an application that has limits. What is left
// is what this gateway knows of. start is when the call began.
func (l *Limiter) AppendHeaders(out []byte, s *State, start time.Time) []byte {
	if s == nil || !s.limited {
		return out
	}
	h, now := s.headers.Load(), start.Sub(l.began)
	if len(h.policy) == 0 {
		return out
	}
	out = append(out, h.policy...)
	for i := range h.stated {
		m := &h.stated[i]
		if m.slots != nil {
			out = strconv.AppendInt(append(out, m.before...), m.slots.left(), 10)
			continue
		}
		out = strconv.AppendInt(append(out, m.before...), m.meter.left(), 10)
		out = append(out, m.after...)
		if m.meter.span == beijingDay {
			out = strconv.AppendInt(out, m.meter.untilMidnight(now), 10)
		}
	}
	return append(out, "\r\n"...)
}

// newHeaders renders what the limits of a state decide, and what its owner's ceiling does.
func (s *State) newHeaders(p pace) *headers {
	h := new(headers)
	h.state(s, allLimits, "", p)
	if owner := s.owner.Load(); owner != nil {
		h.state(owner.State, owner.limits, "owner-", p)
	}
	if len(h.policy) > 0 {
		h.policy = fmt.Appendf(nil, "RateLimit-Policy: %s\r\nRateLimit: ", h.policy)
	}
	return h
}

// state adds those limits of a state that concern its calls.
func (h *headers) state(s *State, concern Limits, prefix string, p pace) {
	separator := func() string {
		if len(h.policy) > 0 {
			return ", "
		}
		return ""
	}
	for m := range s.meters {
		if !s.concerns(m, concern) {
			continue
		}
		name := prefix + m.name
		before := fmt.Appendf(nil, "%s%q;r=", separator(), name)
		h.policy = fmt.Appendf(h.policy, "%s%q;q=%d;w=%d", separator(), name, m.limit.Load(), m.window(p))
		after := ";t="
		if m.span != beijingDay { // at the latest all that is counted now has left the window after its length
			after += strconv.FormatInt(m.window(p), 10)
		}
		h.stated = append(h.stated, stated{meter: m, before: before, after: []byte(after)})
	}
	if concurrency := s.slots.limit.Load(); concurrency > 0 && concern.Concurrency != 0 {
		h.stated = append(h.stated, stated{slots: &s.slots, before: fmt.Appendf(nil, `%s"%sconcurrency";r=`, separator(), prefix)})
		h.policy = fmt.Appendf(h.policy, `%s"%sconcurrency";q=%d;qu="concurrent-requests"`, separator(), prefix, concurrency)
	}
}

// concerns tells whether a meter is of a limit that is set.
func (s *State) concerns(m *meter, set Limits) bool {
	switch m {
	case s.requests:
		return set.RequestsPerMinute != 0
	case s.tokens:
		return set.TokensPerMinute != 0
	case s.calls:
		return set.CallsPerDay != 0
	default:
		return set.TokensPerDay != 0
	}
}

// window is the length of what is counted, in seconds.
func (m *meter) window(p pace) int64 {
	if m.span == beijingDay {
		return beijingDay.unit / 1000
	}
	return int64(p.window.Seconds())
}

// untilMidnight is how long the Beijing day lasts by the count's clock, in seconds.
func (m *meter) untilMidnight(now time.Duration) int64 {
	ms := m.ms(now)
	return (m.span.leaves(m.span.bucket(ms)) - ms + 999) / 1000
}

// left is what may still be used as far as is known: the limit without what was used.
func (m *meter) left() int64 {
	left := m.limit.Load() - m.seen.Load()
	if l := m.lease.Load(); l != nil {
		left += max(0, l.left.Load())
	}
	return min(max(0, left), m.limit.Load())
}

// left is how many more calls may be in flight, as far as is known.
func (s *slots) left() int64 { return max(0, s.limit.Load()-s.used.Load()-s.inFlight()) }
