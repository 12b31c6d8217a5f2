package meter

import "bytes"

// passed measures the text of an answer that passed, for those whose answer does not say what it used.
type passed struct{ bytes, lines int64 }

const (
	// bytesOfToken is what a token of text is taken for: four letters, or one Chinese character and a bit.
	bytesOfToken = 4
	// bytesOfFrame are taken off for each line of a stream: an event is two lines or three, and holds a token or a few
	// in some hundred bytes of JSON.
	bytesOfFrame = 128
	// maxPassed bounds what is taken from a text, in tokens: no model gives as many in one answer, and what looks like
	// more is no text.
	maxPassed = 1 << 17
)

func (s *passed) add(p []byte, events bool) {
	s.bytes += int64(len(p))
	if events {
		s.lines += int64(bytes.Count(p, []byte{'\n'}))
	}
}

// addRaw adds what cannot be inflated: text becomes a quarter of itself.
func (s *passed) addRaw(p []byte) { s.bytes += 4 * int64(len(p)) }

// Passed is about how many tokens the text that passed is worth, for an answer that does not say: a fourth of its
// bytes, and of a stream one for each two lines and a fourth of what is longer in them than the frame of an event. Of
// an answer that is nothing that is read nothing is known, and it is 0. It counts for limits alone, and
// is in no Report. It is asked for before End, or after it, but before the next Begin.
func (r *Reader) Passed() int64 {
	tokens := r.passed.lines/2 + max(0, r.passed.bytes-bytesOfFrame*r.passed.lines)/bytesOfToken
	return min(tokens, maxPassed)
}
