package calls

import (
	"encoding/base64"
	"strings"
)

// refBegins marks the bytes at which refKeyAt can recognise anything.
var refBegins = func() (table [256]bool) {
	for _, c := range []byte("-:=bBe") {
		table[c] = true
	}
	for c, keys := range prefixesBy {
		table[c] = table[c] || len(keys) > 0
	}
	return table
}()

// refHideKeys replaces every recognisable key inside s: known prefixes, JWTs, Bearer and Basic
// credentials, PEM blocks, the user-info of URLs and values refAssigned to a credential's name.
func refHideKeys(s string) string {
	var out strings.Builder
	done, noJWT := 0, 0
	for i := 0; i < len(s); {
		if !refBegins[s[i]] {
			i++
			continue
		}
		start, end := refKeyAt(s, i, &noJWT)
		if end <= start {
			i++
			continue
		}
		end = refExtend(s, start, end, &noJWT)
		out.WriteString(s[done:start])
		out.WriteString(redacted)
		done, i = end, end
	}
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return out.String()
}

// refExtend returns the end of a hidden span and of the credentials that its last bytes announce:
// `token: Bearer …` is taken for a token named Bearer first.
func refExtend(s string, start, end int, noJWT *int) int {
	const announcement = 16 // bytes
	for i := max(start, end-announcement); i < end; i++ {
		if !refBegins[s[i]] {
			continue
		}
		if from, to := refKeyAt(s, i, noJWT); from < to && to > end {
			end = to
			i = max(i, end-announcement-1)
		}
	}
	return end
}

// refKeyAt returns the span of the credential recognised at s[i], or an empty one. A span never
// refBegins before i. noJWT is up to where no token can begin any more, so that hostile text is not
// searched again and again.
func refKeyAt(s string, i int, noJWT *int) (start, end int) {
	c := s[i]
	switch c {
	case '-':
		if strings.HasPrefix(s[i:], "-----BEGIN ") {
			return i, refPemEnd(s, i)
		}
	case ':':
		if strings.HasPrefix(s[i:], "://") {
			return refUserInfo(s, i+3)
		}
		return refAssigned(s, i)
	case '=':
		return refAssigned(s, i)
	case 'b', 'B':
		if start, end = refScheme(s, i); end > start {
			return start, end
		}
	case 'e':
		if i >= *noJWT {
			if end, *noJWT = refJwtEnd(s, i); end > i {
				return i, end
			}
		}
	}
	for _, k := range prefixesBy[c] {
		if len(s)-i > len(k.prefix) && s[i+1] == k.prefix[1] && s[i:i+len(k.prefix)] == k.prefix {
			if end = refPrefixedEnd(s, i, k); end > i {
				return i, end
			}
		}
	}
	return 0, 0
}

// refPrefixedEnd returns where the key that refBegins at s[i] ends. Inside a word ("risk-averse…") only
// a long run of letters and digits with a digit counts as a key.
func refPrefixedEnd(s string, i int, k keyPrefix) int {
	begin := i + len(k.prefix)
	end := begin
	run, longest, digit := 0, 0, false
	for ; end < len(s) && end-begin < refTelling && refHas(k, s[end]); end++ {
		if run++; !refAlnum(s[end]) {
			run = 0
		}
		longest = max(longest, run)
		digit = digit || s[end] >= '0' && s[end] <= '9'
	}
	if end-begin < k.least {
		return 0
	}
	if i > 0 && refAlnum(s[i-1]) && (longest < 16 || !digit) {
		return 0
	}
	for end < len(s) && refHas(k, s[end]) {
		end++
	}
	return end
}

// refTelling is how many characters decide whether something is a key.
const refTelling = 256

func refHas(k keyPrefix, c byte) bool { return refAlnum(c) || strings.IndexByte(k.extra, c) >= 0 }

// refJwtEnd returns the end of a JSON Web Token (header, payload and maybe more parts) at s[i], or 0
// and up to where none refBegins.
func refJwtEnd(s string, i int) (end, noJWT int) {
	if !strings.HasPrefix(s[i:], "eyJ") {
		return 0, 0
	}
	end = i
	for parts := 0; ; {
		from := end
		for end < len(s) && (refAlnum(s[end]) || s[end] == '-' || s[end] == '_' || s[end] == '=') {
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

// refScheme returns the credential after "Bearer" or "Basic", also where a word runs into these: the
// word may be the n of an escaped line feed.
func refScheme(s string, i int) (start, end int) {
	word := 0
	for _, name := range []string{"bearer", "basic"} {
		if len(s)-i > len(name) && strings.EqualFold(s[i:i+len(name)], name) {
			word = len(name)
		}
	}
	if word == 0 || !refSpace(s[i+word]) {
		return 0, 0
	}
	start = i + word
	for start < len(s) && refSpace(s[start]) {
		start++
	}
	end = start
	if word == len("basic") {
		for end < len(s) && (refAlnum(s[end]) || s[end] == '+' || s[end] == '/') {
			end++
		}
		if !refUserAndPassword(s[start:end]) {
			return 0, 0 // plain English
		}
		for end < len(s) && s[end] == '=' {
			end++
		}
		return start, end
	}
	for end < len(s) && !refSpace(s[end]) {
		end++
	}
	if strings.HasPrefix(s[start:], redacted) {
		return 0, 0
	}
	return start, end
}

// refUserAndPassword tells whether word is the base64 form of "user:password".
func refUserAndPassword(word string) bool {
	plain, err := base64.RawStdEncoding.DecodeString(word)
	return err == nil && strings.IndexByte(string(plain), ':') >= 0
}

// refPemEnd returns the end of the PEM block at s[i]; an unfinished block reaches to the end.
func refPemEnd(s string, i int) int {
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

// refUserInfo returns the user-info of the URL whose authority refBegins at s[i].
func refUserInfo(s string, i int) (start, end int) {
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

func refAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func refSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
