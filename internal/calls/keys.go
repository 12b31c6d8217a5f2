package calls

import "strings"

// keyPrefix describes a credential that its beginning gives away.
type keyPrefix struct {
	prefix string
	extra  string // characters allowed besides letters and digits
	least  int    // shortest rest
	class  int    // number of extra among the different ones
}

// keyPrefixes are the recognisable keys, ours first.
var keyPrefixes = []keyPrefix{
	{prefix: "cg-", least: 16},
	{prefix: "sk-", extra: "-_", least: 16}, {prefix: "sk_live_", least: 8}, {prefix: "sk_test_", least: 8}, {prefix: "rk_live_", least: 8}, {prefix: "rk_test_", least: 8},
	{prefix: "sess-", least: 20}, {prefix: "gsk_", least: 16}, {prefix: "xai-", least: 16}, {prefix: "pplx-", least: 16}, {prefix: "nvapi-", extra: "-_", least: 16},
	{prefix: "hf_", least: 16}, {prefix: "r8_", least: 16}, {prefix: "npm_", least: 20}, {prefix: "dop_v1_", least: 16},
	{prefix: "AKIA", least: 12}, {prefix: "ASIA", least: 12}, {prefix: "AKID", least: 12}, {prefix: "LTAI", least: 12}, {prefix: "AIza", extra: "-_", least: 20},
	{prefix: "ya29.", extra: "-_.", least: 16}, {prefix: "GOCSPX-", extra: "-_", least: 16},
	{prefix: "ghp_", least: 16}, {prefix: "gho_", least: 16}, {prefix: "ghu_", least: 16}, {prefix: "ghs_", least: 16}, {prefix: "ghr_", least: 16},
	{prefix: "github_pat_", extra: "_", least: 16}, {prefix: "glpat-", extra: "-_", least: 16},
	{prefix: "xoxb-", extra: "-", least: 10}, {prefix: "xoxp-", extra: "-", least: 10}, {prefix: "xoxa-", extra: "-", least: 10}, {prefix: "xoxr-", extra: "-", least: 10}, {prefix: "xoxs-", extra: "-", least: 10}, {prefix: "xapp-", extra: "-", least: 10},
	{prefix: "SG.", extra: "-_.", least: 24},
}

// prefixesBy finds the candidates for a first byte without trying them all.
var prefixesBy = func() (table [256][]keyPrefix) {
	classes := map[string]int{}
	for _, k := range keyPrefixes {
		if _, known := classes[k.extra]; !known {
			classes[k.extra] = len(classes)
		}
		k.class = classes[k.extra]
		table[k.prefix[0]] = append(table[k.prefix[0]], k)
	}
	return table
}()

// scanner finds the credentials of one text in one pass: whatever it looks at twice it looks at a
// bounded number of times, so that no text costs more than a constant per byte. What makes it so is
// said at each step that looks beyond the byte it stands on.
type scanner struct {
	text   string
	noJWT  int // up to where no token can begin any more
	runs   [prefixClasses]run
	ran    bool // runs hold something
	labels labels
}

// hideKeys replaces every recognisable key inside text: known prefixes, JWTs, Bearer and Basic
// credentials, PEM blocks, the user-info of URLs and values assigned to a credential's name.
func (sc *scanner) hideKeys(text string) string {
	const shortest = len("ak=x")
	if len(text) < shortest {
		return text
	}
	sc.reset(text)
	var out []byte
	done := 0
	for i := 0; i < len(text); {
		if traits[text[i]]&begins == 0 {
			i++
			continue
		}
		start, end := sc.keyAt(i)
		if end <= start {
			i++
			continue
		}
		end = sc.extend(start, end)
		if out == nil {
			out = make([]byte, 0, len(text)+len(text)/8+len(redacted))
		}
		out = append(append(out, text[done:start]...), redacted...)
		done, i = end, end
	}
	if done == 0 {
		return text
	}
	return string(append(out, text[done:]...))
}

func (sc *scanner) reset(text string) {
	sc.text, sc.noJWT, sc.labels.known = text, 0, false
	if sc.ran {
		sc.runs, sc.ran = [prefixClasses]run{}, false
	}
}

// extend returns the end of a hidden span and of the credentials that its last bytes announce:
// `token: Bearer …` is taken for a token named Bearer first. It goes over a span's last bytes once.
func (sc *scanner) extend(start, end int) int {
	const announcement = 16 // bytes
	for i := max(start, end-announcement); i < end; i++ {
		if traits[sc.text[i]]&begins == 0 {
			continue
		}
		if from, to := sc.keyAt(i); from < to && to > end {
			end = to
			i = max(i, end-announcement-1)
		}
	}
	return end
}

// keyAt returns the span of the credential recognised at text[i], or an empty one. A span never
// begins before i.
func (sc *scanner) keyAt(i int) (start, end int) {
	s := sc.text
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
		return sc.assigned(i)
	case '=':
		return sc.assigned(i)
	case 'b', 'B':
		if start, end = scheme(s, i); end > start {
			return start, end
		}
	case 'e':
		if i >= sc.noJWT {
			if end, sc.noJWT = jwtEnd(s, i); end > i {
				return i, end
			}
		}
	}
	for n := range prefixesBy[c] {
		k := &prefixesBy[c][n]
		if len(s)-i > len(k.prefix) && s[i+1] == k.prefix[1] && s[i:i+len(k.prefix)] == k.prefix {
			if end = sc.prefixedEnd(i, k); end > i {
				return i, end
			}
		}
	}
	return 0, 0
}

// prefixedEnd returns where the key that begins at text[i] ends. Inside a word ("risk-averse…") only
// a long run of letters and digits with a digit counts as a key.
func (sc *scanner) prefixedEnd(i int, k *keyPrefix) int {
	begin, s := i+len(k.prefix), sc.text
	r := &sc.runs[k.class]
	sc.ran = true
	r.advance(s, begin, k)
	end := r.seen
	if end-begin < k.least {
		return 0
	}
	if i > 0 && alnum(s[i-1]) && (r.long < begin || r.digit < begin) {
		return 0
	}
	for end < len(s) && k.has(s[end]) {
		end++
	}
	return end
}

// telling is how many characters decide whether something is a key; longRun is how many letters and
// digits in a row words do not have.
const (
	telling = 256
	longRun = 16
)

// prefixClasses is how many sets of characters keyPrefixes have.
const prefixClasses = 5

// run is what is known of the characters of one class where a key may stand. It goes forward only:
// prefixes that follow each other closely share what was seen.
type run struct {
	from, seen int // all of text[from:seen] belong to the class
	length     int // letters and digits in a row before seen
	long       int // where the last longRun letters and digits in a row begin; -1: nowhere
	digit      int // where the last digit stands; -1: nowhere
}

// advance looks at what follows begin, up to telling bytes or the first one of another class.
func (r *run) advance(s string, begin int, k *keyPrefix) {
	if begin >= r.seen || begin < r.from {
		*r = run{from: begin, seen: begin, long: -1, digit: -1}
	}
	for most := min(begin+telling, len(s)); r.seen < most && k.has(s[r.seen]); r.seen++ {
		if !alnum(s[r.seen]) {
			r.length = 0
			continue
		}
		if r.length++; r.length >= longRun {
			r.long = r.seen - longRun + 1
		}
		if s[r.seen] <= '9' {
			r.digit = r.seen
		}
	}
}

func (k *keyPrefix) has(c byte) bool { return alnum(c) || strings.IndexByte(k.extra, c) >= 0 }
