package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// span is what is hidden of a text, in bytes.
type span struct{ start, end int }

// exact finds what is known to be secret: the keys that a call's attempts carried, and the hosts they
// went to, in every spelling that texts give them. All of it is looked for in one pass over a text, and
// in one more for each layer of escapes: JSON inside JSON, and what is percent-encoded.
type exact struct {
	patterns  []pattern
	heads     [256]uint16 // by the hash of a first head bytes: one more than a pattern's place
	short     []string    // what is too short for heads
	addresses []netip.Addr
	shortest  int     // length of the shortest spelling of one
	text      []byte  // as far as its escapes are undone
	at        []int32 // where its bytes began
	found     []span
}

// pattern is one spelling of something secret.
type pattern struct {
	text string
	kind patternKind
	lead int    // bytes of text that are not hidden
	next uint16 // one more than the place of another one with the same hash
}

type patternKind uint8

const (
	plainPattern   patternKind = iota
	encodedPattern             // base64: what it stands in is hidden with it
	hostPattern                // in any case, by itself, and with its port
)

const (
	patternHead  = 4 // bytes that are hashed
	leastEncoded = 8 // bytes of a secret whose base64 form is looked for: that of less stands in any base64
	escapeLayers = 3
	unitEscape   = len(`\u0000`)
)

func (x *exact) reset(secrets, hosts []string) {
	x.patterns, x.short, x.addresses, x.heads = x.patterns[:0], x.short[:0], x.addresses[:0], [256]uint16{}
	x.shortest = len("::ffff:0:0") // of one that is an IPv4 address
	for _, secret := range secrets {
		x.add(secret, plainPattern, 0)
		if len(secret) >= leastEncoded {
			x.addEncoded(secret)
		}
	}
	for _, host := range hosts {
		x.addHost(host)
	}
}

// forget drops what was looked for, and where.
func (x *exact) forget() {
	clear(x.patterns[:cap(x.patterns)])
	clear(x.short[:cap(x.short)])
	clear(x.text[:cap(x.text)])
}

func (x *exact) add(text string, kind patternKind, lead int) {
	switch {
	case text == "":
	case len(text) < patternHead:
		x.short = append(x.short, text)
	default:
		head := &x.heads[headOf([]byte(text[:patternHead]))]
		x.patterns = append(x.patterns, pattern{text, kind, lead, *head})
		*head = uint16(min(len(x.patterns), 1<<16-1)) //nolint:gosec // bounded
	}
}

// headOf is a hash of a text's beginning that no case of its letters changes.
func headOf(text []byte) uint8 {
	return uint8(((binary.LittleEndian.Uint32(text) | 0x20202020) * 2654435761) >> 24) //nolint:gosec // eight bits are left
}

// addEncoded adds what stands in any base64 text that has the secret in it: there are three places in
// which its first byte may stand in a group, and of each the characters that its neighbours have no part in.
func (x *exact) addEncoded(secret string) {
	for before := range 3 {
		raw := append(make([]byte, before, before+len(secret)), secret...)
		first, end := (before*8+5)/6, len(raw)*8/6
		text := base64.RawStdEncoding.EncodeToString(raw)[first:end]
		x.add(text, encodedPattern, 0)
		if strings.ContainsAny(text, "+/") {
			x.add(strings.NewReplacer("+", "-", "/", "_").Replace(text), encodedPattern, 0)
		}
	}
}

// addHost adds a host: a name with dots and an address by themselves, a word of an internal network
// only where it is spoken of as a host.
func (x *exact) addHost(host string) {
	if addr, err := netip.ParseAddr(host); err == nil {
		x.addresses = append(x.addresses, addr.Unmap())
		if addr.Is6() {
			x.shortest = min(x.shortest, len(addr.String()))
		}
		x.add(host, hostPattern, 0)
		return
	}
	if strings.IndexByte(host, '.') < 0 {
		for _, before := range []string{"//", "@", "lookup ", "host "} {
			x.add(before+host, hostPattern, len(before))
		}
		return
	}
	x.add(host, hostPattern, 0)
	if plain, err := idna.ToUnicode(host); err == nil && plain != host {
		x.add(plain, hostPattern, 0)
		x.add(strings.ToUpper(plain), hostPattern, 0) // its first letters may hash differently
	}
}

// hide replaces all that is known inside s.
func (x *exact) hide(s string) string {
	if len(x.patterns)+len(x.short) == 0 {
		return s
	}
	x.found = x.found[:0]
	for _, short := range x.short {
		for i := 0; ; {
			n := strings.Index(s[i:], short)
			if n < 0 {
				break
			}
			x.found = append(x.found, span{i + n, i + n + len(short)})
			i += n + len(short)
		}
	}
	x.text = append(x.text[:0], s...)
	x.at = x.at[:0]
	escaped := strings.IndexByte(s, '%') >= 0 || strings.IndexByte(s, '\\') >= 0
	for layer := 0; ; layer++ {
		x.find()
		if !escaped || layer == escapeLayers || !x.unescape() {
			break
		}
	}
	return replaced(s, x.found)
}

// replaced is s with the spans hidden, which may overlap.
func replaced(s string, found []span) string {
	if len(found) == 0 {
		return s
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var out strings.Builder
	done := 0
	for i := 0; i < len(found); {
		start, end := found[i].start, found[i].end
		for i++; i < len(found) && found[i].start < end; i++ {
			end = max(end, found[i].end)
		}
		out.WriteString(s[done:start])
		out.WriteString(redacted)
		done = end
	}
	out.WriteString(s[done:])
	return out.String()
}

// find goes through the text as it is now.
func (x *exact) find() {
	if len(x.addresses) > 0 {
		x.findAddresses()
	}
	done := 0
	for i := 0; i+patternHead <= len(x.text); {
		start, end := 0, 0
		for n := x.heads[headOf(x.text[i:])]; n > 0; n = x.patterns[n-1].next {
			if s, e := x.match(i, done, &x.patterns[n-1]); e > end {
				start, end = s, e
			}
		}
		if end == 0 {
			i++
			continue
		}
		x.mark(start, end)
		clear(x.text[start:end]) // so that it is no part of an escape
		done, i = end, end
	}
}

// mark hides what stands in the text from start to end.
func (x *exact) mark(start, end int) {
	if len(x.at) > 0 {
		start, end = int(x.at[start]), int(x.at[end])
	}
	x.found = append(x.found, span{start, end})
}

// match tells where what a pattern hides begins and ends, if it stands at i. Nothing before done is hidden again.
func (x *exact) match(i, done int, p *pattern) (start, end int) {
	end = i + len(p.text)
	if end > len(x.text) {
		return 0, 0
	}
	start = i
	switch at := x.text[i:end]; p.kind {
	case plainPattern:
		if string(at) != p.text {
			return 0, 0
		}
	case encodedPattern:
		if string(at) != p.text {
			return 0, 0
		}
		for start > done && inBase64(x.text[start-1]) {
			start--
		}
		for end < len(x.text) && (inBase64(x.text[end]) || x.text[end] == '=') {
			end++
		}
	case hostPattern:
		if !bytes.EqualFold(at, []byte(p.text)) || p.lead == 0 && i > 0 && inLabel(x.text[i-1]) || end < len(x.text) && inLabel(x.text[end]) {
			return 0, 0
		}
		start, end = start+p.lead, x.withPort(end)
	}
	return start, end
}

func inBase64(c byte) bool { return alnum(c) || c == '+' || c == '/' || c == '-' || c == '_' }

func inLabel(c byte) bool { return alnum(c) || c == '-' }

// withPort is the end of a host and of the port that may follow it, behind a last dot too.
func (x *exact) withPort(end int) int {
	at := end
	if at < len(x.text) && x.text[at] == '.' {
		at++
	}
	if at >= len(x.text) || x.text[at] != ':' {
		return end
	}
	digits := at + 1
	for digits < len(x.text) && digits < at+6 && x.text[digits] >= '0' && x.text[digits] <= '9' {
		digits++
	}
	if digits == at+1 {
		return end
	}
	return digits
}

// findAddresses looks for other spellings of an address: IPv6 has many, one of them for every IPv4 address.
func (x *exact) findAddresses() {
	const longest = len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255")
	for i := 0; ; i++ {
		colon := bytes.IndexByte(x.text[min(i, len(x.text)):], ':')
		if colon < 0 {
			return
		}
		start, colons := i+colon, 0
		for start > i && inAddress(x.text[start-1]) {
			start--
		}
		for i += colon; i < len(x.text) && inAddress(x.text[i]); i++ {
			if x.text[i] == ':' {
				colons++
			}
		}
		if colons < 2 || i-start > longest+1 || i-start < x.shortest {
			continue
		}
		text := strings.TrimRight(string(x.text[start:i]), ".")
		if addr, err := netip.ParseAddr(text); err == nil && slices.Contains(x.addresses, addr.Unmap()) {
			x.mark(start, start+len(text))
		}
	}
}

func inAddress(c byte) bool { return hexOf[c] < 16 || c == ':' || c == '.' }

// unescape undoes one layer of escapes in place, and tells whether there was any.
func (x *exact) unescape() (changed bool) {
	b := x.text
	if len(x.at) == 0 {
		for i := range len(b) + 1 {
			x.at = append(x.at, int32(i)) //nolint:gosec // texts are of some kilobytes
		}
	}
	n := 0
	for i := 0; i < len(b); {
		if b[i] != '%' && b[i] != '\\' {
			b[n], x.at[n] = b[i], x.at[i]
			n++
			i++
			continue
		}
		c, length := unescaped(b[i:])
		began := x.at[i]
		i += length
		changed = changed || length > 1
		size := 1
		if length == unitEscape {
			size = utf8.EncodeRune(b[n:i], c) // shorter than its escape
		} else {
			b[n] = byte(c) //nolint:gosec // a byte
		}
		for range size {
			x.at[n] = began
			n++
		}
	}
	x.at[n] = x.at[len(b)]
	x.text, x.at = b[:n], x.at[:n+1]
	return changed
}

// unescaped is the character that an escape at the beginning of b stands for, or else its first byte,
// and how many bytes say so.
func unescaped(b []byte) (c rune, length int) {
	switch {
	case b[0] == '%' && len(b) > 2 && hexOf[b[1]] < 16 && hexOf[b[2]] < 16:
		return rune(hexOf[b[1]]<<4 | hexOf[b[2]]), 3
	case b[0] != '\\' || len(b) < 2:
	case b[1] == 'u':
		if unit := escapedUnit(b); unit >= 0 && utf8.ValidRune(unit) {
			return unit, unitEscape
		}
	default:
		if i := strings.IndexByte(escapeNames, b[1]); i >= 0 {
			return rune(escapes[i]), 2
		}
	}
	return rune(b[0]), 1
}
