package redact

import "strings"

// matcher finds any of many words in one pass over a name, whatever its case and separators: an
// automaton whose state is the longest beginning of a word that ends at the present byte (Aho and
// Corasick, 1975).
type matcher struct {
	classes [256]uint8 // of bytes: separator, other, or one for each byte that words consist of
	next    [][]uint16 // by state and class; state 0 is the beginning
	states  []matched
}

// matched is what a state says about the name up to the present byte.
type matched struct {
	depth           int  // bytes of the word's beginning
	has             bool // a word ends here that makes the name a credential's wherever it stands
	exceptSecretary bool // likewise, unless it goes on to "secretary"
	ends            bool // a word ends here that must be the name's end
	is              bool // a word ends here that must be all of the name
	not             bool // all of the name: no credential after all
}

const (
	separator uint8 = iota
	other
)

func isSeparator(c byte) bool { return traits[c]&separatorTrait != 0 }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// names knows all words of nameHas, nameEnds, nameIs and nameNot.
var names = newMatcher()

func newMatcher() *matcher {
	m := &matcher{}
	for c := range m.classes {
		m.classes[c] = other
	}
	count := other + 1
	for _, words := range [][]string{nameHas, nameEnds, nameIs, nameNot} {
		for _, word := range words {
			for _, c := range []byte(word) {
				if m.classes[c] == other {
					m.classes[c] = count
					count++
				}
			}
		}
	}
	for c := range m.classes {
		if b := byte(c); b >= 'A' && b <= 'Z' {
			m.classes[c] = m.classes[lower(b)]
		} else if isSeparator(b) {
			m.classes[c] = separator
		}
	}
	m.grow(0, int(count))
	for _, word := range nameHas {
		if at := m.insert(word, int(count)); word == "secret" {
			at.exceptSecretary = true
		} else {
			at.has = true
		}
	}
	for _, word := range nameEnds {
		m.insert(word, int(count)).ends = true
	}
	for _, word := range nameIs {
		m.insert(word, int(count)).is = true
	}
	for _, word := range nameNot {
		m.insert(word, int(count)).not = true
	}
	m.link()
	return m
}

func (m *matcher) grow(depth, classes int) {
	m.next = append(m.next, make([]uint16, classes))
	m.states = append(m.states, matched{depth: depth})
}

// insert makes the states of a word and returns its last one.
func (m *matcher) insert(word string, classes int) *matched {
	state := uint16(0)
	for i, c := range []byte(word) {
		class := m.classes[c]
		if m.next[state][class] == 0 {
			m.next[state][class] = uint16(len(m.states)) //nolint:gosec // some hundred states
			m.grow(i+1, classes)
		}
		state = m.next[state][class]
	}
	return &m.states[state]
}

// link completes the states, nearest to the beginning first: where a word does not go on, its
// longest end that begins another one does.
func (m *matcher) link() {
	falls := make([]uint16, len(m.states))
	var queue []uint16
	for _, state := range m.next[0] {
		if state != 0 {
			queue = append(queue, state)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		fall := falls[state]
		at, shorter := &m.states[state], m.states[fall]
		at.has, at.exceptSecretary, at.ends = at.has || shorter.has, at.exceptSecretary || shorter.exceptSecretary, at.ends || shorter.ends
		for class, next := range m.next[state] {
			if next == 0 {
				m.next[state][class] = m.next[fall][class]
				continue
			}
			falls[next] = m.next[fall][class]
			queue = append(queue, next)
		}
	}
}

// match tells whether a name is a credential's; secretary says that it mentions a secretary, which has
// to be left out first.
func (m *matcher) match(name string) (found, secretary bool) {
	state, length := uint16(0), 0
	for i := range len(name) {
		class := m.classes[name[i]]
		if class == separator {
			continue
		}
		length++
		state = m.next[state][class]
		at := &m.states[state]
		if at.has {
			return true, false
		}
		if at.exceptSecretary {
			if !strings.HasPrefix(normalise(name[i+1:]), "ar") {
				return true, false
			}
			return false, true
		}
	}
	at := &m.states[state]
	if at.is && at.depth == length {
		return true, false
	}
	return at.ends && (!at.not || at.depth != length), false
}
