package meter

import (
	"encoding/base64"
	"encoding/binary"
)

// frames finds the JSON texts in a stream of application/vnd.amazon.eventstream. A frame is a prelude (its length, that of
// its headers, and their checksum), headers, a payload, and a checksum. The payload is a JSON text; one of
// InvokeModelWithResponseStream wraps the model's own in it, in Base64.
type frames struct {
	step frameStep
	n    int // bytes of the prelude that were taken; of another step, that are still to come
	rest int // bytes of the payload, while its headers come
	head [prelude]byte
	done int64 // frames that ended
}

type frameStep uint8

const (
	inPrelude frameStep = iota
	inHeaders
	inPayload
	inSum
)

const (
	prelude  = 12
	frameSum = 4
	maxFrame = 24 << 20 // as Amazon's own libraries have it
)

func bigEndian(p []byte) uint32 { return binary.BigEndian.Uint32(p) }

// write hands the texts of what one piece brings to s, and reports false where that are no frames.
func (f *frames) write(p []byte, s *scanner) bool {
	for len(p) > 0 {
		if f.step == inPrelude {
			n := copy(f.head[f.n:], p)
			p = p[n:]
			if f.n += n; f.n < prelude {
				return true
			}
			length, headers := int(bigEndian(f.head[:])), int(bigEndian(f.head[4:]))
			if !isPrelude(f.head[:]) || length > maxFrame || headers > length-prelude-frameSum {
				return false
			}
			f.rest = length - prelude - frameSum - headers
			f.step, f.n = inHeaders, headers
		}
		n := min(f.n, len(p))
		if f.step == inPayload {
			s.write(p[:n])
		}
		p = p[n:]
		for f.n -= n; f.n == 0 && f.step != inPrelude; {
			f.next(s)
		}
	}
	return true
}

// next goes on to what follows in a frame.
func (f *frames) next(s *scanner) {
	switch f.step {
	case inHeaders:
		f.step, f.n = inPayload, f.rest
	case inPayload:
		s.eventEnds()
		f.step, f.n = inSum, frameSum
	default:
		f.step, f.n = inPrelude, 0
		f.done++
	}
}

// wrapped reads a text that another has in Base64.
type wrapped struct {
	scanner scanner
	group   [4]byte
	n       int
}

func (w *wrapped) reset(a *answer) {
	w.scanner.reset(a)
	w.scanner.isInner, w.n = true, 0
}

func (w *wrapped) write(p []byte) {
	if w.n > 0 {
		n := copy(w.group[w.n:], p)
		p = p[n:]
		if w.n += n; w.n < len(w.group) {
			return
		}
		w.decode(w.group[:])
	}
	whole := len(p) - len(p)%len(w.group)
	for at := 0; at < whole; at += decodeStep {
		w.decode(p[at:min(at+decodeStep, whole)])
	}
	w.n = copy(w.group[:], p[whole:])
}

// decodeStep is how much is decoded at once, in bytes.
const decodeStep = 256

func (w *wrapped) decode(p []byte) {
	var text [decodeStep / 4 * 3]byte
	n, err := base64.StdEncoding.Decode(text[:], p)
	if w.scanner.write(text[:n]); err != nil {
		w.scanner.step = broken
	}
}
