package usage

import "bytes"

const (
	eventBreak = "\n\n"
	modelRest  = "odel" // behind the m
	usageRest  = "sage" // behind the u
	escapeRest = "00"   // behind \u: no key that is known has other than ASCII
)

// begins is bytes.HasPrefix for texts, of which the compiler compares constants without a call and without reading them.
func begins(p []byte, word string) bool { return len(p) >= len(word) && string(p[:len(word)]) == word }

// stride is how many bytes are looked through at once for what is seldom there.
const stride = 64

// words finds the events of a piece that may say something of interest. The others, which are nearly all, are passed over
// together. Whatever an upstream sends, a piece is looked through once for each word and once for the ends of events.
type words struct {
	p            []byte // the piece as far as its last event ends
	usage, model int    // where each is next; before what was asked for last: not known
	event, word  int    // no event ends between the two: one that begins there is read
}

func newWords(p []byte) words {
	return words{p: p[:behindLastBreak(p)], usage: -1, model: -1, word: -1}
}

// nextToRead is where the first event begins that has to be read, of those from the one that begins at a position on: it
// has a word of interest, or does not end in the piece. Keys are seldom written with escapes; an event with one is read. So
// is one before it that ends with a carriage return.
func (w *words) nextToRead(at int, ofModel bool) int {
	if at >= len(w.p) || w.event <= at && at <= w.word {
		return at
	}
	if w.word < at {
		w.word = w.nextWord(at, ofModel)
	}
	w.event = at + behindLastBreak(w.p[at:w.word])
	return w.event
}

// foundModel tells whether the word found last stands behind a position and is that of a model.
func (w *words) foundModel(at int) bool {
	return w.word >= at && w.word < len(w.p) && w.p[w.word] == 'm'
}

// pairs are bytes with another two behind each, and one that must not stand seven behind it: 0, which no JSON has, for none. They are
// told apart by the low half of their first byte, at which the tables have what follows.
type pairs struct{ first, third, notEighth [16]byte }

var (
	// u and a of usage, with no n behind its colon, and the escapes that a key may be written with.
	pairsOfUsage = pairs{
		first:     [16]byte{0: 0xff, 'u' & 15: 'u', '\\' & 15: '\\'},
		third:     [16]byte{'u' & 15: 'a', '\\' & 15: '0'},
		notEighth: [16]byte{'u' & 15: 'n'},
	}
	// The same, and the m and d of model.
	pairsOfModel = pairs{
		first:     [16]byte{0: 0xff, 'u' & 15: 'u', '\\' & 15: '\\', 'm' & 15: 'm'},
		third:     [16]byte{'u' & 15: 'a', '\\' & 15: '0', 'm' & 15: 'd'},
		notEighth: [16]byte{'u' & 15: 'n'},
	}
)

// What the searches of a processor read at once.
const (
	pairsAtLeast = 39 // indexPairs
	breakAtLeast = 33 // lastBreakIn
)

// nextWord is where the next word of interest may be, the end of the piece where none is. Texts are full of bytes that a word
// begins with: a search for two bytes of each word at once hardly ever stops for another, or for a usage that is null. It leaves
// out the last bytes, of which no key has a value.
func (w *words) nextWord(at int, ofModel bool) int {
	of := &pairsOfUsage
	if ofModel {
		of = &pairsOfModel
	}
	for searchesAtOnce && len(w.p)-at >= pairsAtLeast {
		i := indexPairs(w.p[at:], of)
		if i < 0 {
			return len(w.p)
		}
		if at += i; w.isWord(at) {
			return at
		}
		at++
	}
	if w.usage < at {
		w.usage = w.nextUsage(at)
	}
	if !ofModel {
		return w.usage
	}
	if w.model < at {
		w.model = w.nextModel(at)
	}
	return min(w.usage, w.model)
}

// isWord tells whether one of the words is at a position.
func (w *words) isWord(at int) bool {
	switch behind := w.p[at+1:]; w.p[at] {
	case 'u':
		return isUsage(behind)
	case 'm':
		return begins(behind, modelRest)
	default:
		return begins(behind, "u"+escapeRest)
	}
}

// behindLastBreak is where the last end of an event in p ends, 0 when there is none. Seen from the end, where it mostly
// is near.
func behindLastBreak(p []byte) int {
	if n := len(p); n >= len(eventBreak) && string(p[n-len(eventBreak):]) == eventBreak {
		return n
	} else if n >= breakAtLeast && searchesAtOnce {
		return lastBreakIn(p)
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

// nextModel is where the next key of a model may be, the end of the piece where none is.
func (w *words) nextModel(at int) int {
	for {
		i := bytes.IndexByte(w.p[at:], 'm')
		if i < 0 {
			return len(w.p)
		}
		if at += i + 1; begins(w.p[at:], modelRest) {
			return at - 1
		}
	}
}

// nextUsage is where the next key of usage that has a value may be, or the next escape that a key may be written with.
// Both have a u, so that one search finds them.
func (w *words) nextUsage(at int) int {
	for {
		i := bytes.IndexByte(w.p[at:], 'u')
		if i < 0 {
			return len(w.p)
		}
		at += i + 1
		if behind := w.p[at:]; isUsage(behind) || at > 1 && w.p[at-2] == '\\' && begins(behind, escapeRest) {
			return at - 1
		}
	}
}

// isUsage tells whether a key of usage that has a value may have begun with the u before p.
func isUsage(p []byte) bool {
	if !begins(p, usageRest) || len(p) == len(usageRest) {
		return false
	}
	p = p[len(usageRest):]
	return p[0] == 'M' || p[0] == '"' && !isNull(p[1:])
}

// isNull tells whether a key is followed by null: chunks of a stream say so before the last one.
func isNull(p []byte) bool {
	if p = behindSpaces(p); len(p) == 0 || p[0] != ':' {
		return false
	}
	return begins(behindSpaces(p[1:]), "null")
}

func behindSpaces(p []byte) []byte {
	for len(p) > 0 && p[0] == ' ' {
		p = p[1:]
	}
	return p
}
