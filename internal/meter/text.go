package meter

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
)

const (
	maxName = 100 // bytes of a text that is kept
	maxRaw  = 160 // of one with escapes, or in pieces
)

// shortText is a string, or a number, that comes in pieces, as far as it is of interest.
type shortText struct {
	raw     [maxRaw]byte
	n       int // more than maxRaw: it is longer
	escaped bool
}

func (t *shortText) reset() { t.n, t.escaped = 0, false }

func (t *shortText) add(p []byte) {
	if t.n <= maxRaw {
		t.n += min(copy(t.raw[t.n:], p), len(p))
		if t.n == maxRaw {
			t.n = maxRaw + 1
		}
	}
}

func (t *shortText) bytes() []byte { return t.raw[:min(t.n, maxRaw)] }

// read takes a piece of a string, and gives the string when it ended. What is behind it is the rest.
func (t *shortText) read(p []byte) (rest, text []byte, ended bool) {
	if t.n == 0 && !t.escaped {
		for i, b := range p[:min(len(p), 32)] { // as mostly
			if b == '"' {
				return p[i+1:], p[:i], true
			} else if b == '\\' {
				break
			}
		}
	}
	rest, ended, escapes := passText(p, t.escaped)
	t.escaped = escapes
	text = p[:len(p)-len(rest)]
	if ended {
		text = text[:len(text)-1]
	}
	if t.n > 0 || !ended {
		t.add(text)
		text = t.bytes()
	}
	if ended && bytes.IndexByte(text, '\\') >= 0 {
		var plain string
		_ = json.Unmarshal([]byte(`"`+string(text)+`"`), &plain) // what is none is no key and no name
		text = []byte(plain)
	}
	return rest, text, ended
}

// passText looks for the end of a string of which a part was passed. escaped tells that the last byte before p escapes the
// first of it; the same is told of p's own last byte when the string goes on behind p.
func passText(p []byte, escaped bool) (rest []byte, ended, escapes bool) {
	if escaped && len(p) > 0 {
		p = p[1:]
	}
	for {
		quote := bytes.IndexByte(p, '"')
		before := p
		if quote >= 0 {
			before = p[:quote]
		}
		n := len(before)
		for n > 0 && before[n-1] == '\\' {
			n--
		}
		escapes = (len(before)-n)%2 == 1 // for the others escape each other
		switch {
		case quote < 0:
			return nil, false, escapes
		case !escapes:
			return p[quote+1:], true, false
		}
		p = p[quote+1:]
	}
}

// printable is a text without what no name has.
func printable(text []byte) string {
	if !bytes.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return string(text)
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, string(text)))
}

// count reads a whole number that a meter can count. Some upstreams write one as 12.0.
func count(text []byte) (v uint32, ok bool) {
	var n uint64
	for _, b := range text {
		if b < '0' || b > '9' {
			return thousandths(text, 1)
		}
		n = min(n*10+uint64(b-'0'), maxCount+1)
	}
	return uint32(n), n <= maxCount && len(text) > 0
}

// thousandths reads a number by a factor: of seconds, which need not be whole, the milliseconds, rounded.
func thousandths(text []byte, factor float64) (v uint32, ok bool) {
	f, err := strconv.ParseFloat(string(text), 64)
	if f *= factor; err != nil || !(f >= 0 && f <= maxCount) {
		return 0, false
	}
	v = uint32(f + 0.5)
	return v, factor != 1 || f == float64(v)
}
