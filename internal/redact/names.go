package redact

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
	nameIs = []string{"auth", "jwt", "sig", "ak", "sk", "pass", "bearer", "pin", "otp", "totp", "pincode", "otpcode"}
	// Tokens of a language model, not of an identity.
	nameNot = []string{
		"bostoken", "eostoken", "padtoken", "stoptoken", "unktoken", "septoken", "clstoken", "masktoken",
		"spacebetweenspecialtoken",
	}
)

// credentialName tells whether a field or parameter of this name holds a credential. Token counts
// (max_tokens, prompt_tokens …) do not. Of a long name its end decides. Each byte is looked at once,
// or twice where a secretary is mentioned.
func credentialName(name string) bool {
	const most = 128 // bytes
	if len(name) > most {
		name = name[len(name)-most:]
	}
	found, secretary := names.match(name)
	if !secretary {
		return found
	}
	var plain [most]byte // without separators: they may stand in the middle of the word
	short := plain[:0]
	for i := range len(name) {
		if class := names.classes[name[i]]; class != separator {
			short = append(short, lower(name[i]))
		}
	}
	found, secretary = names.match(strings.ReplaceAll(string(short), "secretar", ""))
	return found || secretary
}

// assigned returns the value that text like `password=…`, `"api_key": "…"`, `Cookie: …` or
// `"name":"password","value":"…"` gives to a credential's name; text[i] is the sign between them.
// Names and values are never shared by two signs, so that all of them are looked at once.
func (sc *scanner) assigned(i int) (start, end int) {
	s := sc.text
	nameStart, nameEnd := nameBefore(s, i)
	name := s[nameStart:nameEnd]
	switch {
	case credentialName(name):
		if short := len(name) <= len("totp"); short && isCode(name) && valueEnd(s, valueStart(s, i), false)-valueStart(s, i) < leastCode {
			return 0, 0 // pin = 13, of a board
		}
	case isValue(name) && sc.labelled(i):
	default:
		return 0, 0
	}
	start = valueStart(s, i)
	quoted := start < len(s) && isQuote(s[start])
	content := start
	if quoted {
		content++
	}
	// Before its end is looked for: a line of values that are hidden already must not be gone through
	// once for each of them.
	if strings.HasPrefix(s[content:], redacted) {
		return 0, 0
	}
	if end = valueEnd(s, start, wholeLine(name)); content >= end {
		return 0, 0
	}
	return content, end
}

// leastCode is how long the value of a code is, where text and no JSON gives it.
const leastCode = 4

// isCode tells whether a name is that of a code that people type.
func isCode(name string) bool {
	return strings.EqualFold(name, "pin") || strings.EqualFold(name, "otp")
}

// paired returns the second of a pair like ["x-api-key", "…"] in text, between which the comma at text[i] stands.
func (sc *scanner) paired(i int) (start, end int) {
	s := sc.text
	nameStart, nameEnd := nameBefore(s, i)
	if nameEnd == i || !isQuote(s[nameEnd]) && s[nameEnd] != '\\' || !credentialName(s[nameStart:nameEnd]) {
		return 0, 0
	}
	open := nameStart
	for open > 0 && nameStart-open < maxQuoting && traits[s[open-1]]&quoteTrait != 0 {
		open--
	}
	if open == nameStart || open == 0 || s[open-1] != '[' && s[open-1] != '(' {
		return 0, 0
	}
	sign := open - 1
	for sign > 0 && open-sign < maxQuoting && space(s[sign-1]) {
		sign--
	}
	if sign > 0 && s[sign-1] == ':' {
		if from, to := nameBefore(s, sign-1); listsNames(s[from:to]) {
			return 0, 0
		}
	}
	start = valueStart(s, i)
	if start >= len(s) || !isQuote(s[start]) || strings.HasPrefix(s[start+1:], redacted) {
		return 0, 0
	}
	end = valueEnd(s, start, false)
	closing := end
	for closing < len(s) && closing-end < maxQuoting && traits[s[closing]]&quoteTrait != 0 {
		closing++
	}
	if closing == end || closing == len(s) || s[closing] != ']' && s[closing] != ')' || start+1 >= end {
		return 0, 0
	}
	return start + 1, end
}

func isValue(name string) bool { return len(name) == len("value") && strings.EqualFold(name, "value") }

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// maxQuoting bounds the quotes and backslashes around a name: JSON inside JSON doubles them.
const maxQuoting = 64

// nameBefore returns the span of the name before the sign at s[i].
func nameBefore(s string, i int) (start, end int) {
	end = i
	for end > 0 && i-end < maxQuoting && traits[s[end-1]]&quoteTrait != 0 {
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

// wholeLine tells whether a value of this name may hold spaces, as header values do.
func wholeLine(name string) bool {
	plain := normalise(name)
	return strings.Contains(plain, "authori") || strings.Contains(plain, "cookie")
}

// normalise returns a name in lower case without separators.
func normalise(name string) string {
	clean := true
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' || isSeparator(c) {
			clean = false
			break
		}
	}
	if clean {
		return name
	}
	plain := make([]byte, 0, len(name))
	for i := range len(name) {
		if !isSeparator(name[i]) {
			plain = append(plain, lower(name[i]))
		}
	}
	return string(plain)
}

func valueEnd(s string, start int, line bool) int {
	if start >= len(s) {
		return start
	}
	end := start
	switch q := s[start]; {
	case isQuote(q):
		for end++; end < len(s) && s[end] != q && s[end] != '\r' && s[end] != '\n'; {
			end++
		}
	case line:
		for end < len(s) && traits[s[end]]&lineTrait == 0 {
			end++
		}
	default:
		for end < len(s) && traits[s[end]]&stopTrait == 0 {
			end++
		}
	}
	if end > start && s[end-1] == '\\' && end < len(s) {
		end-- // the escape belongs to the closing quote
	}
	return end
}
