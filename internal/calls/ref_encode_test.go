package calls

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// refSkip passes over the rest of a container whose opening was just read.
func refSkip(d *json.Decoder) error {
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

// refEncode writes a value in compact JSON within refLimits.
func refEncode(v any, l refLimits) []byte { return refAppendJSON(nil, v, l) }

func refAppendJSON(b []byte, v any, l refLimits) []byte {
	switch v := v.(type) {
	case *refObject:
		b = append(b, '{')
		for i := range min(len(v.names), l.keys) {
			if i > 0 {
				b = append(b, ',')
			}
			b = refAppendString(b, refBound(v.names[i], l.text))
			b = refAppendJSON(append(b, ':'), v.values[i], l)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i := range min(len(v), l.items) {
			if i > 0 {
				b = append(b, ',')
			}
			b = refAppendJSON(b, v[i], l)
		}
		return append(b, ']')
	case string:
		return refAppendString(b, refBound(v, l.text))
	case json.Number:
		return append(b, v...)
	case bool:
		return strconv.AppendBool(b, v)
	default:
		return append(b, "null"...)
	}
}

// refAppendString writes a JSON string; s must be valid UTF-8.
func refAppendString(b []byte, s string) []byte {
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

// refBound cuts s to limit characters and says how many more there were. A redaction mark is no
// content and stays whole.
func refBound(s string, limit int) string {
	if len(s) <= limit || s == redacted {
		return s
	}
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	return refCut(s, limit) + "…(+" + strconv.Itoa(n-limit) + ")"
}

// refCut returns the first limit characters of s.
func refCut(s string, limit int) string {
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
