package meter

import "bytes"

var (
	deltaKey    = []byte(`"delta":`) // a key: in a text its quotes are escaped
	usageWord   = []byte("usage")
	isNull      = []byte(`":null`)
	hiddenInKey = []byte(`\u00`) // how a letter of a key may be written
)

// mayTell tells whether an event may say what is not known yet. One that brings a piece of the answer says nothing that the
// first of them did not, unless it has an object of usage: hundreds of a stream need not be read.
func (a *answer) mayTell(event []byte) bool {
	if !bytes.Contains(event, deltaKey) {
		return true
	}
	if !a.hasDelta {
		a.hasDelta = true
		return true
	}
	for rest := event; ; {
		_, after, found := bytes.Cut(rest, usageWord)
		if !found {
			break
		}
		if rest = after; !bytes.HasPrefix(rest, isNull) {
			return true
		}
	}
	return bytes.IndexByte(event, '\\') >= 0 && bytes.Contains(event, hiddenInKey)
}
