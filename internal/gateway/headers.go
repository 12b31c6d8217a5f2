package gateway

import (
	"bytes"
	"errors"
)

// requestHead is what one pass over the raw header lines finds. The slices point into the request.
type requestHead struct {
	raw           []byte
	bearer        []byte // Access Key, nil when there is none
	contentType   []byte
	connection    [4][]byte // values of Connection, which name further headers to remove
	connections   int
	length        bool // a Content-Length was sent
	chunked       bool
	shown         bool // a browser wants to show or run the answer, not to hand it to a script
	authorization int
}

var errMalformed = errors.New("malformed request headers")

// Ambiguous tells whether two servers could read the header lines of a request in two ways (bare
// line feeds, folds, two framings …). raw is what fasthttp's RawHeaders gives. The gateway refuses
// such requests itself; this is for the other routes of the listener.
func Ambiguous(raw []byte) bool {
	var h requestHead
	return !h.scan(raw)
}

// scan reads the header lines as they arrived. It reports false for what two servers could read in
// two ways: the server's own parser lets these pass (design section 4, facts on request smuggling).
func (h *requestHead) scan(raw []byte) bool {
	*h = requestHead{raw: raw}
	for len(raw) > 0 {
		line, rest, err := nextLine(raw)
		if err != nil {
			return false
		}
		raw = rest
		if len(line) == 0 {
			break
		}
		name, value, err := splitLine(line)
		if err != nil || h.note(name, value) != nil {
			return false
		}
	}
	return len(raw) == 0 && (!h.chunked || !h.length) && h.authorization <= 1 && h.connections <= len(h.connection)
}

func (h *requestHead) note(name, value []byte) error {
	switch {
	case is(name, "authorization"):
		h.authorization++
		h.bearer = bearer(value)
	case is(name, "content-type"):
		h.contentType = value
	case is(name, "content-length"):
		if h.length {
			return errMalformed
		}
		h.length = true
	case is(name, "transfer-encoding"):
		if h.chunked || !is(value, "chunked") {
			return errMalformed
		}
		h.chunked = true
	case is(name, "sec-fetch-mode"):
		h.shown = h.shown || is(value, "navigate")
	case is(name, "sec-fetch-dest"):
		h.shown = h.shown || !isData(value)
	case is(name, "content_length"), is(name, "transfer_encoding"): // to some upstreams an underscore is a hyphen
		return errMalformed
	case is(name, "connection"):
		if h.connections < len(h.connection) {
			h.connection[h.connections] = value
		}
		h.connections++
	}
	return nil
}

// isData tells whether a destination of the Fetch standard takes an answer as data: for a script that
// asked for it, or as a picture or sound, which run nothing.
func isData(destination []byte) bool {
	for _, harmless := range [...]string{"empty", "image", "audio", "video", "track", "font"} {
		if is(destination, harmless) {
			return true
		}
	}
	return false
}

// nextLine cuts one line ended by CR LF. A bare line feed ends a line for some servers only.
func nextLine(raw []byte) (line, rest []byte, err error) {
	i := bytes.IndexByte(raw, '\n')
	if i < 1 || raw[i-1] != '\r' {
		return nil, nil, errMalformed
	}
	line = raw[:i-1]
	if bytes.IndexByte(line, '\r') >= 0 {
		return nil, nil, errMalformed
	}
	return line, raw[i+1:], nil
}

// splitLine cuts a header line into name and trimmed value. A folded line begins with white space
// and is refused with any other byte that a name may not have.
func splitLine(line []byte) (name, value []byte, err error) {
	colon := bytes.IndexByte(line, ':')
	if colon < 1 {
		return nil, nil, errMalformed
	}
	for _, c := range line[:colon] {
		if c <= ' ' || c >= 0x7f || c == '"' || c == '(' || c == ')' || c == ',' || c == '/' || c >= ';' && c <= '@' ||
			c >= '[' && c <= ']' || c == '{' || c == '}' {
			return nil, nil, errMalformed
		}
	}
	return line[:colon], trim(line[colon+1:]), nil
}

// trim removes the white space a header value may be surrounded by.
func trim(value []byte) []byte {
	blank := func(c byte) bool { return c == ' ' || c == '\t' }
	for len(value) > 0 && blank(value[0]) {
		value = value[1:]
	}
	for len(value) > 0 && blank(value[len(value)-1]) {
		value = value[:len(value)-1]
	}
	return value
}

// bearer returns the credential of "Bearer <credential>", or nil.
func bearer(value []byte) []byte {
	scheme, credential, ok := bytes.Cut(value, []byte(" "))
	if !ok || !is(scheme, "bearer") {
		return nil
	}
	return bytes.TrimLeft(credential, " ")
}

// is compares a header name with a lower-case one, whatever its case.
func is(name []byte, lower string) bool {
	if len(name) != len(lower) {
		return false
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// appendForwarded adds the header lines that go to the upstream, byte for byte as they came. One that
// repeats the Access Key does not go, whatever its name.
func (h *requestHead) appendForwarded(dst []byte) []byte {
	raw := h.raw
	for len(raw) > 0 {
		line, rest, err := nextLine(raw)
		if err != nil || len(line) == 0 {
			break
		}
		raw = rest
		name := line[:bytes.IndexByte(line, ':')]
		if removedIn.has(name) || h.named(name) || len(h.bearer) > 0 && bytes.Contains(line, h.bearer) {
			continue
		}
		dst = append(dst, line...)
		dst = append(dst, '\r', '\n')
	}
	return dst
}

// named tells whether the request's Connection header names this one.
func (h *requestHead) named(name []byte) bool {
	for _, value := range h.connection[:min(h.connections, len(h.connection))] {
		if hasToken(value, name) {
			return true
		}
	}
	return false
}

// hasToken tells whether a comma-separated list has the token, whatever its case.
func hasToken(list, token []byte) bool {
	for len(list) > 0 {
		item, rest, _ := bytes.Cut(list, []byte(","))
		list = rest
		if bytes.EqualFold(trim(item), token) {
			return true
		}
	}
	return false
}
