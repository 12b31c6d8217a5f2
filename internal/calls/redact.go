package calls

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of what is kept (api.md, "Redaction bounds"); lengths in characters.
const (
	maxString     = 1_024
	maxItems      = 50
	maxKeys       = 100
	maxDepth      = 8
	maxQueryValue = 512
	maxMessage    = 1_024
)

const (
	redacted = "[REDACTED]"
	deeper   = "…" // stands for an object or array below maxDepth
)

// redactor hides credentials in what a caller sent, then bounds it: in this order, so that no cut
// makes a key unrecognisable.
type redactor struct {
	secrets []string
}

func newRedactor(secrets []string) *redactor {
	r := &redactor{}
	for _, s := range secrets {
		if s != "" {
			r.secrets = append(r.secrets, s)
		}
	}
	return r
}

// text hides exact secrets and recognisable keys inside s.
func (r *redactor) text(s string) string {
	for _, secret := range r.secrets {
		s = strings.ReplaceAll(s, secret, redacted)
	}
	return hideKeys(strings.ToValidUTF8(s, "\uFFFD"))
}

// path hides keys in a path, also percent-encoded ones; an innocent path stays as it came.
func (r *redactor) path(raw string) string {
	plain := strings.ToValidUTF8(unescape(raw), "\uFFFD")
	if hidden := r.text(plain); hidden != plain {
		return hidden
	}
	return r.text(raw)
}

// limits shrink together until a document fits into maxBody bytes.
type limits struct{ text, items, keys int }

func (l limits) halved() limits {
	return limits{max(l.text/2, 1), max(l.items/2, 1), max(l.keys/2, 1)}
}

// query returns a JSON object of the redacted parameters. The values of a repeated name are joined
// by a comma. What is not validly encoded is kept as it stands.
func (r *redactor) query(raw string) []byte {
	object := &object{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(strings.ReplaceAll(pair, "+", " "), "=")
		name, value = unescape(name), unescape(value)
		// "key" is how Google's interfaces name a credential in a query; in a body it is any key.
		if credentialName(name) || strings.EqualFold(name, "key") {
			value = redacted
		} else {
			value = r.text(value)
		}
		name = r.text(name)
		i := object.index(name)
		if i < 0 && len(object.names) < maxKeys {
			object.add(name, value)
		} else if i >= 0 {
			if before := object.values[i].(string); len(before) < maxBody { // more is cut off anyway
				object.values[i] = before + "," + value
			}
		}
	}
	for l := (limits{maxQueryValue, maxItems, maxKeys}); ; l = l.halved() {
		if encoded := encode(object, l); len(encoded) <= maxBody {
			return encoded
		}
	}
}

// unescape undoes percent-encoding where it is valid.
func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(c))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// document returns a JSON document redacted, within the bounds and in at most maxBody bytes.
func (r *redactor) document(raw []byte) ([]byte, error) {
	if !json.Valid(raw) {
		return nil, fmt.Errorf("body is not valid JSON")
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	tree, err := r.read(decoder, 1)
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	for l := (limits{maxString, maxItems, maxKeys}); ; l = l.halved() {
		if encoded := encode(tree, l); len(encoded) <= maxBody {
			return encoded, nil
		}
		if l.text == 1 { // one chain of single items: only an endless number can still be too long
			return encode(redacted, limits{maxString, 1, 1}), nil
		}
	}
}

// object is a JSON object in the order it was sent.
type object struct {
	names  []string
	values []any
}

func (o *object) add(name string, value any) {
	o.names, o.values = append(o.names, name), append(o.values, value)
}

func (o *object) index(name string) int {
	for i, n := range o.names {
		if n == name {
			return i
		}
	}
	return -1
}

// read takes one value from a decoder over valid JSON, redacted. depth counts enclosing
// containers plus one; what lies deeper than maxDepth is passed over.
func (r *redactor) read(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if depth > maxDepth {
			return deeper, skip(d)
		}
		if token == '{' {
			return r.readObject(d, depth)
		}
		return r.readArray(d, depth)
	case string:
		return r.text(token), nil
	case json.Number:
		for _, secret := range r.secrets {
			if strings.Contains(token.String(), secret) {
				return redacted, nil
			}
		}
	}
	return token, nil
}

func (r *redactor) readArray(d *json.Decoder, depth int) (any, error) {
	items := []any{}
	for d.More() {
		item, err := r.read(d, depth+1)
		if err != nil {
			return nil, err
		}
		if len(items) < maxItems {
			items = append(items, item)
		}
	}
	_, err := d.Token()
	return items, err
}

func (r *redactor) readObject(d *json.Decoder, depth int) (any, error) {
	o := &object{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		value, err := r.read(d, depth+1)
		if err != nil {
			return nil, err
		}
		if len(o.names) >= maxKeys {
			continue
		}
		name, _ := token.(string)
		if credentialName(name) {
			value = redacted
		}
		o.add(r.text(name), value)
	}
	hidePair(o)
	_, err := d.Token()
	return o, err
}

// hidePair redacts {"name": "Authorization", "value": …}, the other way to write a header.
func hidePair(o *object) {
	for i, name := range o.names {
		text, isText := o.values[i].(string)
		switch strings.ToLower(name) {
		case "name", "key", "header", "field":
			if j := o.index("value"); j >= 0 && isText && credentialName(text) {
				o.values[j] = redacted
			}
		}
	}
}

// skip passes over the rest of a container whose opening was just read.
func skip(d *json.Decoder) error {
	for open := 1; open > 0; {
		token, err := d.Token()
		if err != nil {
			return err
		}
		if delim, ok := token.(json.Delim); ok {
			if delim == '{' || delim == '[' {
				open++
			} else {
				open--
			}
		}
	}
	return nil
}

// encode writes a value in compact JSON within limits.
func encode(v any, l limits) []byte { return appendJSON(nil, v, l) }

func appendJSON(b []byte, v any, l limits) []byte {
	switch v := v.(type) {
	case *object:
		b = append(b, '{')
		for i := range min(len(v.names), l.keys) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, bound(v.names[i], l.text))
			b = appendJSON(append(b, ':'), v.values[i], l)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i := range min(len(v), l.items) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, v[i], l)
		}
		return append(b, ']')
	case string:
		return appendString(b, bound(v, l.text))
	case json.Number:
		return append(b, v...)
	case bool:
		return strconv.AppendBool(b, v)
	default:
		return append(b, "null"...)
	}
}

// appendString writes a JSON string; s must be valid UTF-8.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c < 0x20 || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// bound cuts s to limit characters and says how many more there were. A redaction mark is no
// content and stays whole.
func bound(s string, limit int) string {
	if len(s) <= limit || s == redacted {
		return s
	}
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	return cut(s, limit) + "…(+" + strconv.Itoa(n-limit) + ")"
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
