package calls

import (
	"encoding/base64"
	"strings"
)

// keyPrefix describes a credential that its beginning gives away.
type keyPrefix struct {
	prefix string
	extra  string // characters allowed besides letters and digits
	least  int    // shortest rest
}

// keyPrefixes are the recognisable keys, ours first.
var keyPrefixes = []keyPrefix{
	{"cg-", "", 16},
	{"sk-", "-_", 16}, {"sk_live_", "", 8}, {"sk_test_", "", 8}, {"rk_live_", "", 8}, {"rk_test_", "", 8},
	{"sess-", "", 20}, {"gsk_", "", 16}, {"xai-", "", 16}, {"pplx-", "", 16}, {"nvapi-", "-_", 16},
	{"hf_", "", 16}, {"r8_", "", 16}, {"npm_", "", 20}, {"dop_v1_", "", 16},
	{"AKIA", "", 12}, {"ASIA", "", 12}, {"AKID", "", 12}, {"LTAI", "", 12}, {"AIza", "-_", 20},
	{"ya29.", "-_.", 16}, {"GOCSPX-", "-_", 16},
	{"ghp_", "", 16}, {"gho_", "", 16}, {"ghu_", "", 16}, {"ghs_", "", 16}, {"ghr_", "", 16},
	{"github_pat_", "_", 16}, {"glpat-", "-_", 16},
	{"xoxb-", "-", 10}, {"xoxp-", "-", 10}, {"xoxa-", "-", 10}, {"xoxr-", "-", 10}, {"xoxs-", "-", 10}, {"xapp-", "-", 10},
	{"SG.", "-_.", 24},
}

// prefixesBy finds the candidates for a first byte without trying them all.
var prefixesBy = func() (table [256][]keyPrefix) {
	for _, k := range keyPrefixes {
		table[k.prefix[0]] = append(table[k.prefix[0]], k)
	}
	return table
}()

// begins marks the bytes at which keyAt can recognise anything.
var begins = func() (table [256]bool) {
	for _, c := range []byte("-:=bBe") {
		table[c] = true
	}
	for c, keys := range prefixesBy {
		table[c] = table[c] || len(keys) > 0
	}
	return table
}()

// hideKeys replaces every recognisable key inside s: known prefixes, JWTs, Bearer and Basic
// credentials, PEM blocks, the user-info of URLs and values assigned to a credential's name.
func hideKeys(s string) string {
	var out strings.Builder
	done, noJWT := 0, 0
	for i := 0; i < len(s); {
		if !begins[s[i]] {
			i++
			continue
		}
		start, end := keyAt(s, i, &noJWT)
		if end <= start {
			i++
			continue
		}
		end = extend(s, start, end, &noJWT)
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

// extend returns the end of a hidden span and of the credentials that its last bytes announce:
// `token: Bearer …` is taken for a token named Bearer first.
func extend(s string, start, end int, noJWT *int) int {
	const announcement = 16 // bytes
	for i := max(start, end-announcement); i < end; i++ {
		if !begins[s[i]] {
			continue
		}
		if from, to := keyAt(s, i, noJWT); from < to && to > end {
			end = to
			i = max(i, end-announcement-1)
		}
	}
	return end
}

// keyAt returns the span of the credential recognised at s[i], or an empty one. A span never
// begins before i. noJWT is up to where no token can begin any more, so that hostile text is not
// searched again and again.
func keyAt(s string, i int, noJWT *int) (start, end int) {
	c := s[i]
	switch c {
	case '-':
		if strings.HasPrefix(s[i:], "-----BEGIN ") {
			return i, pemEnd(s, i)
		}
	case ':':
		if strings.HasPrefix(s[i:], "://") {
			return userInfo(s, i+3)
		}
		return assigned(s, i)
	case '=':
		return assigned(s, i)
	case 'b', 'B':
		if start, end = scheme(s, i); end > start {
			return start, end
		}
	case 'e':
		if i >= *noJWT {
			if end, *noJWT = jwtEnd(s, i); end > i {
				return i, end
			}
		}
	}
	for _, k := range prefixesBy[c] {
		if len(s)-i > len(k.prefix) && s[i+1] == k.prefix[1] && s[i:i+len(k.prefix)] == k.prefix {
			if end = prefixedEnd(s, i, k); end > i {
				return i, end
			}
		}
	}
	return 0, 0
}

// prefixedEnd returns where the key that begins at s[i] ends. Inside a word ("risk-averse…") only
// a long run of letters and digits with a digit counts as a key.
func prefixedEnd(s string, i int, k keyPrefix) int {
	begin := i + len(k.prefix)
	end := begin
	run, longest, digit := 0, 0, false
	for ; end < len(s) && end-begin < telling && k.has(s[end]); end++ {
		if run++; !alnum(s[end]) {
			run = 0
		}
		longest = max(longest, run)
		digit = digit || s[end] >= '0' && s[end] <= '9'
	}
	if end-begin < k.least {
		return 0
	}
	if i > 0 && alnum(s[i-1]) && (longest < 16 || !digit) {
		return 0
	}
	for end < len(s) && k.has(s[end]) {
		end++
	}
	return end
}

// telling is how many characters decide whether something is a key.
const telling = 256

func (k keyPrefix) has(c byte) bool { return alnum(c) || strings.IndexByte(k.extra, c) >= 0 }

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
	for end < len(s) && !space(s[end]) {
		end++
	}
	if strings.HasPrefix(s[start:], redacted) {
		return 0, 0
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

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
