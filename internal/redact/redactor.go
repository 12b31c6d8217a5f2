package redact

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Bounds of what is kept; lengths in characters.
const (
	maxString     = 1_024
	maxItems      = 50
	maxKeys       = 100
	maxDepth      = 8
	maxParameters = 1_000 // of a query that are looked at, repeated names included
	maxQueryValue = 512
	maxMessage    = 1_024
)

const (
	redacted = "[REDACTED]"
	deeper   = "…" // stands for an object or array below maxDepth
)

// redactor hides credentials in what a caller sent, then bounds it: in this order, so that no cut
// makes a key unrecognisable. Every part of an input is gone through once, in time that grows with
// its length and nothing else: a caller chooses the input, and must not choose what it costs. A
// redactor works for one input at a time; its memory is for reuse.
type redactor struct {
	exact      exact
	scanner    scanner
	nodes      []node
	out        []byte         // what is written of them
	places     map[string]int // of a query's names in parameters
	parameters []parameter    // of a query
}

// redactors are idle ones. What they worked on is not kept in them.
var redactors = sync.Pool{New: func() any { return new(redactor) }}

// release forgets the input. A redactor that would have to hold on to much memory is let go.
func (r *redactor) release() {
	const (
		most     = 1 << 10  // nodes
		mostText = 64 << 10 // bytes
	)
	if cap(r.nodes) > most || cap(r.exact.text) > mostText {
		return
	}
	r.exact.forget()
	clear(r.nodes[:cap(r.nodes)])
	clear(r.parameters[:cap(r.parameters)])
	clear(r.out[:cap(r.out)])
	clear(r.places)
	r.scanner.text = ""
	redactors.Put(r)
}

// text hides exact secrets and recognisable keys inside s.
func (r *redactor) text(s string) string { return r.value("", s) }

// value is text of what is given to a name.
func (r *redactor) value(name, s string) string {
	return r.scanner.hideKeys(name, strings.ToValidUTF8(r.exact.hide(s), "\uFFFD"))
}

// number hides a number that contains an exact secret.
func (r *redactor) number(s string) (string, bool) {
	if r.exact.hide(s) != s {
		return redacted, true
	}
	return s, false
}

// path hides keys in a path, also percent-encoded ones; an innocent path stays as it came.
func (r *redactor) path(raw string) string {
	plain := strings.ToValidUTF8(unescape(raw, false), "\uFFFD")
	if hidden := r.text(plain); hidden != plain || plain == raw {
		return hidden
	}
	return r.text(raw)
}

// unescape undoes percent-encoding where it is valid; in a query a plus is a space.
func unescape(s string, query bool) string {
	first := strings.IndexByte(s, '%')
	if plus := strings.IndexByte(s, '+'); query && plus >= 0 && (first < 0 || plus < first) {
		first = plus
	}
	if first < 0 {
		return s
	}
	b := append(make([]byte, 0, len(s)), s[:first]...)
	for i := first; i < len(s); i++ {
		switch {
		case s[i] == '%' && i+2 < len(s) && hexOf[s[i+1]] < 16 && hexOf[s[i+2]] < 16:
			b = append(b, hexOf[s[i+1]]<<4|hexOf[s[i+2]])
			i += 2
		case s[i] == '+' && query:
			b = append(b, ' ')
		default:
			b = append(b, s[i])
		}
	}
	return string(b)
}

// hexOf is the value of a hexadecimal digit, 255 for any other byte.
var hexOf = func() (table [256]byte) {
	for c := range table {
		table[c] = 255
	}
	for i := range byte(10) {
		table['0'+i] = i
	}
	for i := range byte(6) {
		table['a'+i], table['A'+i] = 10+i, 10+i
	}
	return table
}()

// parameter is a name of a query.
type parameter struct {
	name   string
	value  string
	more   []string // values of a name that is repeated
	values int      // that were sent
}

// query returns a JSON object of the redacted parameters: strings, and an array of them where a name is
// repeated. What is not validly encoded is kept as it stands.
func (r *redactor) query(raw string) []byte {
	r.parameters = r.parameters[:0]
	clear(r.places)
	left := 0 // parameters of names that are not kept
	for count := 0; raw != "" && count < maxParameters; {
		var pair string
		if pair, raw, _ = strings.Cut(raw, "&"); pair != "" {
			if !r.parameter(pair) {
				left++
			}
			count++
		}
	}
	if raw != "" {
		left += 1 + strings.Count(raw, "&")
	}
	r.nodes = append(r.nodes[:0], node{kind: objectNode, total: len(r.parameters) + left})
	for i := range r.parameters {
		r.parameterNodes(&r.parameters[i])
	}
	r.nodes[0].next = len(r.nodes)
	for l := (limits{maxQueryValue, maxItems, maxKeys}); ; l = l.halved() {
		if encoded, fits := r.encode(l); fits {
			return encoded
		}
	}
}

func (r *redactor) parameterNodes(p *parameter) {
	at := len(r.nodes)
	n := node{kind: stringNode, next: at + 1}
	n.setName(p.name)
	if p.values > 1 {
		n.kind, n.next, n.total = arrayNode, at+2+len(p.more), p.values
		r.nodes = append(r.nodes, n)
		for i := range len(p.more) + 1 {
			item := node{kind: stringNode, next: len(r.nodes) + 1}
			if item.setText(p.value); i > 0 {
				item.setText(p.more[i-1])
			}
			r.nodes = append(r.nodes, item)
		}
		return
	}
	n.setText(p.value)
	r.nodes = append(r.nodes, n)
}

// parameter takes one name and value of a query, and tells whether it has room. What is not kept is not
// looked at.
func (r *redactor) parameter(pair string) bool {
	rawName, rawValue, _ := strings.Cut(pair, "=")
	plain := unescape(rawName, true)
	name := r.text(plain)
	at, known := r.places[name]
	if !known && len(r.parameters) >= maxKeys {
		return false
	}
	if known && len(r.parameters[at].more) >= maxItems {
		r.parameters[at].values++
		return true
	}
	value := redacted
	// "key" is how Google's interfaces name a credential in a query; in a body it is any key.
	if !credentialName(plain) && !strings.EqualFold(plain, "key") {
		value = r.value(plain, unescape(rawValue, true))
	}
	if known {
		p := &r.parameters[at]
		p.more = append(p.more, value)
		p.values++
		return true
	}
	if r.places == nil {
		r.places = map[string]int{}
	}
	r.places[name] = len(r.parameters)
	r.parameters = append(r.parameters, parameter{name: name, value: value, values: 1})
	return true
}

// bound cuts s to limit characters and says how many more there were.
func bound(s string, limit int) string {
	kept := cut(s, limit)
	if len(kept) == len(s) {
		return s
	}
	return string(appendMore([]byte(kept), utf8.RuneCountInString(s)-limit))
}

// cut returns the first limit characters of s.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n == limit {
			return s[:i]
		}
		n++
	}
	return s
}
