package limits

import (
	"strconv"
	"time"
)

// AppendHeaders adds RateLimit-Policy and RateLimit (the IETF's draft) for an application that has limits. What is left
// is what this gateway knows of. start is when the call began.
func (l *Limiter) AppendHeaders(out []byte, s *State, start time.Time) []byte {
	if s == nil || !s.limited {
		return out
	}
	now, begun := start.Sub(l.began), false
	name := func(name string, meterName string) {
		if begun {
			out = append(out, ", "...)
		} else {
			out = append(append(out, name...), ": "...)
		}
		out, begun = append(append(append(out, '"'), meterName...), '"'), true
	}
	for m := range s.meters {
		name("RateLimit-Policy", m.name)
		out = strconv.AppendInt(append(out, ";q="...), m.limit.Load(), 10)
		out = strconv.AppendInt(append(out, ";w="...), m.window(l.pace), 10)
	}
	concurrency := s.slots.limit.Load()
	if concurrency > 0 {
		name("RateLimit-Policy", "concurrency")
		out = append(strconv.AppendInt(append(out, ";q="...), concurrency, 10), `;qu="concurrent-requests"`...)
	}
	if !begun {
		return out
	}
	out, begun = append(out, "\r\n"...), false
	for m := range s.meters {
		name("RateLimit", m.name)
		out = strconv.AppendInt(append(out, ";r="...), m.left(now), 10)
		out = strconv.AppendInt(append(out, ";t="...), m.resets(now, l.pace), 10)
	}
	if concurrency > 0 {
		name("RateLimit", "concurrency")
		out = strconv.AppendInt(append(out, ";r="...), s.slots.left(), 10)
	}
	return append(out, "\r\n"...)
}

// window is the length of what is counted, in seconds.
func (m *meter) window(p pace) int64 {
	if m.span == beijingDay {
		return beijingDay.unit / 1000
	}
	return int64(p.window.Seconds())
}

// resets is when at the latest all that is counted now is counted no more, in seconds.
func (m *meter) resets(now time.Duration, p pace) int64 {
	if m.span == beijingDay {
		ms := m.ms(now)
		return (m.span.leaves(m.span.bucket(ms)) - ms + 999) / 1000
	}
	return m.window(p)
}

// left is what may still be spent as far as is known: what nobody has leased, and the rest of the own lease.
func (m *meter) left(now time.Duration) int64 {
	left := max(0, m.limit.Load()-m.seen.Load())
	if l := m.lease.Load(); l != nil && now < l.until {
		left += max(0, l.left.Load())
	}
	return left
}

func (s *slots) left() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.limit.Load()-s.others-s.held+s.free.Load())
}
