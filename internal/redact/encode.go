package redact

import (
	"bytes"
	"strconv"
)

// limits shrink together until a document fits into maxBody bytes.
type limits struct{ text, items, keys int }

func (l limits) halved() limits {
	return limits{max(l.text/2, 1), max(l.items/2, 1), max(l.keys/2, 1)}
}

// encode writes the nodes in compact JSON within limits. It gives up as soon as that takes more than
// maxBody bytes.
func (r *redactor) encode(l limits) (encoded []byte, fits bool) {
	r.out = r.appendNode(r.out[:0], 0, l)
	if len(r.out) > maxBody {
		return nil, false
	}
	return bytes.Clone(r.out), true
}

func (r *redactor) appendNode(b []byte, at int, l limits) []byte {
	n := &r.nodes[at]
	switch n.kind {
	case plainNode:
		return append(b, n.text...)
	case stringNode:
		return appendString(b, n.text, n.textRunes, l.text)
	}
	open, end, most := byte('['), byte(']'), l.items
	if n.kind == objectNode {
		open, end, most = '{', '}', l.keys
	}
	b = append(b, open)
	count := 0
	for child := at + 1; child < n.next && count < most && len(b) <= maxBody; count++ {
		if count > 0 {
			b = append(b, ',')
		}
		c := &r.nodes[child]
		if n.kind == objectNode {
			b = append(appendString(b, c.name, c.nameRunes, l.text), ':')
		}
		b = r.appendNode(b, child, l)
		child = c.next
	}
	if cut := n.total - count; cut > 0 { // says so, as an item or field of its own
		if n.kind == objectNode {
			b = append(appendMore(append(b, `,"…":"`...), cut), '"')
		} else {
			b = append(appendMore(append(b, `,"`...), cut), '"')
		}
	}
	return append(b, end)
}

// appendString writes a string as JSON, cut to limit characters with a word on how many more there
// were. s must be valid UTF-8 of so many characters. A redaction mark is no content and stays whole.
func appendString(b []byte, s string, runes, limit int) []byte {
	kept := s
	if runes > limit && s != redacted {
		if kept = s[:min(limit, len(s))]; runes < len(s) {
			kept = cut(s, limit)
		}
	}
	b = append(b, '"')
	plain := 0 // from where on kept is not written yet
	for i := range len(kept) {
		if traits[kept[i]]&escapeTrait == 0 {
			continue
		}
		b = append(b, kept[plain:i]...)
		plain = i + 1
		switch c := kept[i]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		default:
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	b = append(b, kept[plain:]...)
	if len(kept) < len(s) {
		b = appendMore(b, runes-limit)
	}
	return append(b, '"')
}

// appendMore says how many characters were cut off.
func appendMore(b []byte, count int) []byte {
	return append(strconv.AppendInt(append(b, "…(+"...), int64(count), 10), ')')
}
