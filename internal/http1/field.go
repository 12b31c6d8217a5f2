package http1

import (
	"bytes"
	"encoding/binary"
)

// Field is one header line, by its place in the head it belongs to.
type Field struct {
	start, nameEnd, valueStart, valueEnd, end uint16

	// Hop tells that the line speaks of this connection only: it is one of the hop-by-hop fields, is named
	// by Connection, or says how the body is framed. Whoever forwards the head leaves it out and writes its
	// own (RFC 9110, section 7.6.1).
	Hop bool
}

// Name is the field's name as it was sent.
func (h *Head) Name(f Field) []byte { return h.raw[f.start:f.nameEnd] }

// Value is the field's value without the white space around it.
func (h *Head) Value(f Field) []byte { return h.raw[f.valueStart:f.valueEnd] }

// Line is the whole line, CR LF included.
func (h *Head) Line(f Field) []byte { return h.raw[f.start:f.end] }

// Raw is the whole head as it was sent, start line and the empty line at the end included.
func (h *Head) Raw() []byte { return h.raw }

// Fields are the header lines in their order. The slice is good until the head is parsed again.
func (h *Head) Fields() []Field { return h.fields }

// tokenBytes are the bytes a field name or a method may have (RFC 9110, section 5.6.2).
var tokenBytes = func() (set [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		set[c] = true
	}
	return set
}()

// EqualFold compares a name with a lower-case one, whatever its case.
func EqualFold(name []byte, lower string) bool {
	if len(name) != len(lower) {
		return false
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// hasControl tells whether text has a control character other than the tab, eight bytes at a time.
func hasControl(text []byte) bool {
	for ; len(text) >= 8; text = text[8:] {
		const ones, highs = 0x0101010101010101, 0x8080808080808080
		word := binary.LittleEndian.Uint64(text)
		low := (word - ones*0x20) &^ word & highs // some byte may be below a space
		del := word ^ ones*0x7f
		if low|(del-ones)&^del&highs != 0 && hasControlByte(text[:8]) {
			return true
		}
	}
	return hasControlByte(text)
}

func hasControlByte(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}

// trim finds what is left of line[from:to] without the white space around it.
func trim(line []byte, from, to int) (int, int) {
	for from < to && (line[from] == ' ' || line[from] == '\t') {
		from++
	}
	for from < to && (line[to-1] == ' ' || line[to-1] == '\t') {
		to--
	}
	return from, to
}

// nextToken cuts the first element off a comma-separated list.
func nextToken(list []byte) (token, rest []byte) {
	token, rest, _ = bytes.Cut(list, []byte(","))
	from, to := trim(token, 0, len(token))
	return token[from:to], rest
}
