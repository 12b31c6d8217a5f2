package usage

import "bytes"

// events finds the data of the events in a stream (WHATWG HTML, "Server-sent events"). The data of one event is
// one JSON text, in one line or in several.
type events struct {
	line    lineStep
	begun   bool // the event has a line already
	hasText bool // and data
	wasCR   bool // a line feed that follows belongs to the end of the line before
	matched int  // bytes of dataField at the line's beginning
	started bool // the first bytes, which may be a byte order mark, were seen
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
	words := newWords(p)
	for at := 0; at < len(p); {
		if e.line == lineStart && e.matched == 0 && !e.begun && !e.wasCR {
			if next := words.nextToRead(at, s.model.n == 0); next > at {
				e.started = true
				at = next
				continue
			}
		}
		at = len(p) - len(e.part(p[at:], s))
	}
}

// part takes what belongs to one line, or its end.
func (e *events) part(p []byte, s *scanner) (rest []byte) {
	if e.wasCR {
		if e.wasCR = false; p[0] == '\n' {
			return p[1:]
		}
	}
	end, line := bytes.IndexByte(p, '\n'), p
	if end >= 0 {
		line = p[:end]
	}
	if cr := bytes.IndexByte(line, '\r'); cr >= 0 {
		end, line = cr, p[:cr]
	}
	e.take(line, s)
	if end < 0 {
		return nil
	}
	e.wasCR = p[end] == '\r'
	e.endLine(s)
	return p[end+1:]
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
		if e.started, e.begun = true, true; e.matched == len(dataField) {
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
	} else if e.line == lineStart && e.matched == len(dataField)-1 {
		e.hasText = true // "data" alone is a field without a value
	}
	e.line, e.matched = lineStart, 0
}

func (e *events) end(s *scanner) {
	if e.hasText {
		s.eventEnds()
	}
	e.hasText, e.begun = false, false
}
