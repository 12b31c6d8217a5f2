package usage

import "bytes"

// The fast path through an event of one line of data, whose object is plain: texts have no escapes, what its root has below is skipped
// unless it is of usage, and white space is one space at most. Whatever is not plain is left to the scanner, and what is read here is what
// that would read.

// readPlain reads such an event, which says what was used at its root, and tells its length; 0 for any other, of which it takes no
// number.
func (s *scanner) readPlain(event []byte) int {
	s.said.said, s.opened = 0, 0
	end := s.plainEvent(event)
	told := s.opened != 0
	s.opened = 0
	if end == 0 || !told || !begins(event[end:], eventBreak) {
		return 0
	}
	s.whole.add(&s.said)
	s.begun = false
	return end + len(eventBreak)
}

// plainEvent takes the object of such an event, and is the position behind it; 0 where it is not plain.
func (s *scanner) plainEvent(event []byte) int {
	at, next := s.behindHead(event), byte(',')
	if at == 0 {
		if !begins(event, dataField) {
			return 0
		}
		at, next = behindSpace(event, len(dataField)), '{'
	}
	if at < len(event) && event[at] == next && begins(event[at+1:], openAILast) {
		if at = s.plainValue(event, at+len(openAILast), inUsage); at == 0 {
			return 0
		}
		next = ','
	}
	return s.plainMembers(event, at, next, root)
}

// readModel reads no more of such an event than its model, where only texts and literals stand before it, and tells whether it did.
func (s *scanner) readModel(event []byte) bool {
	if !begins(event, dataField) {
		return false
	}
	at := behindSpace(event, len(dataField))
	for next := byte('{'); at < len(event) && event[at] == next; next = ',' {
		key, from := plainKey(event, at)
		if from == 0 {
			return false
		}
		if at = textEnd(event, from); at == 0 {
			if at = literalEnd(event, from); at == 0 {
				return false
			}
		} else if isModel(key) && at-from > len(`""`) {
			s.model.set(event[from+1 : at-1])
			s.head.set(event[:from+1])
			return true
		}
	}
	return false
}

// head is what an event had before its model: all of a stream mostly begin with the same, which need not be walked through again.
type head struct {
	n  uint8 // 0: none is kept
	of [127]byte
}

func (h *head) set(p []byte) {
	if len(p) <= len(h.of) {
		h.n = uint8(copy(h.of[:], p))
	}
}

// behindHead is the position behind the model of an event that begins as the one did of which the model is known, 0 for any other.
func (s *scanner) behindHead(event []byte) int {
	head, model := s.head.of[:s.head.n], s.model.bytes()
	at := len(head) + len(model)
	if len(head) == 0 || len(event) <= at || event[at] != '"' ||
		!bytes.Equal(event[:len(head)], head) || !bytes.Equal(event[len(head):at], model) {
		return 0
	}
	return at + 1
}

// plainMembers takes the members of an object, the first of which is behind the byte next, and is the position behind its end; 0 where
// it is not plain.
func (s *scanner) plainMembers(p []byte, at int, next byte, in node) int {
	for ; at < len(p) && p[at] == next; next = ',' {
		key, from := plainKey(p, at)
		if from == 0 {
			return 0
		}
		of, place := child(in, key)
		if of == number {
			v, n := count(p[from:])
			if n == 0 {
				return 0
			}
			s.said.set(place, v)
			at = from + n
		} else if at = s.plainValue(p, from, of); at == 0 {
			return 0
		}
	}
	if at >= len(p) || p[at] != '}' {
		return 0
	}
	return at + 1
}

// plainValue takes a value that is no number of interest, and is the position behind it; 0 where it is not plain.
func (s *scanner) plainValue(p []byte, at int, of node) int {
	if at >= len(p) {
		return 0
	}
	switch b := p[at]; {
	case b == '"':
		end := textEnd(p, at)
		if end > 0 && of == modelName && s.model.n == 0 {
			s.model.set(p[at+1 : end-1])
		}
		return end
	case b != '{' && b != '[':
		return literalEnd(p, at)
	case of == nowhere:
		return containerEnd(p, at)
	case of >= inInputDetails && of <= inBilled:
		return s.plainMembers(p, at, '{', of)
	case of == inUsage && s.opened == 0, of == inGemini && s.opened == 0:
		s.opened = 1
		if n := s.readOpenAI(p[at+1:]); n > 0 {
			return s.plainMembers(p, at+1+n, ',', of)
		}
		return s.plainMembers(p, at, '{', of)
	}
	return 0
}

// plainKey is the key behind the beginning of an object or a comma, and where its value begins, 0 where it is not plain.
func plainKey(p []byte, at int) (key []byte, value int) {
	from := behindSpace(p, at+1)
	end := textEnd(p, from)
	if end == 0 || end == len(p) || p[end] != ':' {
		return nil, 0
	}
	return p[from+1 : end-1], behindSpace(p, end+1)
}

// behindSpace is at, or behind the space that is there.
func behindSpace(p []byte, at int) int {
	if at < len(p) && p[at] == ' ' {
		return at + 1
	}
	return at
}

// textEnd is the position behind a text that begins at a position and is plain, 0 where there is none.
func textEnd(p []byte, at int) int {
	if at >= len(p) || p[at] != '"' {
		return 0
	}
	at++
	n := notPlain(p[at:])
	if n < 0 || p[at+n] != '"' {
		return 0
	}
	return at + n + 1
}

// literalEnd is the position behind a number, null, true or false that begins at a position, 0 where there is none.
func literalEnd(p []byte, at int) int {
	from := at
	for at < len(p) && isLiteral(p[at]) {
		at++
	}
	if at == from {
		return 0
	}
	switch b := p[from]; {
	case b <= '9' && b != '.' && b != '+', b == 'n', b == 't', b == 'f':
		return at
	}
	return 0
}

// containerEnd is the position behind an array or object that begins at a position and ends in its line, 0 where there is none.
func containerEnd(p []byte, at int) int {
	if at+1 < len(p) && p[at+1] == p[at]+2 { // it is empty, as mostly
		return at + 2
	}
	for open := 0; ; {
		n := bracket(p[at:])
		if n < 0 || bytes.IndexByte(p[at:at+n], '\n') >= 0 || bytes.IndexByte(p[at:at+n], '\r') >= 0 {
			return 0
		}
		at += n + 1
		switch p[at-1] {
		case '[', '{':
			open++
		case '"':
			if at = textEnd(p, at-1); at == 0 {
				return 0
			}
		default:
			if open--; open == 0 {
				return at
			}
		}
	}
}
