package usage

import (
	"bytes"
	"sync"
)

// tail is the beginning of an event of which a piece of the stream did not bring the end. It is kept, where it is short, until
// the event is whole: to see that an event has no word of interest costs far less than reading it. Between events a stream has none.
type tail struct {
	n  int
	of [maxTail]byte
}

// maxTail bounds a tail in bytes: with its length it takes 512.
const maxTail = 504

var tails = sync.Pool{New: func() any { return new(tail) }}

// keep keeps the end of a piece, from where an event begins that has not ended, and tells whether it could. What ends a line is
// read at once: it may end the event, too, where a stream's lines end with carriage returns.
func (e *events) keep(p []byte) bool {
	if len(p) > maxTail || isLineEnd(p[len(p)-1]) {
		return false
	}
	e.tail = tails.Get().(*tail)
	e.tail.n = copy(e.tail.of[:], p)
	return true
}

func isLineEnd(b byte) bool { return b == '\n' || b == '\r' }

// join brings the event that is kept and what the next piece has of it together, and reads it once it is whole, or cannot be
// told to be soon; it gives the rest of the piece.
func (e *events) join(p []byte, s *scanner) (rest []byte) {
	t := e.tail
	more := p[:min(len(p), maxTail-t.n)]
	end := bytes.IndexByte(more, '\n')
	switch {
	case end >= 0 && begins(more[end:], eventBreak):
		end += len(eventBreak)
		n := t.n + copy(t.of[t.n:], more[:end])
		e.tail = nil
		e.write(t.of[:n], s)
		tails.Put(t)
		return p[end:]
	case end < 0 && len(more) == len(p) && !isLineEnd(p[len(p)-1]):
		t.n += copy(t.of[t.n:], p)
		return nil
	}
	e.readTail(s)
	return p
}

// readTail reads what is kept, though its event has not ended.
func (e *events) readTail(s *scanner) {
	t := e.tail
	if t == nil {
		return
	}
	e.tail = nil
	for p := t.of[:t.n]; len(p) > 0; {
		p = e.part(p, s)
	}
	tails.Put(t)
}
