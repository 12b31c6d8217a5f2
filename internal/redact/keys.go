package redact

import "strings"

// keyPrefix describes a credential that its beginning gives away.
type keyPrefix struct {
	prefix string
	extra  string // characters allowed besides letters and digits
	least  int    // shortest rest
	needs  need   // what the rest must have besides, where words begin alike
	class  int    // number of extra among the different ones
}

type need uint8

const (
	anyRest   need = iota
	digitRest      // a digit
	denseRest      // a digit, and longRun letters and digits in a row
)

// The characters of keys besides letters and digits.
const (
	dashes      = "-_"
	base64Signs = "+/="
	anySigns    = "-_.+/=~"
)

// keyPrefixes are the recognisable keys: ours, those of models' providers, of clouds, and of what else
// programs that call models hold.
var keyPrefixes = []keyPrefix{
	{prefix: "cg-", least: 16}, {prefix: "cgm-", least: 16},

	// OpenAI, Anthropic, DeepSeek, Moonshot, DashScope, OpenRouter, MiniMax, SiliconFlow, Langfuse …
	{prefix: "sk-", extra: dashes, least: 16, needs: digitRest}, {prefix: "sess-", least: 20},
	{prefix: "gsk_", least: 16}, {prefix: "xai-", least: 16}, {prefix: "pplx-", least: 16}, {prefix: "nvapi-", extra: dashes, least: 16},
	{prefix: "hf_", least: 16}, {prefix: "api_org_", least: 16}, {prefix: "r8_", least: 16},
	{prefix: "fw_", least: 20, needs: denseRest},                // Fireworks
	{prefix: "tgp_v1_", extra: dashes, least: 20},               // Together
	{prefix: "csk-", least: 20, needs: denseRest},               // Cerebras
	{prefix: "jina_", least: 20},                                // Jina
	{prefix: "pa-", extra: dashes, least: 40, needs: digitRest}, // Voyage
	{prefix: "al-", extra: dashes, least: 40, needs: digitRest}, // Voyage, of Atlas
	{prefix: "tvly-", extra: dashes, least: 16},                 // Tavily
	{prefix: "fc-", least: 32, needs: denseRest},                // Firecrawl
	{prefix: "sk_", least: 32, needs: denseRest},                // ElevenLabs
	{prefix: "vck_", least: 20, needs: denseRest},               // Vercel's AI gateway
	{prefix: "rpa_", least: 20, needs: denseRest},               // RunPod
	{prefix: "esecret_", least: 16}, {prefix: "lsv2_pt_", extra: dashes, least: 16}, {prefix: "lsv2_sk_", extra: dashes, least: 16}, {prefix: "ls__", least: 16},
	{prefix: "pcsk_", extra: dashes, least: 20},                                                                 // Pinecone
	{prefix: "bce-v3/", extra: "-_/", least: 16}, {prefix: "ALTAK", extra: dashes, least: 12, needs: digitRest}, // Baidu

	// Clouds.
	{prefix: "AKIA", least: 12}, {prefix: "ASIA", least: 12}, {prefix: "ABSK", extra: base64Signs, least: 32, needs: denseRest},
	{prefix: "bedrock-api-key-", extra: anySigns, least: 32, needs: denseRest},
	{prefix: "AKID", least: 12}, {prefix: "LTAI", least: 12}, {prefix: "AKLT", least: 16, needs: digitRest}, {prefix: "AKTP", least: 16, needs: digitRest}, // Tencent, Alibaba, Volcengine
	{prefix: "AIza", extra: dashes, least: 20}, {prefix: "AQ.", extra: dashes, least: 30, needs: digitRest},
	{prefix: "ya29.", extra: "-_.", least: 16}, {prefix: "1//0", extra: dashes, least: 30, needs: digitRest}, {prefix: "GOCSPX-", extra: dashes, least: 16},
	{prefix: "dapi", least: 32, needs: denseRest}, // Databricks
	{prefix: "dop_v1_", least: 16}, {prefix: "doo_v1_", least: 16}, {prefix: "dor_v1_", least: 16},
	{prefix: "hvs.", extra: dashes, least: 20, needs: digitRest}, {prefix: "hvb.", extra: dashes, least: 20, needs: digitRest},
	{prefix: "sbp_", least: 32, needs: denseRest}, {prefix: "sb_secret_", extra: dashes, least: 16},
	{prefix: "pscale_tkn_", extra: anySigns, least: 16}, {prefix: "pscale_pw_", extra: anySigns, least: 16}, {prefix: "pscale_oauth_", extra: anySigns, least: 16},
	{prefix: "fo1_", extra: dashes, least: 32, needs: digitRest}, {prefix: "fm1r_", extra: base64Signs, least: 32, needs: denseRest}, {prefix: "fm2_", extra: base64Signs, least: 32, needs: denseRest},

	// Code, packages, messages, payments.
	{prefix: "ghp_", least: 16}, {prefix: "gho_", least: 16}, {prefix: "ghu_", least: 16}, {prefix: "ghs_", least: 16}, {prefix: "ghr_", least: 16},
	{prefix: "github_pat_", extra: "_", least: 16}, {prefix: "glpat-", extra: "-_.", least: 16}, {prefix: "gldt-", extra: dashes, least: 16}, {prefix: "glrt-", extra: "-_.", least: 16},
	{prefix: "glptt-", least: 16}, {prefix: "glcbt-", extra: dashes, least: 16}, {prefix: "gloas-", extra: dashes, least: 16},
	{prefix: "npm_", least: 20}, {prefix: "pypi-AgE", extra: dashes, least: 16}, {prefix: "rubygems_", least: 16, needs: denseRest},
	{prefix: "ATATT3", extra: "-_=", least: 32, needs: digitRest}, {prefix: "PMAK-", extra: "-", least: 16}, {prefix: "lin_api_", least: 16}, {prefix: "ntn_", least: 20, needs: denseRest},
	{prefix: "figd_", extra: dashes, least: 16}, {prefix: "shpat_", least: 16}, {prefix: "shpss_", least: 16}, {prefix: "sntryu_", least: 16}, {prefix: "sntrys_", extra: anySigns, least: 16},
	{prefix: "glsa_", extra: "_", least: 16}, {prefix: "glc_", extra: base64Signs, least: 32, needs: denseRest}, {prefix: "NRAK-", least: 16},
	{prefix: "xoxb-", extra: "-", least: 10}, {prefix: "xoxp-", extra: "-", least: 10}, {prefix: "xoxa-", extra: "-", least: 10}, {prefix: "xoxr-", extra: "-", least: 10},
	{prefix: "xoxs-", extra: "-", least: 10}, {prefix: "xoxe-", extra: "-", least: 10}, {prefix: "xoxe.", extra: "-.", least: 10}, {prefix: "xoxc-", extra: "-", least: 10}, {prefix: "xapp-", extra: "-", least: 10},
	{prefix: "SG.", extra: "-_.", least: 24}, {prefix: "key-", least: 32, needs: denseRest}, {prefix: "xkeysib-", extra: "-", least: 16}, // SendGrid, Mailgun, Brevo
	{prefix: "sk_live_", least: 8}, {prefix: "sk_test_", least: 8}, {prefix: "rk_live_", least: 8}, {prefix: "rk_test_", least: 8}, {prefix: "whsec_", extra: base64Signs, least: 16},
	{prefix: "sq0atp-", extra: dashes, least: 16}, {prefix: "sq0csp-", extra: dashes, least: 16}, {prefix: "AGE-SECRET-KEY-1", least: 16},
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

// pairs are the two bytes that credentials begin with, a bit each.
var pairs = func() (table [1 << 16 / 64]uint64) {
	add := func(a, b byte) { table[int(a)<<2|int(b)>>6] |= 1 << (b & 63) }
	for _, k := range keyPrefixes {
		add(k.prefix[0], k.prefix[1])
	}
	for _, pair := range []string{"--", "ey", "be", "bE", "Be", "BE", "ba", "bA", "Ba", "BA"} { // PEM, JWT, Bearer, Basic
		add(pair[0], pair[1])
	}
	for b := range 256 {
		add(':', byte(b))
		add('=', byte(b))
		add(',', byte(b))
	}
	return table
}()

// beginsAt tells whether keyAt may recognise something at s[i].
func beginsAt(s string, i int) bool {
	return traits[s[i]]&begins != 0 && i+1 < len(s) && pairs[int(s[i])<<2|int(s[i+1])>>6]&(1<<(s[i+1]&63)) != 0
}

// scanner finds the credentials of one text in one pass: whatever it looks at twice it looks at a
// bounded number of times, so that no text costs more than a constant per byte. What makes it so is
// said at each step that looks beyond the byte it stands on.
type scanner struct {
	text     string
	noJWT    int // up to where no token can begin any more
	runs     [prefixClasses]run
	ran      bool // runs hold something
	labels   labels
	shaped   []span // keys by their shape
	wordEnd  int    // end of the last word that has the shape of one
	wordSaid saying // of it
}

// hideKeys replaces every recognisable key inside text: known prefixes, JWTs, Bearer and Basic
// credentials, PEM blocks, the user-info of URLs, values assigned to a credential's name, and what has the
// shape of a key beside a word for one. name is what the text is given to, if anything.
func (sc *scanner) hideKeys(name, text string) string {
	const shortest = len("ak=x")
	if len(text) < shortest {
		return text
	}
	sc.reset(text)
	sc.findShapes(name)
	var out []byte
	done, next := 0, 0
	for i := 0; i < len(text); {
		for next < len(sc.shaped) && sc.shaped[next].end <= i {
			next++
		}
		start, end := 0, 0
		if beginsAt(text, i) {
			start, end = sc.keyAt(i)
		}
		if next < len(sc.shaped) && sc.shaped[next].start <= i {
			start, end = i, max(end, sc.shaped[next].end)
		}
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
		if !beginsAt(sc.text, i) {
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
		if end = botToken(s, i); end > 0 {
			return i + 1, end
		}
		return sc.assigned(i)
	case '=':
		return sc.assigned(i)
	case ',':
		return sc.paired(i)
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
	needs := k.needs
	if i > 0 && alnum(s[i-1]) {
		needs = denseRest
	}
	if needs >= digitRest && r.digit < begin || needs == denseRest && r.long < begin {
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
const prefixClasses = 10

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
