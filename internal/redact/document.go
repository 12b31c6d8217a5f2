package redact

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// kind is what a node stands for.
type kind uint8

const (
	plainNode  kind = iota // a number, true, false or null, as it was sent
	stringNode             // text
	objectNode             // its fields follow, up to next
	arrayNode              // its items follow, up to next
)

// node is a value of a document that may be kept. The nodes of a document lie in the order in which
// they are written.
type node struct {
	kind      kind
	name      string // of a field
	nameRunes int
	text      string
	textRunes int
	next      int // node after the value
	total     int // items or fields that it was sent with
}

func (n *node) setName(name string) { n.name, n.nameRunes = name, utf8.RuneCountInString(name) }
func (n *node) setText(text string) { n.text, n.textRunes = text, utf8.RuneCountInString(text) }

var errNotJSON = errors.New("body is not valid JSON")

// document returns a JSON document redacted, within the bounds and in at most maxBody bytes.
func (r *redactor) document(raw []byte) ([]byte, error) {
	d := jsonReader{text: string(raw)}
	r.nodes = r.nodes[:0]
	r.node(&d, 1, "")
	if d.end(); d.failed {
		return nil, errNotJSON
	}
	for l := (limits{maxString, maxItems, maxKeys}); ; l = l.halved() {
		if encoded, fits := r.encode(l); fits {
			return encoded, nil
		}
		if l.text == 1 { // one chain of single items: only an endless number can still be too long
			return []byte(`"` + redacted + `"`), nil
		}
	}
}

// node adds the next value as nodes, redacted. depth counts enclosing containers plus one; what lies
// deeper than maxDepth is passed over, and so is whatever else is not kept.
func (r *redactor) node(d *jsonReader, depth int, name string) {
	at := len(r.nodes)
	n := node{}
	n.setName(name)
	switch c := d.peek(); {
	case (c == '{' || c == '[') && depth > maxDepth:
		d.skip()
		n.kind = stringNode
		n.setText(deeper)
	case c == '{':
		n.kind = objectNode
		r.nodes = append(r.nodes, n)
		total := r.fields(d, depth)
		r.nodes[at].next, r.nodes[at].total = len(r.nodes), total
		return
	case c == '[':
		n.kind = arrayNode
		r.nodes = append(r.nodes, n)
		total := r.items(d, depth, name)
		r.nodes[at].next, r.nodes[at].total = len(r.nodes), total
		return
	case c == '"':
		n.kind = stringNode
		n.setText(r.value(name, d.str()))
	default:
		text, hidden := r.number(d.plain())
		if hidden {
			n.kind = stringNode
		}
		n.setText(text)
	}
	n.next = at + 1
	r.nodes = append(r.nodes, n)
}

// items adds the items of an array of this name, and returns how many there are. ["Authorization", …] is redacted
// too, a third way to write a header; many of them may stand in one array, one after the other.
func (r *redactor) items(d *jsonReader, depth int, name string) (total int) {
	d.at++
	first, label := len(r.nodes), false
	many := strings.Contains(normalise(name), "header")
	for d.more(']', total) {
		if total >= maxItems {
			d.skip()
			total++
			continue
		}
		at := len(r.nodes)
		r.node(d, depth+1, "")
		if label && many && total%2 == 1 {
			r.hide(at)
		}
		label = r.nodes[at].kind == stringNode && credentialName(r.nodes[at].text)
		total++
	}
	pair := total == 2 && first < len(r.nodes) && r.nodes[first].kind == stringNode && r.nodes[first].next == len(r.nodes)-1
	if pair && !listsNames(name) && r.nodes[first+1].kind == stringNode && credentialName(r.nodes[first].text) {
		r.hide(first + 1)
	}
	return total
}

// hide takes a value's text away.
func (r *redactor) hide(at int) {
	n := &r.nodes[at]
	n.kind, n.next = stringNode, at+1
	n.setText(redacted)
	r.nodes = r.nodes[:at+1]
}

// listsNames tells whether what a field of this name lists are names and no values: a JSON schema's, and a table's.
func listsNames(name string) bool {
	switch name {
	case "required", "enum", "fields", "columns", "names", "order", "keys":
		return true
	}
	return false
}

// fields adds the fields of an object, and returns how many there are. {"name": "Authorization", "value": …} is redacted as well, the
// other way to write a header.
func (r *redactor) fields(d *jsonReader, depth int) (total int) {
	d.at++
	valueAt, label := -1, false
	for ; d.more('}', total); total++ {
		plain := d.name()
		if total >= maxKeys {
			d.skip()
			continue
		}
		at, name := len(r.nodes), r.text(plain)
		if credentialName(plain) {
			d.skip()
			n := node{kind: stringNode, next: at + 1}
			n.setName(name)
			n.setText(redacted)
			r.nodes = append(r.nodes, n)
		} else {
			r.node(d, depth+1, name)
		}
		if valueAt < 0 && isValue(name) {
			valueAt = at
		}
		label = label || isLabel(name) && r.nodes[at].kind == stringNode && credentialName(r.nodes[at].text)
	}
	if label && valueAt >= 0 {
		r.nodes[valueAt].kind = stringNode
		r.nodes[valueAt].setText(redacted)
	}
	return total
}

// isLabel tells whether a field of this name may say what its neighbour "value" is.
func isLabel(name string) bool {
	const longest = 3 * len("header") // in bytes: there are capitals of other scripts among them
	if len(name) > longest {
		return false
	}
	switch strings.ToLower(name) {
	case "name", "key", "header", "field":
		return true
	}
	return false
}
