package redact

import (
	"encoding/base64"
	"strings"
)

// jwtEnd returns the end of a JSON Web Token (header, payload and maybe more parts) at s[i], or 0
// and up to where none begins.
func jwtEnd(s string, i int) (end, noJWT int) {
	if !strings.HasPrefix(s[i:], "eyJ") {
		return 0, 0
	}
	end = i
	for parts := 0; ; {
		from := end
		for end < len(s) && (alnum(s[end]) || s[end] == '-' || s[end] == '_' || s[end] == '=') {
			end++
		}
		if parts == 0 {
			noJWT = end
		}
		if end-from < 4 && parts < 2 {
			return 0, noJWT
		}
		parts++
		if end == len(s) || s[end] != '.' || parts == 5 { // five when encrypted
			if parts < 2 {
				return 0, noJWT
			}
			return end, noJWT
		}
		end++
	}
}

// scheme returns the credential after "Bearer" or "Basic", also where a word runs into these: the
// word may be the n of an escaped line feed.
func scheme(s string, i int) (start, end int) {
	word := 0
	for _, name := range []string{"bearer", "basic"} {
		if len(s)-i > len(name) && strings.EqualFold(s[i:i+len(name)], name) {
			word = len(name)
		}
	}
	if word == 0 || !space(s[i+word]) {
		return 0, 0
	}
	start = i + word
	for start < len(s) && space(s[start]) {
		start++
	}
	end = start
	if word == len("basic") {
		for end < len(s) && (alnum(s[end]) || s[end] == '+' || s[end] == '/') {
			end++
		}
		if !userAndPassword(s[start:end]) {
			return 0, 0 // plain English
		}
		for end < len(s) && s[end] == '=' {
			end++
		}
		return start, end
	}
	if strings.HasPrefix(s[start:], redacted) {
		return 0, 0
	}
	for end < len(s) && !space(s[end]) {
		end++
	}
	return start, end
}

// userAndPassword tells whether word is the base64 form of "user:password".
func userAndPassword(word string) bool {
	plain, err := base64.RawStdEncoding.DecodeString(word)
	return err == nil && strings.IndexByte(string(plain), ':') >= 0
}

// pemEnd returns the end of the PEM block at s[i]; an unfinished block reaches to the end.
func pemEnd(s string, i int) int {
	const mark = "-----END "
	at := strings.Index(s[i:], mark)
	if at < 0 {
		return len(s)
	}
	rest := i + at + len(mark)
	if dashes := strings.Index(s[rest:], "-----"); dashes >= 0 {
		return rest + dashes + 5
	}
	return len(s)
}

// userInfo returns the user-info of the URL whose authority begins at s[i].
func userInfo(s string, i int) (start, end int) {
	for n := i; n < len(s); n++ {
		switch s[n] {
		case '@':
			end = n // the last @ before the host ends it
		case '/', '?', '#', ' ', '\t', '\n', '\r', '"', '\'', '<', '>', '\\', '|':
			n = len(s)
		}
	}
	if end <= i || s[i:end] == redacted {
		return 0, 0
	}
	return i, end
}

// botToken returns the end of the secret of a Telegram bot, whose number stands before the colon at s[i].
func botToken(s string, i int) int {
	const secret, number = 35, 8
	if i < number || len(s)-i-1 < secret {
		return 0
	}
	for _, c := range []byte(s[i-number : i]) {
		if c < '0' || c > '9' {
			return 0
		}
	}
	end := i + 1
	for end < len(s) && end-i <= secret && (alnum(s[end]) || s[end] == '-' || s[end] == '_') {
		end++
	}
	if end-i <= secret {
		return 0
	}
	return end
}
