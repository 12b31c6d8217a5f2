package redact

import (
	"strings"
	"unicode/utf8"
)

// A key that no list knows of is judged by its shape (its length, its alphabet, how often letters and
// digits take turns) and by what stands beside it: "invalid API key: …", `"x-key": "…"`. Hashes and
// UUIDs have the shape of some providers' keys and are in every second text, so that of these a plain
// word for a credential must be said; and of what is like nothing else, nothing need be.

const (
	leastKey  = 16  // letters and digits of a key
	mostKey   = 256 // bytes; what is longer is data
	mostAlone = 64  // bytes of a key of which nothing is said
	dataLine  = 32  // bytes of the line beside a line of data
	context   = 48  // bytes beside it that are looked at
	nearWords = 6   // words in these
)

// shape is what a word of letters, digits and the signs of keys looks like.
type shape struct {
	alnum, digits, lower, upper, signs int
	turns                              int // from a letter to a digit, back, or to a capital
	mixed                              int // the first two of these
	hex                                int // letters and digits that are hexadecimal
}

func (w *shape) add(c, before byte) {
	isDigit, isUpper := c >= '0' && c <= '9', c >= 'A' && c <= 'Z'
	switch {
	case isDigit:
		w.digits++
	case isUpper:
		w.upper++
	case alnum(c):
		w.lower++
	default:
		w.signs++
		return
	}
	w.alnum++
	if hexOf[c] < 16 {
		w.hex++
	}
	if alnum(before) {
		wasDigit, wasUpper := before <= '9', before <= 'Z' && before >= 'A'
		if isDigit != wasDigit {
			w.mixed++
		}
		if isDigit != wasDigit || isUpper && !wasUpper {
			w.turns++
		}
	}
}

// isHash tells whether it may be a hash or an identifier in hexadecimal digits.
func (w *shape) isHash() bool { return w.hex == w.alnum && (w.lower == 0 || w.upper == 0) }

// isKey tells whether it may be a key. Names made of words have signs between them, or few digits that
// stand together.
func (w *shape) isKey() bool {
	return w.alnum >= leastKey && w.digits >= 2 && w.mixed >= 2 && w.signs*8 <= w.alnum && (w.turns*4 >= w.alnum || w.mixed*7 >= w.alnum)
}

// isUnlike tells whether it is like nothing that people write.
func (w *shape) isUnlike() bool {
	return w.alnum >= 2*leastKey && w.signs == 0 && w.digits >= 3 && w.lower >= 3 && w.upper >= 3 && w.turns*10 >= w.alnum*3
}

// findShapes finds the keys of a text by their shape. name is the field's that the text stands in.
func (sc *scanner) findShapes(name string) {
	s := sc.text
	sc.shaped, sc.wordEnd = sc.shaped[:0], -1
	for i := 0; i < len(s); i++ {
		if traits[s[i]]&keyTrait == 0 {
			continue
		}
		start := i
		for i < len(s) && traits[s[i]]&keyTrait != 0 {
			i++
		}
		if i-start < leastKey || i-start > mostKey || strings.HasPrefix(s[start:], "//") || // an address
			strings.HasSuffix(s[:start], "]") || strings.HasPrefix(s[i:], "[") {
			continue
		}
		if key := sc.shapeOf(span{start, i}, name); key.end > 0 {
			for key.end == i && i < len(s) && s[i] == '=' { // padding
				i++
				key.end++
			}
			sc.shaped = append(sc.shaped, key)
		}
	}
}

// shapeOf judges one word of a text, and gives the key that it is.
func (sc *scanner) shapeOf(word span, name string) (key span) {
	s := sc.text
	key = word
	for key.end > key.start && !alnum(s[key.end-1]) { // the full stop of a sentence
		key.end--
	}
	for key.start < key.end && !alnum(s[key.start]) {
		key.start++
	}
	if last := key.start + strings.LastIndexByte(s[key.start:key.end], '/') + 1; isPair(s[last:key.end]) {
		return span{last, key.end}
	}
	var w shape
	before := byte(0)
	for i := key.start; i < key.end; i++ {
		w.add(s[i], before)
		before = s[i]
	}
	if !w.isKey() || isData(s, word) {
		return span{}
	}
	is := false
	said := sc.saidBefore(key.start, name)
	sc.wordEnd, sc.wordSaid = key.end, said
	switch {
	case key == word && w.isUnlike() && key.end-key.start <= mostAlone && !strings.HasPrefix(s[key.end:], "="):
		is = true
	case said == saysSecret:
		is = true
	case said == saysKey:
		is = !w.isHash()
	case said == saysNothing:
		is = saidAfter(s, key.end)
	}
	if !is {
		return span{}
	}
	return key
}

// isPair tells whether a word is an identifier and a secret of it, as Zhipu's keys are.
func isPair(word string) bool {
	const id, least = 32, 16
	if len(word) < id+1+least || len(word) > id+1+2*least || word[id] != '.' {
		return false
	}
	for i := range len(word) {
		if i < id && hexOf[word[i]] > 15 || i > id && !alnum(word[i]) {
			return false
		}
	}
	return strings.ContainsAny(word[id:], "0123456789")
}

// isData tells whether a word is a line of base64 data, whose next or last line stands beside it.
func isData(s string, w span) bool {
	before, after := w.start, w.end
	for before > 0 && w.start-before < 4 && lineEnd(s[before-1]) {
		before--
	}
	for after < len(s) && after-w.end < 4 && lineEnd(s[after]) {
		after++
	}
	return before < w.start && endsInKey(s[max(before-dataLine, 0):before]) || after > w.end && beginsWithKey(s[after:min(after+dataLine, len(s))])
}

func lineEnd(c byte) bool { return c == '\n' || c == '\r' || c == '\\' }

// beginsWithKey tells whether a line is all of a key's characters, as far as it is not hidden already.
func beginsWithKey(s string) bool {
	i := 0
	for i < len(s) && traits[s[i]]&keyTrait != 0 {
		i++
	}
	return i == dataLine || strings.HasPrefix(s[i:], "[")
}

// endsInKey is beginsWithKey of the end of a line.
func endsInKey(s string) bool {
	i := len(s)
	for i > 0 && traits[s[i-1]]&keyTrait != 0 {
		i--
	}
	return len(s)-i == dataLine || strings.HasSuffix(s[:i], "]")
}

// saying is what a word beside a possible key says of it.
type saying uint8

const (
	saysNothing saying = iota
	saysSecret         // it is a credential
	saysKey            // it is a key of some kind
	saysOther          // it is something else
)

// saidBefore is what the nearest telling word before s[at] says, or the name of the field.
func (sc *scanner) saidBefore(at int, name string) saying {
	s := sc.text
	least := max(at-context, 0)
	i := at
	for i > least && traits[s[i-1]]&quoteTrait != 0 {
		i--
	}
	alone := false // the word before it is its name
	if i > least && (s[i-1] == ':' || s[i-1] == '=') {
		alone = i > 1 && (s[i-1] == '=' || isQuote(s[i-2]))
	}
	after := ""
	for range nearWords {
		for i > least && !wordByte(s[i-1]) {
			if s[i-1] == ']' && strings.HasSuffix(s[:i], redacted) {
				return saysNothing
			}
			i--
		}
		end := i
		if end == sc.wordEnd {
			return sc.wordSaid // what is said of one is said of all in a row
		}
		for i > least && wordByte(s[i-1]) && s[i-1] < utf8.RuneSelf == (s[end-1] < utf8.RuneSelf) {
			i--
		}
		if i == end {
			break
		}
		word := s[i:end]
		if said := says(word, after); said != saysNothing {
			if said == saysKey && i > 0 { // of what kind says the word before it
				from := max(i-len("subscription "), 0)
				if credentialName(s[from+strings.LastIndexAny(s[from:i-1], " \t\n\"'(")+1 : end]) {
					return saysSecret
				}
			}
			return said
		}
		if alone {
			return saysNothing
		}
		after = word
	}
	if i == 0 && name != "" {
		return says(name, "")
	}
	return saysNothing
}

// saidAfter tells whether words like "is not a valid API key" follow.
func saidAfter(s string, at int) bool {
	most := min(at+context, len(s))
	i, before := at, ""
	for n := range nearWords {
		for i < most && !wordByte(s[i]) {
			if s[i] == '[' || s[i] == '\n' {
				return false
			}
			i++
		}
		start := i
		for i < most && wordByte(s[i]) && s[i] < utf8.RuneSelf == (s[start] < utf8.RuneSelf) {
			i++
		}
		word := s[start:i]
		if i < len(s) && s[i] == '[' {
			return false
		}
		if n == 0 && word != "is" && word != "was" && word != "isn" && word != "wasn" && !strings.HasPrefix(word, "不是") {
			return false
		}
		switch said := says(word, ""); {
		case said == saysSecret, said == saysKey && credentialName(before+word):
			return true
		case said == saysOther:
			return false
		}
		before = word
	}
	return false
}

// wordByte accepts the bytes of words; where the script changes, so does the word.
func wordByte(c byte) bool { return alnum(c) || c == '_' || c == '-' || c >= utf8.RuneSelf }

// says judges a word; after is the one after it.
func says(word, after string) saying {
	const most, mostWithDigits = 64, 8
	if len(word) < len("id") || len(word) > most {
		return saysNothing
	}
	var plain [most]byte // in lower case, without separators
	n, digits := 0, false
	for _, c := range []byte(word) {
		if !isSeparator(c) {
			plain[n] = lower(c)
			n++
		}
		digits = digits || c >= '0' && c <= '9'
	}
	if digits && n > mostWithDigits {
		return saysNothing
	}
	return saysPlainly(string(plain[:n]), word, after)
}

func saysPlainly(plain, word, after string) saying {
	switch plain {
	case "id", "ids", "uuid", "guid", "request", "trace", "span", "commit", "revision", "sha", "sha1", "sha256", "sha512", "md5", "digest",
		"checksum", "etag", "version", "model", "image", "file", "url", "fingerprint", "nonce", "tag", "branch", "signature", "object", "message",
		"publickey", "cachekey", "primarykey", "foreignkey", "idempotencykey", "partitionkey", "sortkey", "promptcachekey", "monkey", "turkey":
		return saysOther // what hashes and identifiers are called
	}
	switch {
	case strings.HasSuffix(plain, "id") && (word != plain || strings.HasSuffix(word, "_id")), strings.HasSuffix(plain, "hash"):
		return saysOther // requestId, trace_id
	case strings.HasSuffix(plain, "token"), strings.HasSuffix(plain, "bearer"), strings.Contains(plain, "令牌"), strings.Contains(plain, "密钥"):
		if after == "count" || after == "limit" || after == "usage" {
			return saysOther
		}
		return saysSecret
	case strings.HasSuffix(plain, "key"):
		if credentialName(plain) {
			return saysSecret
		}
		return saysKey
	case len(plain) > len("auth") && credentialName(plain):
		return saysSecret
	}
	return saysNothing
}
