package usage

import (
	"bytes"
	"encoding/binary"
	"math/bits"
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

// whole is read that gives the text when it ended, without a copy where it can. What is longer than maxName may lack its end.
func (t *shortText) whole(p []byte) (rest, text []byte, ended bool) {
	if t.n == 0 && t.step == plain {
		if at := notPlain(p[:min(len(p), maxName+1)]); at >= 0 && p[at] == '"' {
			return p[at+1:], p[:at], true
		}
	}
	if rest, ended = t.read(p); ended {
		text = t.bytes[:t.n]
	}
	return rest, text, ended
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

// name is a text that is kept.
type name struct {
	of [maxName]byte
	n  uint8
}

// set keeps a text, or OtherModel for one that is too long.
func (m *name) set(text []byte) {
	if len(text) > maxName {
		text = []byte(OtherModel)
	}
	m.n = uint8(copy(m.of[:], text))
}

func (m *name) bytes() []byte { return m.of[:m.n] }

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

// count reads a number that p has to its end, and that is a count of tokens as mostly written: n is its length, 0 for any other.
// Its digits are read at once, for where numbers end no processor foresees.
func count(p []byte) (v uint32, n int) {
	const most = 8
	if len(p) <= most {
		var padded [most + 1]byte
		copy(padded[:], p)
		p = padded[:]
	}
	w := binary.LittleEndian.Uint64(p) ^ '0'*ones
	n = bits.TrailingZeros64((w+0x76*ones|w)&highs) / 8 // what is no digit: the lowest is always right
	if n == 0 || n == most || p[n] != ',' && p[n] != '}' {
		return 0, 0
	}
	w <<= 8 * (most - n)
	w = (w*10 + w>>8) & 0x00ff00ff00ff00ff // of two digits, the first of which is the lower byte
	w = (w*100 + w>>16) & 0x0000ffff0000ffff
	return uint32(w*10000 + w>>32), n
}

// value is the number, if it is a whole one that can be a count of tokens.
func (d *digits) value() (v uint32, ok bool) {
	if d.n > len(d.of) {
		return 0, false
	}
	text := d.of[:d.n]
	var n uint64
	for _, b := range text {
		if b < '0' || b > '9' {
			return fraction(string(text))
		}
		n = min(n*10+uint64(b-'0'), maxTokens+1)
	}
	return uint32(n), n <= maxTokens
}

// fraction reads a number with a point or an exponent: some upstreams write counts as 12.0.
func fraction(text string) (v uint32, ok bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < 0 || f > maxTokens || f != float64(uint32(f)) {
		return 0, false
	}
	return uint32(f), true
}

// text is the name as valid UTF-8 without control characters.
func (m *name) text() string { return intern(m.bytes()) }
