package usage

import "bytes"

var (
	eventBreak = []byte("\n\n")
	usageWord  = []byte("usage")
	modelWord  = []byte("model")
	escape     = []byte(`\u00`)
	null       = []byte("null")
)

// stride is how many bytes are looked through at once for what is seldom there.
const stride = 64

// words finds the events of a piece that may say something of interest. The others, which are nearly all, are passed over
// together. Whatever an upstream sends, a piece is looked through once for each word and once for the ends of events.
type words struct {
	p                    []byte // the piece as far as its last event ends
	usage, model, escape int    // where each is next; before what was asked for last: not known
	event, word          int    // no event ends between the two: one that begins there is read
}

func newWords(p []byte) words {
	return words{p: p[:behindLastBreak(p)], usage: -1, model: -1, escape: -1, word: -1}
}

// nextToRead is where the first event begins that has to be read, of those from the one that begins at a position on: it
// has a word of interest, or does not end in the piece. Keys are seldom written with escapes; an event with one is read. So
// is one before it that ends with a carriage return.
func (w *words) nextToRead(at int, ofModel bool) int {
	if at >= len(w.p) || w.event <= at && at <= w.word {
		return at
	}
	if w.usage < at {
		w.usage = w.nextUsage(at)
	}
	if w.escape < at {
		w.escape = w.next(escape, at)
	}
	w.word = min(w.usage, w.escape)
	if ofModel {
		if w.model < at {
			w.model = w.next(modelWord, at)
		}
		w.word = min(w.word, w.model)
	}
	w.event = at + behindLastBreak(w.p[at:w.word])
	return w.event
}

// behindLastBreak is where the last end of an event in p ends, 0 when there is none. Seen from the end, where it mostly
// is near.
func behindLastBreak(p []byte) int {
	if bytes.HasSuffix(p, eventBreak) {
		return len(p)
	}
	for end := len(p); end > 0; end -= stride {
		block := p[max(end-stride, 0):min(end+1, len(p))]
		if bytes.IndexByte(block, '\n') < 0 {
			continue
		}
		for at := len(block) - 1; at > 0; at-- { // so little is sooner looked at than searched
			if block[at] == '\n' && block[at-1] == '\n' {
				return max(end-stride, 0) + at + 1
			}
		}
	}
	return 0
}

// next is where a word is next, the end of the piece where it is not.
func (w *words) next(word []byte, at int) int {
	if i := bytes.Index(w.p[at:], word); i >= 0 {
		return at + i
	}
	return len(w.p)
}

// nextUsage is next for a key of usage that has a value.
func (w *words) nextUsage(at int) int {
	for {
		at = w.next(usageWord, at)
		if at == len(w.p) {
			return at
		}
		behind := w.p[at+len(usageWord):]
		if behind[0] == 'M' || behind[0] == '"' && !isNull(behind[1:]) {
			return at
		}
		at += len(usageWord)
	}
}

// isNull tells whether a key is followed by null: chunks of a stream say so before the last one.
func isNull(p []byte) bool {
	p = bytes.TrimLeft(p, " ")
	if len(p) == 0 || p[0] != ':' {
		return false
	}
	return bytes.HasPrefix(bytes.TrimLeft(p[1:], " "), null)
}
