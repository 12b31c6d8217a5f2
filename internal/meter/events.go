package meter

import "bytes"

// events finds the data of the events in a stream (WHATWG HTML, "Server-sent events"). The data of one event is
// one JSON text, in one line or in several.
type events struct {
	line    lineStep
	hasText bool  // the event has data
	wasCR   bool  // a line feed that follows belongs to the end of the line before
	matched uint8 // bytes of dataField at the line's beginning
}

type lineStep uint8

const (
	lineStart lineStep = iota
	lineData           // behind "data:"
	lineOther
)

const dataField = "data:"

var eventBreak = []byte("\n\n")

func (e *events) reset() {
	e.line, e.hasText, e.wasCR, e.matched = lineStart, false, false, 0
}

// write hands the data of what one piece brings to s.
func (e *events) write(p []byte, s *scanner) {
	for len(p) > 0 {
		if e.wasCR {
			if e.wasCR = false; p[0] == '\n' {
				p = p[1:]
				continue
			}
		}
		end := lineEnd(p)
		if end < 0 {
			e.take(p, s)
			return
		}
		isEvent := e.line == lineStart && e.matched == 0 && !e.hasText && bytes.HasPrefix(p, []byte(dataField)) && bytes.HasPrefix(p[end:], eventBreak)
		if isEvent && !s.answer.mayTell(p[:end]) {
			p = p[end+len(eventBreak):]
			continue
		}
		e.take(p[:end], s)
		e.wasCR = p[end] == '\r'
		e.endLine(s)
		p = p[end+1:]
	}
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
		if p[0] != dataField[e.matched] {
			e.line = lineOther
			break
		}
		p = p[1:]
		if e.matched++; int(e.matched) == len(dataField) {
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

// endLine ends a line; an empty one ends the event.
func (e *events) endLine(s *scanner) {
	if e.line == lineStart && e.matched == 0 {
		e.end(s)
	} else if e.line == lineStart && int(e.matched) == len(dataField)-1 {
		e.hasText = true // "data" alone is a field without a value
	}
	e.line, e.matched = lineStart, 0
}

func (e *events) end(s *scanner) {
	if e.hasText {
		s.eventEnds()
	}
	e.hasText = false
}
