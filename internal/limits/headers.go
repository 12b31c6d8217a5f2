package limits

import (
	"fmt"
	"strconv"
	"time"
)

// headers is what limits alone decide of their headers: of each limit, what each scope states that sets it, the narrowest
// first.
type headers [numLimits][]stated

// stated is a limit in RateLimit-Policy, and in RateLimit what comes before and after what is left.
type stated struct {
	meter                 *meter
	slots                 *slots // instead of a meter
	policy, before, after string
}

// prefixes are what comes before a limit's name, by scope: an application's have none.
var prefixes = map[Scope]string{ForKey: "key-", ForOwner: "owner-"}

// AppendHeaders adds RateLimit-Policy and RateLimit (the IETF's draft) for a caller that has limits: of each limit the one
// of which least is left, whosever it is. What is left is what this gateway knows of. start is when the call began.
func (l *Limiter) AppendHeaders(out []byte, s *Scopes, start time.Time) []byte {
	if s == nil {
		return out
	}
	now := start.Sub(l.began)
	var tightest [numLimits]*stated
	var left [numLimits]int64
	before := "RateLimit-Policy: "
	for i, of := range s.headers {
		for j := range of {
			if n := of[j].left(); tightest[i] == nil || n < left[i] {
				tightest[i], left[i] = &of[j], n
			}
		}
		if tightest[i] != nil {
			out = append(append(out, before...), tightest[i].policy...)
			before = ", "
		}
	}
	before = "\r\nRateLimit: "
	for i, of := range tightest {
		if of == nil {
			continue
		}
		out = strconv.AppendInt(append(append(out, before...), of.before...), left[i], 10)
		before = ", "
		out = append(out, of.after...)
		if of.meter != nil && of.meter.span == beijingDay {
			out = strconv.AppendInt(out, of.meter.untilMidnight(now), 10)
		}
	}
	return append(out, "\r\n"...)
}

func (s *stated) left() int64 {
	if s.slots != nil {
		return s.slots.left()
	}
	return s.meter.left()
}

// newHeaders renders what the limits of some scopes decide.
func newHeaders(levels []level, p pace) (h headers) {
	for i := range levels {
		of := &levels[i]
		for n, name := range meterNames {
			limit := of.limits.Get(name)
			if limit == 0 {
				continue
			}
			m := of.meter(name)
			one := stated{meter: m, after: ";t="}
			one.name(prefixes[of.Scope]+m.name, fmt.Sprintf("q=%d;w=%d", limit, m.window(p)))
			if m.span != beijingDay { // at the latest all that is counted now has left the window after its length
				one.after += strconv.FormatInt(m.window(p), 10)
			}
			h[n] = append(h[n], one)
		}
		if limit := of.limits.Concurrency; limit > 0 {
			one := stated{slots: &of.slots}
			one.name(prefixes[of.Scope]+"concurrency", fmt.Sprintf(`q=%d;qu="concurrent-requests"`, limit))
			h[len(meterNames)] = append(h[len(meterNames)], one)
		}
	}
	return h
}

func (s *stated) name(name, parameters string) {
	s.policy, s.before = fmt.Sprintf("%q;%s", name, parameters), fmt.Sprintf("%q;r=", name)
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
