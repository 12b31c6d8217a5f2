package usage

import "bytes"

// events finds the data of the events in a stream (WHATWG HTML, "Server-sent events"). The data of one event is
// one JSON text, in one line or in several.
type events struct {
	line    lineStep
	begun   bool  // the event has a line already
	hasText bool  // and data
	wasCR   bool  // a line feed that follows belongs to the end of the line before
	matched uint8 // bytes of dataField at the line's beginning
	started bool  // the first bytes, which may be a byte order mark, were seen
	tail    *tail // nil: no event is kept
}

type lineStep uint8

const (
	lineStart lineStep = iota
	lineData           // behind "data:"
	lineOther
)

const dataField = "data:"

// write hands the data of what one piece brings to s.
func (e *events) write(p []byte, s *scanner) {
	if e.tail != nil && len(p) > 0 {
		p = e.join(p, s)
	}
	words := newWords(p)
	for at := 0; at < len(p); {
		if e.line == lineStart && e.matched == 0 && !e.begun && !e.wasCR {
			if next := words.nextToRead(at, s.model.n == 0); next > at {
				e.started = true
				at = next
				continue
			}
			if at >= len(words.p) {
				if e.keep(p[at:]) {
					return
				}
			} else if s.model.n == 0 && words.foundModel(at) && s.readModel(p[at:]) {
				words.word = -1 // it is looked for no more, but the event may say more
				continue
			} else if n := e.readEvent(p[at:], s); n > 0 {
				e.started = true
				at += n
				continue
			}
		}
		at = len(p) - len(e.part(p[at:], s))
	}
}

// readEvent reads an event that is one line of data and ends in the piece, as mostly; it gives its length, 0 for any other.
func (e *events) readEvent(p []byte, s *scanner) int {
	if n := s.readPlain(p); n > 0 {
		return n
	}
	if !begins(p, dataField) {
		return 0
	}
	end := lineEnd(p)
	if end < 0 || !begins(p[end:], eventBreak) {
		return 0
	}
	s.write(p[len(dataField):end])
	s.eventEnds()
	return end + len(eventBreak)
}

// part takes what belongs to one line, or its end.
func (e *events) part(p []byte, s *scanner) (rest []byte) {
	if e.wasCR {
		if e.wasCR = false; p[0] == '\n' {
			return p[1:]
		}
	}
	end := lineEnd(p)
	if end < 0 {
		e.take(p, s)
		return nil
	}
	e.take(p[:end], s)
	e.wasCR = p[end] == '\r'
	e.endLine(s)
	return p[end+1:]
}

// lineEnd is where the line that p begins with ends, -1 when it does not. It looks no further than 256 bytes or four times the
// line's length: a piece may have but one of the two bytes, and a search for the other would go to its end at each line.
func lineEnd(p []byte) int {
	for seen := 256; ; seen *= 4 {
		part := p[:min(seen, len(p))]
		end := bytes.IndexByte(part, '\n')
		if end >= 0 {
			part = p[:end]
		}
		if cr := bytes.IndexByte(part, '\r'); cr >= 0 {
			return cr
		}
		if end >= 0 || seen >= len(p) {
			return end
		}
	}
}

// take takes bytes of a line.
func (e *events) take(p []byte, s *scanner) {
	for len(p) > 0 && e.line == lineStart {
		switch b := p[0]; {
		case !e.started && isMark(b):
			p = p[1:]
			continue
		case b == dataField[e.matched]:
			e.matched++
			p = p[1:]
		default:
			e.line = lineOther
		}
		if e.started, e.begun = true, true; int(e.matched) == len(dataField) {
			if e.line = lineData; e.hasText {
				s.write([]byte{'\n'})
			}
			e.hasText = true
		}
	}
	if e.line == lineData {
		s.write(p)
	}
}

// isMark tells whether a byte is of the byte order mark that a stream may begin with.
func isMark(b byte) bool { return b == 0xef || b == 0xbb || b == 0xbf }

// endLine ends a line; an empty one ends the event.
func (e *events) endLine(s *scanner) {
	if e.line == lineStart && e.matched == 0 {
		e.end(s)
	} else if e.line == lineStart && int(e.matched) == len(dataField)-1 {
		e.hasText = true // "data" alone is a field without a value
	}
	e.line, e.matched = lineStart, 0
}

// hasLeft tells whether an event has begun that has not ended.
func (e *events) hasLeft() bool { return e.tail != nil || e.hasText }

func (e *events) end(s *scanner) {
	if e.hasText {
		s.eventEnds()
	}
	e.hasText, e.begun = false, false
}
