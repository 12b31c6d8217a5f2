package calls

import "strings"

// Names of credentials, compared in lower case without separators ("X-Api_Key" is "xapikey").
var (
	nameHas = []string{
		"apikey", "accesskey", "secret", "password", "passwd", "passphrase", "passcode", "authorization",
		"authorisation", "cookie", "privatekey", "credential", "密码", "口令", "密钥", "令牌",
	}
	nameEnds = []string{
		"token", "pwd", "authkey", "appkey", "clientkey", "signingkey", "sharedkey", "masterkey",
		"encryptionkey", "subscriptionkey", "sshkey", "licensekey", "signature", "sessionid",
	}
	nameIs = map[string]bool{"auth": true, "jwt": true, "sig": true, "ak": true, "sk": true, "pass": true, "bearer": true}
	// Tokens of a language model, not of an identity.
	nameNot = map[string]bool{
		"bostoken": true, "eostoken": true, "padtoken": true, "stoptoken": true, "unktoken": true,
		"septoken": true, "clstoken": true, "masktoken": true, "spacebetweenspecialtoken": true,
	}
)

// credentialName tells whether a field or parameter of this name holds a credential. Token counts
// (max_tokens, prompt_tokens …) do not.
func credentialName(name string) bool {
	if len(name) > 128 {
		name = name[len(name)-128:]
	}
	plain := strings.ReplaceAll(normalise(name), "secretar", "") // people, not secrets
	if nameIs[plain] {
		return true
	}
	for _, part := range nameHas {
		if strings.Contains(plain, part) {
			return true
		}
	}
	for _, end := range nameEnds {
		if strings.HasSuffix(plain, end) {
			return !nameNot[plain]
		}
	}
	return false
}

func normalise(name string) string {
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

// assigned returns the value that text like `password=…`, `"api_key": "…"`, `Cookie: …` or
// `"name":"password","value":"…"` gives to a credential's name; s[i] is the sign between them.
func assigned(s string, i int) (start, end int) {
	nameStart, nameEnd := nameBefore(s, i)
	name := s[nameStart:nameEnd]
	switch {
	case credentialName(name):
	case strings.EqualFold(name, "value") && labelled(s, nameStart, i):
	default:
		return 0, 0
	}
	start = valueStart(s, i)
	end = valueEnd(s, start, wholeLine(name))
	if start < end && (s[start] == '"' || s[start] == '\'' || s[start] == '`') {
		start++
	}
	if start >= end || strings.HasPrefix(s[start:], redacted) {
		return 0, 0
	}
	return start, end
}

// maxQuoting bounds the quotes and backslashes around a name: JSON inside JSON doubles them.
const maxQuoting = 64

// nameBefore returns the span of the name before the sign at s[i].
func nameBefore(s string, i int) (start, end int) {
	end = i
	for end > 0 && i-end < maxQuoting && strings.IndexByte(" \"'\\`", s[end-1]) >= 0 {
		end--
	}
	start = end
	for start > 0 && end-start < 64 && nameByte(s[start-1]) {
		start--
	}
	return start, end
}

// valueStart returns where the value after the sign at s[i] begins, at its quote if it has one.
func valueStart(s string, i int) int {
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

// labelWindow is how far, in bytes, a label may stand from the value it names.
const labelWindow = 256

// labelled tells whether the value between s[from] and what follows s[to] stands beside a label that
// holds a credential's name, as in `"name":"password","value":…`. Braces keep one object's label
// from another's value.
func labelled(s string, from, to int) bool {
	least, depth := max(0, from-labelWindow), 0
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
	most := min(len(s), to+labelWindow)
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
			if labels(s[least:most], i-least) {
				return true
			}
		}
	}
	return false
}

// labels tells whether the sign at s[i] gives a credential's name to a field that labels another.
func labels(s string, i int) bool {
	nameStart, nameEnd := nameBefore(s, i)
	switch normalise(s[nameStart:nameEnd]) {
	case "name", "key", "header", "field":
	default:
		return false
	}
	start := valueStart(s, i)
	if start < len(s) && strings.IndexByte("\"'`", s[start]) >= 0 {
		start++
	}
	end := start
	for end < len(s) && nameByte(s[end]) {
		end++
	}
	return credentialName(s[start:end])
}

// wholeLine tells whether a value of this name may hold spaces, as header values do.
func wholeLine(name string) bool {
	plain := normalise(name)
	return strings.Contains(plain, "authori") || strings.Contains(plain, "cookie")
}

func valueEnd(s string, start int, line bool) int {
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

// nameByte accepts the bytes of a name, those of other scripts too.
func nameByte(c byte) bool {
	return alnum(c) || c == '_' || c == '-' || c == '.' || c >= 0x80
}
