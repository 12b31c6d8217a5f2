package http1

// chunkStep is what is expected next of a chunked body.
type chunkStep uint8

const (
	sizeFirst    chunkStep = iota // the first digit of a chunk's size
	sizeRest                      // another digit, or what ends the size
	sizeBlank                     // white space behind the size
	extension                     // a chunk extension, which is dropped
	sizeEnd                       // the line feed of the size line
	chunkData                     // bytes of the body
	dataReturn                    // the carriage return behind them
	dataEnd                       // and its line feed
	trailerFirst                  // a trailer, which is dropped, or the end
	trailerName
	trailerValue
	trailerEnd
	bodyEnd // the last line feed
)

// maxFraming is how much more framing than data may stand in a chunked body, in bytes: a megabyte of
// chunk extensions around one byte is an attack, not a body.
const maxFraming = 16 << 10

// chunkState is where a chunked body was left off.
type chunkState struct {
	step    chunkStep
	last    bool // the size was 0
	digits  uint8
	broken  bool     // the next byte cannot stand where it stands
	framing int64    // bytes of framing in excess of data
	name    [18]byte // of a trailer, in lower case, as far as framing fields are long
	named   uint8
}

func (b *Body) nextChunks(buf *Buffer) (Piece, error) {
	bytes := buf.bytes
	from, to := -1, -1
	s := &b.chunks
	for buf.r < buf.w && !b.ended {
		if s.step != chunkData {
			if s.broken || b.framingByte(bytes[buf.r]) != nil {
				if s.broken = true; from < 0 {
					return Piece{}, ErrMalformed
				}
				break // what came before is the body's
			}
			buf.r++
			continue
		}
		n := int(min(int64(buf.w-buf.r), b.left))
		if from < 0 {
			from, to = buf.r, buf.r
		}
		if to != buf.r {
			copy(bytes[to:], bytes[buf.r:buf.r+n])
		}
		to += n
		buf.r += n
		b.left -= int64(n)
		s.framing = max(s.framing-int64(n), 0)
		if b.left == 0 {
			s.step = dataReturn
		}
	}
	if from < 0 {
		from, to = buf.r, buf.r
	}
	return Piece{buf, from, to}, nil
}

// framingByte takes a byte of a chunked body that is none of its data.
func (b *Body) framingByte(c byte) error {
	s := &b.chunks
	if s.framing++; s.framing > maxFraming {
		return ErrMalformed
	}
	switch s.step {
	case sizeFirst, sizeRest:
		return b.sizeByte(c)
	case sizeBlank, extension:
		switch {
		case c == '\r':
			s.step = sizeEnd
		case c == ';':
			s.step = extension
		case s.step == sizeBlank && c != ' ' && c != '\t', c < ' ' && c != '\t', c == 0x7f:
			return ErrMalformed
		}
	case sizeEnd:
		if c != '\n' {
			return ErrMalformed
		}
		if s.step = chunkData; b.left == 0 {
			s.step, s.last = trailerFirst, true
		}
	case dataReturn:
		if c != '\r' {
			return ErrMalformed
		}
		s.step = dataEnd
	case dataEnd:
		if c != '\n' {
			return ErrMalformed
		}
		s.step, s.digits = sizeFirst, 0
	default:
		return b.trailerByte(c)
	}
	return nil
}

func (b *Body) sizeByte(c byte) error {
	s := &b.chunks
	var digit int64
	switch {
	case '0' <= c && c <= '9':
		digit = int64(c - '0')
	case 'a' <= c && c <= 'f':
		digit = int64(c-'a') + 10
	case 'A' <= c && c <= 'F':
		digit = int64(c-'A') + 10
	case s.step == sizeFirst:
		return ErrMalformed
	case c == '\r':
		s.step = sizeEnd
		return nil
	case c == ';':
		s.step = extension
		return nil
	case c == ' ' || c == '\t':
		s.step = sizeBlank
		return nil
	default:
		return ErrMalformed
	}
	if s.digits++; s.digits > 15 { // of 15 digits every size fits
		return ErrMalformed
	}
	s.step = sizeRest
	b.left = b.left<<4 | digit
	return nil
}

// trailerByte takes a byte behind the last chunk. Trailers are dropped: nothing announced them to the other
// side. One that speaks of framing is refused, as somebody might believe it (RFC 9110, section 6.5.1).
func (b *Body) trailerByte(c byte) error {
	s := &b.chunks
	switch s.step {
	case trailerFirst, trailerName:
		switch {
		case s.step == trailerFirst && c == '\r':
			s.step = bodyEnd
		case tokenBytes[c]:
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
			if int(s.named) < len(s.name) {
				s.name[s.named] = c
				s.named++
			}
			s.step = trailerName
		case s.step == trailerName && c == ':':
			switch string(s.name[:s.named]) {
			case "content-length", "transfer-encoding", "host", "content_length", "transfer_encoding":
				return ErrMalformed
			}
			s.step, s.named = trailerValue, 0
		default:
			return ErrMalformed
		}
	case trailerValue:
		switch {
		case c == '\r':
			s.step = trailerEnd
		case c < ' ' && c != '\t', c == 0x7f:
			return ErrMalformed
		}
	case trailerEnd:
		if c != '\n' {
			return ErrMalformed
		}
		s.step = trailerFirst
	default: // bodyEnd
		if c != '\n' {
			return ErrMalformed
		}
		b.ended = true
	}
	return nil
}
