package usage

import "bytes"

// step is what a scanner expects next.
type step uint8

const (
	beforeText step = iota // a JSON text, or more of the array of them
	firstKey               // of an object, or its end
	nextKey
	inKey
	colon
	value
	afterValue
	inNumber
	inName   // a text that is kept
	inText   // one that is not
	inOther  // a literal, or a number that is not kept
	inside   // an array or object of no interest
	insideIn // a string in it
	broken   // what came is no JSON
)

// isBetween tells whether a byte that is no white space begins or ends something.
func (s step) isBetween() bool { return s <= nextKey || s >= colon && s <= afterValue }

// scanner walks through JSON texts that come in pieces, and keeps the numbers at the places of the formats. What
// is of no interest is passed over without being checked.
type scanner struct {
	events bool // texts are events of a stream: what they wrap counts, and one that broke off ends with its event

	step    step
	escaped bool
	depth   uint8
	path    [8]node // containers that are open, the innermost last; none below another
	outside int     // brackets open inside a value of no interest
	listed  bool    // the texts stand in an array

	next  node  // what the value to come is
	place place // which number it is
	text  shortText
	count digits

	said   numbers // of the text being read
	opened uint16  // a bit for each node of usage that it has opened
	via    node    // the container of its usage
	bad    bool    // a number of it is none
	wraps  node    // where it has its usage by its type, beside the text itself
	model  name
	of     node // the container that model comes from, nowhere once it is known to count

	head head // what the event that told the model had before it

	whole      numbers // of all texts
	begun      bool    // they end with Anthropic's first event, whose usage is what it was by then
	unreadable bool
}

// write takes the next piece.
func (s *scanner) write(p []byte) {
	for len(p) > 0 {
		switch s.step {
		case inside:
			p = s.passOver(p)
		case insideIn, inText:
			n, ended, escaped := skipString(p, s.escaped)
			s.escaped = escaped
			if p = p[n:]; !ended {
				return
			}
			if s.step == insideIn {
				s.step = inside
			} else {
				s.valueEnds()
			}
		case inKey:
			p = s.readKey(p)
		case inName:
			var text []byte
			var ended bool
			if p, text, ended = s.text.whole(p); ended {
				s.keepName(text)
				s.valueEnds()
			}
		case inNumber, inOther:
			p = s.readLiteral(p)
		case broken:
			return
		default:
			p = s.between(p)
		}
	}
}

// reset makes ready for the next answer. Of arrays only what is said to be in them is ever read, so they stay as they
// are: a call would pay for each of their cache lines.
func (s *scanner) reset() {
	s.events, s.step, s.escaped, s.depth, s.outside, s.listed = false, beforeText, false, 0, 0, false
	s.next, s.place = nowhere, 0
	s.said.said, s.opened, s.via, s.bad, s.wraps = 0, 0, nowhere, false, nowhere
	s.model.n, s.head.n, s.of, s.whole.said, s.begun, s.unreadable = 0, 0, nowhere, 0, false, false
}

// between takes bytes between values until one begins. What is met most is told here.
func (s *scanner) between(p []byte) (rest []byte) {
	for i, b := range p {
		switch {
		case b == ' ' || b == '\n' || b == '\r' || b == '\t':
		case b == '"' && (s.step == nextKey || s.step == firstKey):
			s.step = inKey
			s.text.reset()
			return s.readKey(p[i+1:])
		case b == ':' && s.step == colon:
			s.step = value
		case b == ',' && s.step == afterValue:
			s.step = nextKey
		default:
			if s.structure(b); !s.step.isBetween() {
				return p[i+1:]
			}
		}
	}
	return nil
}

// passOver takes what a piece brings of a value of no interest.
func (s *scanner) passOver(p []byte) (rest []byte) {
	for {
		at := bracket(p)
		if at < 0 {
			return nil
		}
		b := p[at]
		p = p[at+1:]
		switch b {
		case '[', '{':
			s.outside++
		case '"':
			if end := bytes.IndexByte(p, '"'); end >= 0 && (end == 0 || p[end-1] != '\\') {
				p = p[end+1:]
				continue
			}
			s.step, s.escaped = insideIn, false
			return p
		default:
			if s.outside--; s.outside == 0 {
				s.valueEnds()
				return p
			}
		}
	}
}

// structure takes a byte between values that begins or ends one, or does not belong there.
func (s *scanner) structure(b byte) {
	switch s.step {
	case beforeText:
		switch {
		case b == '[' && !s.listed && !s.events:
			s.listed = true
		case s.listed && (b == ',' || b == ']'), b == 0x1e: // the separator of application/json-seq
		default:
			s.next = root
			s.begin(b)
		}
	case value:
		s.begin(b)
	default:
		if b == '}' && (s.step == firstKey || s.step == afterValue) {
			s.close()
		} else {
			s.step = broken
		}
	}
}

// begin takes the first byte of a value.
func (s *scanner) begin(b byte) {
	switch {
	case b == '{' && s.next != nowhere && s.next < modelName:
		s.open(s.next)
	case b == '{' || b == '[':
		s.mistaken()
		s.step, s.outside = inside, 1
	case b == '"' && (s.next == modelName || s.next == eventType):
		s.step = inName
		s.text.reset()
	case b == '"':
		s.mistaken()
		s.step, s.escaped = inText, false
	case b == '-' || b >= '0' && b <= '9':
		if s.step = inOther; s.next == number {
			s.step = inNumber
			s.count.reset()
			s.count.add(b)
		}
	case b == 'n' || b == 't' || b == 'f':
		if b != 'n' {
			s.mistaken()
		}
		s.step = inOther
	default:
		s.step = broken
	}
}

// mistaken notes that a value which is no number stands where a number belongs.
func (s *scanner) mistaken() {
	if s.next == number {
		s.bad = true
	}
}

// readLiteral reads a number, true, false or null to its end.
func (s *scanner) readLiteral(p []byte) (rest []byte) {
	for i, b := range p {
		switch {
		case isLiteral(b):
			if s.step == inNumber {
				s.count.add(b)
			}
		default:
			if s.step == inNumber {
				v, ok := s.count.value()
				if s.bad = s.bad || !ok; ok {
					s.said.set(s.place, v)
				}
			}
			s.valueEnds()
			return p[i:]
		}
	}
	return nil
}

// isLiteral tells whether a byte is of a number, true, false or null.
func isLiteral(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b == '.' || b == '-' || b == '+' || b == 'E'
}

func (s *scanner) readKey(p []byte) (rest []byte) {
	rest, key, ended := s.text.whole(p)
	if !ended {
		return rest
	}
	s.next, s.place = child(s.path[s.depth], key)
	if !s.events && (s.next == inMessage || s.next == inResponse || s.next == inDelta) {
		s.next = nowhere // in an answer that is no stream they are what was asked for
	}
	s.step = colon
	if len(rest) > 1 && rest[0] == ':' && rest[1] > ' ' { // the value begins at once, as mostly
		if s.next == number {
			if v, n := count(rest[1:]); n > 0 {
				s.said.set(s.place, v)
				s.step = afterValue
				return rest[1+n:]
			}
		}
		if s.begin(rest[1]); s.step == firstKey && s.next == inUsage {
			if n := s.readOpenAI(rest[2:]); n > 0 {
				s.step = afterValue
				return rest[2+n:]
			}
		}
		return rest[2:]
	}
	return rest
}

// readOpenAI reads what an object of usage begins with where it is written as OpenAI writes it, without taking each key apart, and tells
// how long that is.
func (s *scanner) readOpenAI(p []byte) (read int) {
	for _, member := range openAIUsage {
		if !begins(p[read:], member.written) {
			break
		}
		v, n := count(p[read+len(member.written):])
		if n == 0 {
			break
		}
		s.said.set(member.of, v)
		read += len(member.written) + n
	}
	return read
}

// open enters a container on the way to a number.
func (s *scanner) open(n node) {
	around := s.path[s.depth]
	if n == inUsage || n == inGemini || n == inMeta {
		switch bit := uint16(1) << n; {
		case s.opened != 0 && s.via == root && around != root:
			s.step, s.outside = inside, 1 // the text's own usage is told already
			return
		case s.opened&bit != 0 || s.opened != 0 && s.via != around:
			s.said, s.opened, s.bad = numbers{}, bit, false // of two values of one key the last counts
		default:
			s.opened |= bit
		}
		s.via = around
	}
	if n == root {
		s.opened, s.via, s.bad, s.said = 0, nowhere, false, numbers{}
		s.wraps = nowhere
	}
	s.depth++
	s.path[s.depth] = n
	s.step = firstKey
}

func (s *scanner) close() {
	s.depth--
	s.valueEnds()
	if s.depth == 0 {
		s.textEnds()
	}
}

func (s *scanner) valueEnds() {
	if s.step = afterValue; s.depth == 0 {
		s.step = beforeText
	}
}

// keepName keeps the text that was just read.
func (s *scanner) keepName(text []byte) {
	switch {
	case s.next == eventType:
		s.wraps = wrapped(text)
	case s.model.n == 0:
		s.model.set(text)
		if s.of = s.path[s.depth]; s.of == root {
			s.of = nowhere // that of the answer, however the text goes on
		}
	}
}

// counts tells whether what stands in a container is of the answer.
func (s *scanner) counts(in node) bool { return in == root || in == s.wraps }

// textEnds takes over what a text says.
func (s *scanner) textEnds() {
	if s.of != nowhere {
		if !s.counts(s.of) {
			s.model.n = 0
		}
		s.of = nowhere
	}
	if s.opened != 0 && s.counts(s.via) {
		s.whole.add(&s.said)
		s.begun = s.via == inMessage
		s.unreadable = s.unreadable || s.bad
	}
	s.opened = 0
}

// eventEnds ends an event, whole or not: what was told of usage and broke off cannot be read.
func (s *scanner) eventEnds() {
	if s.depth > 0 || s.step == broken {
		if s.of != nowhere {
			s.model.n, s.of = 0, nowhere
		}
		s.unreadable = s.unreadable || s.opened != 0 && s.counts(s.via)
		s.opened = 0
	}
	s.depth, s.step = 0, beforeText
}

// interrupted takes over what an answer that was cut off has said so far. A usage that was cut itself, and one in
// an event that was, does not count.
func (s *scanner) interrupted() {
	if s.events || s.depth != 1 || s.step == broken {
		return
	}
	s.textEnds()
}

// complete reports whether no text was cut off.
func (s *scanner) complete() bool { return s.step == beforeText || s.depth == 0 && s.step == inOther }
