package calls

import (
	"slices"
	"strings"
)

// refCredentialName tells whether a field or parameter of this name holds a credential. Token counts
// (max_tokens, prompt_tokens …) do not.
func refCredentialName(name string) bool {
	if len(name) > 128 {
		name = name[len(name)-128:]
	}
	plain := strings.ReplaceAll(refNormalise(name), "secretar", "") // people, not secrets
	if slices.Contains(nameIs, plain) {
		return true
	}
	for _, part := range nameHas {
		if strings.Contains(plain, part) {
			return true
		}
	}
	for _, end := range nameEnds {
		if strings.HasSuffix(plain, end) {
			return !slices.Contains(nameNot, plain)
		}
	}
	return false
}

func refNormalise(name string) string {
	clean := true
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' || strings.IndexByte("-_. []", c) >= 0 {
			clean = false
			break
		}
	}
	if clean {
		return name
	}
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		case strings.ContainsRune("-_. []", c):
			return -1
		}
		return c
	}, name)
}

// refAssigned returns the value that text like `password=…`, `"api_key": "…"`, `Cookie: …` or
// `"name":"password","value":"…"` gives to a credential's name; s[i] is the sign between them.
func refAssigned(s string, i int) (start, end int) {
	nameStart, nameEnd := refNameBefore(s, i)
	name := s[nameStart:nameEnd]
	switch {
	case refCredentialName(name):
	case strings.EqualFold(name, "value") && refLabelled(s, nameStart, i):
	default:
		return 0, 0
	}
	start = refValueStart(s, i)
	end = refValueEnd(s, start, refWholeLine(name))
	if start < end && (s[start] == '"' || s[start] == '\'' || s[start] == '`') {
		start++
	}
	if start >= end || strings.HasPrefix(s[start:], redacted) {
		return 0, 0
	}
	return start, end
}

// refMaxQuoting bounds the quotes and backslashes around a name: JSON inside JSON doubles them.
const refMaxQuoting = 64

// refNameBefore returns the span of the name before the sign at s[i].
func refNameBefore(s string, i int) (start, end int) {
	end = i
	for end > 0 && i-end < refMaxQuoting && strings.IndexByte(" \"'\\`", s[end-1]) >= 0 {
		end--
	}
	start = end
	for start > 0 && end-start < 64 && refNameByte(s[start-1]) {
		start--
	}
	return start, end
}

// refValueStart returns where the value after the sign at s[i] refBegins, at its quote if it has one.
func refValueStart(s string, i int) int {
	start := i + 1
	if start < len(s) && s[start] == '=' || start < len(s) && s[start] == '>' { // "==", "=>"
		start++
	}
	for start < len(s) && (s[start] == ' ' || s[start] == '\t') {
		start++
	}
	for start < len(s) && s[start] == '\\' {
		start++
	}
	return start
}

// refLabelWindow is how far, in bytes, a label may stand from the value it names.
const refLabelWindow = 256

// refLabelled tells whether the value between s[from] and what follows s[to] stands beside a label that
// holds a credential's name, as in `"name":"password","value":…`. Braces keep one refObject's label
// from another's value.
func refLabelled(s string, from, to int) bool {
	least, depth := max(0, from-refLabelWindow), 0
	for i := from - 1; i >= least; i-- {
		switch s[i] {
		case '}':
			depth++
		case '{':
			if depth--; depth < 0 {
				least = i
			}
		}
	}
	most := min(len(s), to+refLabelWindow)
	depth = 0
	for i := to; i < most; i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				most = i
			}
		}
	}
	for i := least; i < most; i++ {
		if s[i] == ':' || s[i] == '=' {
			if refLabels(s[least:most], i-least) {
				return true
			}
		}
	}
	return false
}

// refLabels tells whether the sign at s[i] gives a credential's name to a field that refLabels another.
func refLabels(s string, i int) bool {
	nameStart, nameEnd := refNameBefore(s, i)
	switch refNormalise(s[nameStart:nameEnd]) {
	case "name", "key", "header", "field":
	default:
		return false
	}
	start := refValueStart(s, i)
	if start < len(s) && strings.IndexByte("\"'`", s[start]) >= 0 {
		start++
	}
	end := start
	for end < len(s) && refNameByte(s[end]) {
		end++
	}
	return refCredentialName(s[start:end])
}

// refWholeLine tells whether a value of this name may hold spaces, as header values do.
func refWholeLine(name string) bool {
	plain := refNormalise(name)
	return strings.Contains(plain, "authori") || strings.Contains(plain, "cookie")
}

func refValueEnd(s string, start int, line bool) int {
	if start >= len(s) {
		return start
	}
	stop := " \t\r\n,;&\"'`\\)}]<>"
	if line {
		stop = "\r\n\"'`\\"
	}
	end := start
	if q := s[start]; q == '"' || q == '\'' || q == '`' {
		stop, end = string(q)+"\r\n", start+1
	}
	for end < len(s) && strings.IndexByte(stop, s[end]) < 0 {
		end++
	}
	if end > start && s[end-1] == '\\' && end < len(s) {
		end-- // the escape belongs to the closing quote
	}
	return end
}

// refNameByte accepts the bytes of a name, those of other scripts too.
func refNameByte(c byte) bool {
	return refAlnum(c) || c == '_' || c == '-' || c == '.' || c >= 0x80
}
