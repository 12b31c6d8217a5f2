package meter

import "bytes"

// step is what a scanner expects next.
type step uint8

const (
	beforeText step = iota // a JSON text, or more of the array of them
	firstKey               // of an object, or its end
	nextKey
	firstMember // of an array, or its end
	colon
	value
	afterValue
	inKey
	inName    // a text that is kept
	inText    // one that is not
	inWrapped // a text that is one of JSON, in Base64
	inNumber  // that is kept
	inOther   // a literal, or a number that is not kept
	inside    // an array or object of no interest
	insideIn  // a string in it
	broken    // what came is no JSON
)

// isBetween tells whether a byte that is no white space begins or ends something.
func (s step) isBetween() bool { return s <= afterValue }

// maxDepth is how many containers the longest path of the table passes, and one more.
const maxDepth = 12

// scanner walks through JSON texts that come in pieces, and tells its answer what stands at the places of the table. What
// no place leads to is passed over without being checked.
type scanner struct {
	answer  *answer
	step    step
	escaped bool
	listed  bool // the texts stand in an array
	depth   uint8
	arrays  uint16          // which of path are arrays
	path    [maxDepth]int16 // nodes of containers that are open, the innermost last; those of the members of arrays
	outside int             // brackets open inside a value of no interest
	next    int16           // node of the value to come
	text    shortText
	wrapped *wrapped // made where it is needed
	isInner bool     // it reads a text that is wrapped, in which none is
}

func (s *scanner) reset(a *answer) {
	s.answer, s.step, s.escaped, s.listed, s.depth, s.arrays = a, beforeText, false, false, 0, 0
}

// write takes the next piece.
func (s *scanner) write(p []byte) {
	for len(p) > 0 {
		switch s.step {
		case inside:
			p = s.passOver(p)
		case inText, insideIn:
			p = s.readText(p)
		case inKey:
			p = s.readKey(p)
		case inName:
			var text []byte
			var ended bool
			if p, text, ended = s.text.read(p); ended {
				s.answer.name(&nodes[s.next], text)
				s.valueEnds()
			}
		case inWrapped:
			p = s.readWrapped(p)
		case inNumber, inOther:
			p = s.readLiteral(p)
		case broken:
			return
		default:
			p = s.between(p)
		}
	}
}

// between takes bytes between values until one begins.
func (s *scanner) between(p []byte) (rest []byte) {
	for i, b := range p {
		switch b {
		case ' ', '\n', '\r', '\t':
			continue
		case ':':
			if s.step == colon {
				s.step = value
				continue
			}
		case ',':
			if s.step == afterValue {
				if s.step = nextKey; s.inArray() {
					s.step, s.next = value, s.path[s.depth]
				}
				continue
			}
		case '"':
			if s.step == nextKey || s.step == firstKey {
				s.step = inKey
				s.text.reset()
				return s.readKey(p[i+1:])
			}
		}
		if s.structure(b); !s.step.isBetween() {
			return p[i+1:]
		}
	}
	return nil
}

func (s *scanner) inArray() bool { return s.arrays&(1<<s.depth) != 0 }

// structure takes a byte that begins or ends a value, or does not belong there.
func (s *scanner) structure(b byte) {
	switch {
	case s.step == value:
		s.begin(b)
	case b == '}' && (s.step == firstKey || s.step == afterValue && !s.inArray()), b == ']' && (s.step == firstMember || s.step == afterValue && s.inArray()):
		s.close()
	case s.step == firstMember:
		s.next = s.path[s.depth]
		s.begin(b)
	case s.step == beforeText && b == '[' && !s.listed && s.answer.form == anywhere:
		s.listed = true
	case s.step == beforeText && (s.listed && (b == ',' || b == ']') || b == 0x1e): // the separator of application/json-seq
	case s.step == beforeText:
		s.next = root
		s.begin(b)
	default:
		s.step = broken
	}
}

// begin takes the first byte of a value.
func (s *scanner) begin(b byte) {
	n := &nodes[s.next]
	switch {
	case b == '{' && len(n.keys) > 0 && s.answer.opens(n, s.depth+1):
		s.open(s.next, false)
		s.step = firstKey
	case b == '[' && n.member != 0:
		s.open(n.member, true)
		s.step = firstMember
	case b == '{' || b == '[':
		s.answer.mistaken(n)
		s.step, s.outside = inside, 1
	case b == '"' && n.is == wrappedText && s.answer.form == inFrames && !s.isInner:
		if s.wrapped == nil {
			s.wrapped = new(wrapped)
		}
		s.wrapped.reset(s.answer)
		s.step = inWrapped
	case b == '"' && n.isName():
		s.step = inName
		s.text.reset()
	case b == '"':
		s.answer.mistaken(n)
		s.step, s.escaped = inText, false
	case b == '-' || b >= '0' && b <= '9':
		if s.step = inOther; n.isNumber() {
			s.step = inNumber
			s.text.reset()
			s.text.add([]byte{b})
		}
	case b == 'n' || b == 't' || b == 'f':
		if b != 'n' {
			s.answer.mistaken(n)
		}
		s.step = inOther
	default:
		s.step = broken
	}
}

func (s *scanner) open(n int16, array bool) {
	s.depth++
	s.path[s.depth] = n
	s.arrays &^= 1 << s.depth
	if array {
		s.arrays |= 1 << s.depth
	}
}

func (s *scanner) close() {
	if !s.inArray() {
		s.answer.closes(&nodes[s.path[s.depth]], s.depth)
	}
	s.depth--
	s.valueEnds()
	if s.depth == 0 {
		s.answer.textEnds()
	}
}

func (s *scanner) valueEnds() {
	if s.step = afterValue; s.depth == 0 {
		s.step = beforeText
	}
}

// readKey reads a key to its end, and what follows as far as its value is of no interest and came with it: as mostly.
func (s *scanner) readKey(p []byte) (rest []byte) {
	for {
		rest, key, ended := s.text.read(p)
		if !ended {
			return rest
		}
		s.next, s.step = nodes[s.path[s.depth]].child(key), colon
		if len(rest) < 2 || rest[0] != ':' || rest[1] <= ' ' {
			return rest
		}
		s.begin(rest[1])
		if rest = rest[2:]; s.next != 0 || s.step != inText && s.step != inOther {
			return rest
		}
		if s.step == inText {
			rest = s.readText(rest)
		} else {
			rest = s.readLiteral(rest)
		}
		if s.step != afterValue || len(rest) < 2 || rest[0] != ',' || rest[1] != '"' {
			return rest
		}
		p = rest[2:]
		s.step = inKey
		s.text.reset()
	}
}

// readText passes over a string that is not kept.
func (s *scanner) readText(p []byte) (rest []byte) {
	rest, ended, escapes := passText(p, s.escaped)
	if s.escaped = escapes; !ended {
		return nil
	}
	if s.step == insideIn {
		s.step = inside
	} else {
		s.valueEnds()
	}
	return rest
}

// readLiteral reads a number, true, false or null to its end.
func (s *scanner) readLiteral(p []byte) (rest []byte) {
	n := 0
	for n < len(p) && isLiteral[p[n]] {
		n++
	}
	if s.step == inNumber {
		s.text.add(p[:n])
	}
	if n == len(p) {
		return nil
	}
	if s.step == inNumber {
		s.answer.number(&nodes[s.next], s.text.bytes())
	}
	s.valueEnds()
	return p[n:]
}

// readWrapped reads a text that is wrapped to its end.
func (s *scanner) readWrapped(p []byte) (rest []byte) {
	end := bytes.IndexByte(p, '"')
	if end < 0 {
		s.wrapped.write(p)
		return nil
	}
	s.wrapped.write(p[:end])
	s.wrapped.scanner.eventEnds()
	s.valueEnds()
	return p[end+1:]
}

// passOver takes what a piece brings of a value of no interest.
func (s *scanner) passOver(p []byte) (rest []byte) {
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '[', '{':
			s.outside++
		case ']', '}':
			if s.outside--; s.outside == 0 {
				s.valueEnds()
				return p[i+1:]
			}
		case '"':
			end := bytes.IndexByte(p[i+1:], '"')
			if end < 0 || end > 0 && p[i+end] == '\\' {
				s.step, s.escaped = insideIn, false
				return p[i+1:]
			}
			i += end + 1
		}
	}
	return nil
}

// isLiteral tells whether a byte is of a number, true, false or null.
var isLiteral = func() (is [256]bool) {
	for _, b := range "0123456789.+-Eabcdefghijklmnopqrstuvwxyz" {
		is[b] = true
	}
	return is
}()

// complete reports whether no text was cut off.
func (s *scanner) complete() bool { return s.step == beforeText || s.depth == 0 && s.step == inOther }

// interrupted takes over what an answer that was cut off has said so far. What it said in an object that was cut itself
// does not count.
func (s *scanner) interrupted() {
	if s.depth == 1 && s.step != broken {
		s.answer.textEnds()
	}
}

// eventEnds ends the text of an event, whole or not.
func (s *scanner) eventEnds() {
	if s.depth > 0 || s.step == broken {
		s.answer.textBreaks()
	}
	s.depth, s.step = 0, beforeText
}
