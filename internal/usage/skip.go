package usage

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// skipString looks for the end of a string of which a part was passed. escaped tells that the last byte before p
// escapes the first of it; the same is told of p's own last byte when the string goes on behind p.
func skipString(p []byte, escaped bool) (n int, ended, escapes bool) {
	from := 0 // of the bytes whose escapes are not known yet
	if escaped {
		if len(p) == 0 {
			return 0, false, true
		}
		from = 1
	}
	for at := from; ; {
		quote := bytes.IndexByte(p[at:], '"')
		if quote < 0 {
			return len(p), false, backslashes(p[from:])%2 == 1
		}
		quote += at
		if backslashes(p[from:quote])%2 == 0 {
			return quote + 1, true, false
		}
		at = quote + 1
		from = at
	}
}

// backslashes counts those that p ends with.
func backslashes(p []byte) (n int) {
	for n < len(p) && p[len(p)-1-n] == '\\' {
		n++
	}
	return n
}

// Words of eight equal bytes.
const (
	ones    = 0x0101010101010101
	highs   = 0x80 * ones
	quotes  = '"' * ones
	escapes = '\\' * ones
	spaces  = ' ' * ones
)

// notPlain finds the first byte of a text that does not stand for itself: the quote at its end, a backslash, or a control character,
// which no text has; -1 for none. Most are too short for three searches.
func notPlain(p []byte) int {
	i := 0
	for ; i+8 <= len(p); i += 8 {
		w := binary.LittleEndian.Uint64(p[i:])
		a, b := w^quotes, w^escapes
		if found := ((a-ones)&^a | (b-ones)&^b | (w-spaces)&^w) & highs; found != 0 { // the lowest is always right
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(p); i++ {
		if p[i] == '"' || p[i] == '\\' || p[i] < ' ' {
			return i
		}
	}
	return -1
}

// bracket finds the next byte that a value without interest can begin, end or hide behind: a bracket, a brace or
// a quote. It looks at eight bytes at a time, for arrays of numbers are long.
func bracket(p []byte) int {
	const (
		// Of what this sets in a byte, brackets and braces lack nothing to 0x7f, and neither do four others.
		lacking = 0x26 * ones
		braces  = 0x7f * ones
	)
	i := 0
	for ; i+8 <= len(p); i += 8 {
		w := binary.LittleEndian.Uint64(p[i:])
		a, b := w^quotes, (w|lacking)^braces
		found := (a-ones)&^a | (b-ones)&^b
		for found &= highs; found != 0; found &= found - 1 {
			at := i + bits.TrailingZeros64(found)/8
			if isBracket(p[at]) {
				return at
			}
		}
	}
	for ; i < len(p); i++ {
		if isBracket(p[i]) {
			return i
		}
	}
	return -1
}

func isBracket(b byte) bool {
	switch b {
	case '"', '[', ']', '{', '}':
		return true
	}
	return false
}
