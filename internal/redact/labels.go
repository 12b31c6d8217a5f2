package redact

// A value may have its credential's name beside it, as in `"name":"password","value":…`: the field
// that holds the name is its label.

// labelWindow is how far, in bytes, a label may stand from the value it names.
const labelWindow = 256

// labels are the signs of a text whose value has a label beside it. They are found in one pass over
// the text, the first time that anything is assigned to a name that is "value".
type labels struct {
	known  bool
	marked []uint64 // a bit for each byte of the text
	levels []level
	open   []openValue
}

// level is an object of the text that is not closed yet.
type level struct {
	label int // sign of the last label in it, objects inside it included
	open  int // how many values stood open when it began
}

// openValue is one without a label so far: a label may still follow.
type openValue struct{ sign int }

const noLabel = -labelWindow - 1

// labelled tells whether the value that the sign at text[i] gives stands beside a label that holds a
// credential's name. Braces keep one object's label from another's value.
func (sc *scanner) labelled(i int) bool {
	if !sc.labels.known {
		sc.labels.find(sc.text)
	}
	return sc.labels.marked[i/64]&(1<<(i%64)) != 0
}

// find goes through a text once: every value is opened, and closed by the first label or by the end
// of its object.
func (l *labels) find(s string) {
	l.known = true
	l.marked = append(l.marked[:0], make([]uint64, len(s)/64+1)...)
	l.levels = append(l.levels[:0], level{label: noLabel})
	l.open = l.open[:0]
	for i := range len(s) {
		switch s[i] {
		case '{':
			l.levels = append(l.levels, level{noLabel, len(l.open)})
		case '}':
			l.end()
		case ':', '=':
			l.sign(s, i)
		}
	}
}

// end closes an object: what is open in it stays without a label, what labels in it labels around it.
func (l *labels) end() {
	top := len(l.levels) - 1
	inner := l.levels[top]
	l.open = l.open[:min(inner.open, len(l.open))]
	if top > 0 {
		l.levels = l.levels[:top]
		outer := &l.levels[top-1]
		outer.label = max(outer.label, inner.label)
	}
}

// sign looks at the sign at s[i]: does it give a value, or a label?
func (l *labels) sign(s string, i int) {
	start, end := nameBefore(s, i)
	name := s[start:end]
	top := &l.levels[len(l.levels)-1]
	switch {
	case isValue(name) && top.label >= start-labelWindow:
		l.mark(i)
	case isValue(name):
		l.open = append(l.open, openValue{i})
	case labelName(name) && credentialName(labelAfter(s, i)):
		top.label = i
		for _, value := range l.open {
			if i < value.sign+labelWindow {
				l.mark(value.sign)
			}
		}
		l.open = l.open[:0]
	}
}

func (l *labels) mark(i int) { l.marked[i/64] |= 1 << (i % 64) }

// labelName tells whether a field of this name labels another.
func labelName(name string) bool {
	if len(name) < len("key") || len(name) > 64 {
		return false
	}
	switch normalise(name) {
	case "name", "key", "header", "field":
		return true
	}
	return false
}

// labelAfter returns the name that the sign at s[i] gives.
func labelAfter(s string, i int) string {
	start := valueStart(s, i)
	if start < len(s) && isQuote(s[start]) {
		start++
	}
	end := start
	for end < len(s) && nameByte(s[end]) {
		end++
	}
	return s[start:end]
}
