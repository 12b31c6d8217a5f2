package redact

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonReader goes through a JSON text once (RFC 8259, as encoding/json reads it). After a fault failed
// stays set, and nothing that is read means anything.
type jsonReader struct {
	text   string
	at     int
	failed bool
}

func (d *jsonReader) fail() { d.failed, d.at = true, len(d.text) }

// peek passes over white space and returns the next byte, 0 at the end.
func (d *jsonReader) peek() byte {
	for ; d.at < len(d.text); d.at++ {
		if c := d.text[d.at]; c > ' ' || !space(c) {
			return c
		}
	}
	return 0
}

// end is where nothing but white space may follow.
func (d *jsonReader) end() {
	d.peek()
	if d.at < len(d.text) {
		d.fail()
	}
}

// more tells whether another item or field follows in a container of which count have been read, and
// passes over the comma before it or the container's end.
func (d *jsonReader) more(end byte, count int) bool {
	c := d.peek()
	switch {
	case d.failed:
		return false
	case c == end:
		d.at++
		return false
	case count == 0:
		return true
	case c != ',':
		d.fail()
		return false
	}
	d.at++
	return true
}

// name reads a field's name and the colon after it.
func (d *jsonReader) name() string {
	d.peek()
	name := d.str()
	d.colon()
	return name
}

func (d *jsonReader) colon() {
	if d.peek() != ':' {
		d.fail()
		return
	}
	d.at++
}

// skipName passes over a field's name and the colon after it.
func (d *jsonReader) skipName() {
	d.peek()
	d.span()
	d.colon()
}

// skip passes over a value.
func (d *jsonReader) skip() {
	var few [64]byte
	for open := few[:0]; !d.failed; { // the ends of the containers that are open
		switch d.peek() {
		case '{':
			d.at++
			if open = append(open, '}'); d.peek() != '}' {
				d.skipName()
				continue
			}
		case '[':
			d.at++
			if open = append(open, ']'); d.peek() != ']' {
				continue
			}
		case '"':
			d.span()
		default:
			d.plain()
		}
		for len(open) > 0 && d.peek() == open[len(open)-1] {
			d.at++
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			return
		}
		if d.peek() != ',' {
			d.fail()
			return
		}
		d.at++
		if open[len(open)-1] == '}' {
			d.skipName()
		}
	}
}

// span passes over a string and returns what stands between its quotes, and whether that is text as it
// is: without escapes and in ASCII.
func (d *jsonReader) span() (raw string, escaped, wide bool) {
	if d.at >= len(d.text) || d.text[d.at] != '"' {
		d.fail()
		return "", false, false
	}
	start := d.at + 1
	for i := start; i < len(d.text); i++ {
		switch c := d.text[i]; {
		case c == '"':
			d.at = i + 1
			return d.text[start:i], escaped, wide
		case c == '\\':
			escaped = true
			n := escapeLength(d.text[i:])
			if n == 0 {
				d.fail()
				return "", false, false
			}
			i += n - 1
		case c < ' ':
			d.fail()
			return "", false, false
		case c >= utf8.RuneSelf:
			wide = true
		}
	}
	d.fail()
	return "", false, false
}

// escapeLength is how many bytes the escape at the beginning of s takes; 0: it is none.
func escapeLength(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if escapedUnit(s) >= 0 {
			return 6
		}
	}
	return 0
}

// escapedUnit is the UTF-16 unit of the \uXXXX at the beginning of s, or -1.
func escapedUnit[T string | []byte](s T) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	unit := rune(0)
	for i := 2; i < 6; i++ {
		digit := hexOf[s[i]]
		if digit > 15 {
			return -1
		}
		unit = unit<<4 | rune(digit)
	}
	return unit
}

// str reads a string. What is not UTF-8 in it, and half a surrogate pair, become U+FFFD each.
func (d *jsonReader) str() string {
	raw, escaped, wide := d.span()
	if !escaped && (!wide || utf8.ValidString(raw)) {
		return raw
	}
	b := make([]byte, 0, len(raw)+len(raw)/8)
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == '\\' && raw[i+1] == 'u':
			unit := escapedUnit(raw[i:])
			i += 6
			if utf16.IsSurrogate(unit) {
				pair := utf16.DecodeRune(unit, escapedUnit(raw[i:]))
				if pair != utf8.RuneError {
					i += 6
				}
				unit = pair
			}
			b = utf8.AppendRune(b, unit)
		case c == '\\':
			b = append(b, escapes[strings.IndexByte(escapeNames, raw[i+1])])
			i += 2
		case c < utf8.RuneSelf:
			b = append(b, c)
			i++
		default:
			r, size := utf8.DecodeRuneInString(raw[i:])
			b = utf8.AppendRune(b, r)
			i += size
		}
	}
	return string(b)
}

const (
	escapeNames = `"\/bfnrt`
	escapes     = "\"\\/\b\f\n\r\t"
)

// plain reads a number, true, false or null and returns it as it stands.
func (d *jsonReader) plain() string {
	start := d.at
	switch d.peekAt(d.at) {
	case 't':
		d.word("true")
	case 'f':
		d.word("false")
	case 'n':
		d.word("null")
	default:
		d.number()
	}
	if d.failed {
		return ""
	}
	return d.text[start:d.at]
}

func (d *jsonReader) peekAt(i int) byte {
	if i < len(d.text) {
		return d.text[i]
	}
	return 0
}

func (d *jsonReader) word(word string) {
	if !strings.HasPrefix(d.text[d.at:], word) {
		d.fail()
		return
	}
	d.at += len(word)
}

func (d *jsonReader) number() {
	if d.peekAt(d.at) == '-' {
		d.at++
	}
	if d.peekAt(d.at) == '0' {
		d.at++
	} else {
		d.digits()
	}
	if d.peekAt(d.at) == '.' {
		d.at++
		d.digits()
	}
	if c := d.peekAt(d.at); c == 'e' || c == 'E' {
		d.at++
		if c := d.peekAt(d.at); c == '+' || c == '-' {
			d.at++
		}
		d.digits()
	}
}

// digits passes over one digit at least.
func (d *jsonReader) digits() {
	start := d.at
	for c := d.peekAt(d.at); c >= '0' && c <= '9'; c = d.peekAt(d.at) {
		d.at++
	}
	if d.at == start {
		d.fail()
	}
}
