package meter

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// pattern is the last event that told nothing. Nearly all of a stream's are as it was but for some texts and numbers of no
// interest, and need not be taken apart to know that they tell nothing either.
type pattern struct {
	n     int // bytes of it; 0: there is none
	holes int
	hole  [12]struct{ from, to uint16 } // texts, without their quotes, and numbers, where another one would do
	text  [maxPattern]byte
}

const maxPattern = 512

// passes tells how long the event is that a piece begins with, if it is as the pattern has it but for holes; 0 for any other.
func (m *pattern) passes(p []byte) int {
	at, from, hole := 0, 0, 0 // from: of the pattern
	for m.n > 0 {
		same := common(m.text[from:m.n], p[at:])
		if at, from = at+same, from+same; from == m.n {
			return at
		}
		for hole < m.holes && int(m.hole[hole].to) < from {
			hole++
		}
		if hole == m.holes || int(m.hole[hole].from) > from {
			return 0
		}
		begins, ends := int(m.hole[hole].from), int(m.hole[hole].to)
		at -= from - begins
		if m.text[begins-1] == '"' {
			text := p[at:min(len(p), at+maxPattern)]
			rest, ended, _ := passText(text, false)
			if at += len(text) - len(rest) - 1; !ended || bytes.IndexByte(text[:len(text)-len(rest)], '\n') >= 0 {
				return 0
			}
		} else {
			for at < len(p) && isLiteral[p[at]] {
				at++
			}
		}
		from = ends
		hole++
	}
	return 0
}

// learn reads an event of one line of data, and keeps it as the pattern if it told nothing.
func (m *pattern) learn(event []byte, s *scanner) {
	heard := s.answer.heard
	text := event[len(dataField) : len(event)-len(eventBreak)]
	m.n, m.holes = 0, 0
	s.pattern, s.size = m, len(event)-len(eventBreak)
	s.write(text)
	s.pattern = nil
	if s.answer.heard == heard && s.step == beforeText && len(event) <= maxPattern {
		m.n = copy(m.text[:], event)
	}
	s.eventEnds()
}

// note notes a hole.
func (m *pattern) note(from, to int) {
	if m.holes < len(m.hole) && from > 0 && to < maxPattern {
		m.hole[m.holes].from, m.hole[m.holes].to = uint16(from), uint16(to)
		m.holes++
	}
}

// common is how many bytes of two texts are the same, from their beginning.
func common(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+64 <= n && string(a[i:i+64]) == string(b[i:i+64]); i += 64 {
	}
	for ; i+8 <= n; i += 8 {
		if differ := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); differ != 0 {
			return i + bits.TrailingZeros64(differ)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
