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
	plain := normalise(name)
	if nameIs[plain] {
		return true
	}
	for _, part := range nameHas {
		if strings.Contains(plain, part) {
			return !strings.Contains(plain, "secretar")
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

// assigned returns the value that text like `password=…`, `"api_key": "…"` or `Cookie: …` gives to
// a credential's name; s[i] is the sign between them.
func assigned(s string, i int) (start, end int) {
	nameEnd := i
	for nameEnd > 0 && i-nameEnd < 4 && strings.IndexByte(" \"'\\`", s[nameEnd-1]) >= 0 {
		nameEnd--
	}
	nameStart := nameEnd
	for nameStart > 0 && nameEnd-nameStart < 64 && nameByte(s[nameStart-1]) {
		nameStart--
	}
	if nameStart == nameEnd || !credentialName(s[nameStart:nameEnd]) {
		return 0, 0
	}
	start = i + 1
	if start < len(s) && s[start] == '=' || start < len(s) && s[start] == '>' { // "==", "=>"
		start++
	}
	for start < len(s) && (s[start] == ' ' || s[start] == '\t') {
		start++
	}
	for start < len(s) && s[start] == '\\' {
		start++
	}
	end = valueEnd(s, start, wholeLine(s[nameStart:nameEnd]))
	if start < end && (s[start] == '"' || s[start] == '\'' || s[start] == '`') {
		start++
	}
	if start >= end || strings.HasPrefix(s[start:], redacted) {
		return 0, 0
	}
	return start, end
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
