package meter

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// maxName bounds the texts that are kept, in bytes.
const maxName = 100

// shortText is a JSON string that comes in pieces, as far as it is of interest.
type shortText struct {
	bytes [maxName + 1]byte
	n     int // maxName+1: it is longer
	step  uint8
	code  uint16
}

// Steps of a shortText: an escape is a backslash and a letter, or \u and four digits.
const (
	plain uint8 = iota
	letter
	digit1
	digit2
	digit3
	digit4
)

func (t *shortText) reset() { t.n, t.step = 0, plain }

// whole is read that gives the text when it ended, without a copy where it can.
func (t *shortText) whole(p []byte) (rest, text []byte, ended bool) {
	if t.n == 0 && t.step == plain {
		for i, b := range p[:min(len(p), maxName+1)] {
			if b == '"' {
				return p[i+1:], p[:i], true
			} else if b == '\\' {
				break
			}
		}
	}
	rest, ended = t.read(p)
	return rest, t.bytes[:t.n], ended
}

// read takes a piece; what is behind the end of the string is the rest.
func (t *shortText) read(p []byte) (rest []byte, ended bool) {
	for i, b := range p {
		switch {
		case t.step >= digit1:
			t.hex(b)
		case t.step == letter:
			t.escape(b)
		case b == '\\':
			t.step = letter
		case b == '"':
			return p[i+1:], true
		default:
			t.add(b)
		}
	}
	return nil, false
}

func (t *shortText) add(of ...byte) {
	if t.n+len(of) > maxName {
		t.n = maxName + 1
		return
	}
	t.n += copy(t.bytes[t.n:], of)
}

func (t *shortText) escape(b byte) {
	t.step = plain
	if b == 'u' {
		t.step, t.code = digit1, 0
		return
	}
	if at := bytes.IndexByte([]byte("nrtbf"), b); at >= 0 {
		b = "\n\r\t\b\f"[at]
	}
	t.add(b)
}

func (t *shortText) hex(b byte) {
	d, err := strconv.ParseUint(string(b), 16, 4)
	if err != nil {
		d = 0
	}
	t.code = t.code<<4 | uint16(d)
	if t.step++; t.step > digit4 {
		t.step = plain
		t.add(utf8.AppendRune(nil, rune(t.code))...)
	}
}

// digits is a JSON number that comes in pieces.
type digits struct {
	of [24]byte
	n  int
}

func (d *digits) reset() { d.n = 0 }

func (d *digits) add(b byte) {
	if d.n < len(d.of) {
		d.of[d.n] = b
	}
	d.n++
}

// text is the number as it was written, nil for one that is too long to be any.
func (d *digits) text() []byte {
	if d.n > len(d.of) {
		return nil
	}
	return d.of[:d.n]
}

// count reads a whole number that a meter can count.
func count(text []byte) (v uint32, ok bool) {
	var n uint64
	for _, b := range text {
		if b < '0' || b > '9' {
			return fraction(text, 1)
		}
		n = min(n*10+uint64(b-'0'), maxCount+1)
	}
	return uint32(n), n <= maxCount && len(text) > 0
}

// fraction reads a number with a point or an exponent: some upstreams write counts as 12.0. Seconds, which are no whole
// numbers always, become milliseconds by a factor, and are rounded.
func fraction(text []byte, factor float64) (v uint32, ok bool) {
	f, err := strconv.ParseFloat(string(text), 64)
	if f *= factor; err != nil || !(f >= 0 && f <= maxCount) {
		return 0, false
	}
	v = uint32(f + 0.5)
	return v, factor != 1 || f == float64(v)
}
