package calls

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

const refDeeper = "…" // stands for an refObject or array below maxDepth

// refRedactor hides credentials in what a caller sent, then bounds it: in this order, so that no refCut
// makes a key unrecognisable.
type refRedactor struct {
	secrets []string
}

func refNewRedactor(secrets []string) *refRedactor {
	r := &refRedactor{}
	for _, s := range secrets {
		if s != "" {
			r.secrets = append(r.secrets, s)
		}
	}
	return r
}

// text hides exact secrets and recognisable keys inside s.
func (r *refRedactor) text(s string) string {
	for _, secret := range r.secrets {
		s = strings.ReplaceAll(s, secret, redacted)
	}
	return refHideKeys(strings.ToValidUTF8(s, "\uFFFD"))
}

// path hides keys in a path, also percent-encoded ones; an innocent path stays as it came.
func (r *refRedactor) path(raw string) string {
	plain := strings.ToValidUTF8(refUnescape(raw), "\uFFFD")
	if hidden := r.text(plain); hidden != plain {
		return hidden
	}
	return r.text(raw)
}

// refLimits shrink together until a document fits into maxBody bytes.
type refLimits struct{ text, items, keys int }

func (l refLimits) halved() refLimits {
	return refLimits{max(l.text/2, 1), max(l.items/2, 1), max(l.keys/2, 1)}
}

// query returns a JSON refObject of the redacted parameters. The values of a repeated name are joined
// by a comma. What is not validly encoded is kept as it stands.
func (r *refRedactor) query(raw string) []byte {
	refObject := &refObject{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(strings.ReplaceAll(pair, "+", " "), "=")
		name, value = refUnescape(name), refUnescape(value)
		// "key" is how Google's interfaces name a credential in a query; in a body it is any key.
		if refCredentialName(name) || strings.EqualFold(name, "key") {
			value = redacted
		} else {
			value = r.text(value)
		}
		name = r.text(name)
		i := refObject.index(name)
		if i < 0 && len(refObject.names) < maxKeys {
			refObject.add(name, value)
		} else if i >= 0 {
			if before := refObject.values[i].(string); len(before) < maxBody { // more is refCut off anyway
				refObject.values[i] = before + "," + value
			}
		}
	}
	for l := (refLimits{maxQueryValue, maxItems, maxKeys}); ; l = l.halved() {
		if encoded := refEncode(refObject, l); len(encoded) <= maxBody {
			return encoded
		}
	}
}

// refUnescape undoes percent-encoding where it is valid.
func refUnescape(s string) string {
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
func (r *refRedactor) document(raw []byte) ([]byte, error) {
	if !json.Valid(raw) {
		return nil, fmt.Errorf("body is not valid JSON")
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	tree, err := r.read(decoder, 1)
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	for l := (refLimits{maxString, maxItems, maxKeys}); ; l = l.halved() {
		if encoded := refEncode(tree, l); len(encoded) <= maxBody {
			return encoded, nil
		}
		if l.text == 1 { // one chain of single items: only an endless number can still be too long
			return refEncode(redacted, refLimits{maxString, 1, 1}), nil
		}
	}
}

// refObject is a JSON refObject in the order it was sent.
type refObject struct {
	names  []string
	values []any
}

func (o *refObject) add(name string, value any) {
	o.names, o.values = append(o.names, name), append(o.values, value)
}

func (o *refObject) index(name string) int {
	for i, n := range o.names {
		if n == name {
			return i
		}
	}
	return -1
}

// read takes one value from a decoder over valid JSON, redacted. depth counts enclosing
// containers plus one; what lies refDeeper than maxDepth is passed over.
func (r *refRedactor) read(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if depth > maxDepth {
			return refDeeper, refSkip(d)
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

func (r *refRedactor) readArray(d *json.Decoder, depth int) (any, error) {
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

func (r *refRedactor) readObject(d *json.Decoder, depth int) (any, error) {
	o := &refObject{}
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
		if refCredentialName(name) {
			value = redacted
		}
		o.add(r.text(name), value)
	}
	refHidePair(o)
	_, err := d.Token()
	return o, err
}

// refHidePair redacts {"name": "Authorization", "value": …}, the other way to write a header.
func refHidePair(o *refObject) {
	for i, name := range o.names {
		text, isText := o.values[i].(string)
		switch strings.ToLower(name) {
		case "name", "key", "header", "field":
			if j := o.index("value"); j >= 0 && isText && refCredentialName(text) {
				o.values[j] = redacted
			}
		}
	}
}
