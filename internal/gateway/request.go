package gateway

import (
	"bytes"

	"callgate/internal/http1"
	"callgate/internal/secret"
)

// requestHead is what the gateway must know of a request's head. The slices point into the head, or, once
// the call keeps them, into its text.
type requestHead struct {
	target      []byte
	key         []byte // Access Key, nil when there is none
	keyIn       string // the header that carries it, when that is not Authorization
	differ      bool   // there are two that differ
	contentType []byte
	traceparent []byte // nil when there is none, or more than one
	origin      []byte // of the page that asks; nil when none does
	upgrade     bool   // to a protocol that is not forwarded
	shown       bool   // a browser wants to show or run the answer, not to hand it to a script
	dimensions  bool   // it says what it is made for (X-Callgate-Tags, X-Callgate-User)
}

// read looks at every field once. It reports false for a head with two Authorization fields.
func (h *requestHead) read(r *http1.Request) bool {
	*h = requestHead{target: r.Target()}
	authorizations, traceparents := 0, 0
	var shown keys
	for _, f := range r.Fields() {
		name := r.Name(f)
		switch len(name) {
		case len("origin"):
			if http1.EqualFold(name, "origin") {
				h.origin = r.Value(f)
			}
		case len(xTags):
			h.dimensions = h.dimensions || http1.EqualFold(name, xTags) || http1.EqualFold(name, xUser)
		case len("authorization"):
			if http1.EqualFold(name, "authorization") {
				authorizations++
				h.key = bearer(r.Value(f))
			}
		case len(xAPIKey):
			if http1.EqualFold(name, xAPIKey) {
				h.differ = !shown.add(0, r.Value(f)) || h.differ
			}
		case len("traceparent"):
			if http1.EqualFold(name, "traceparent") {
				if traceparents++; traceparents == 1 {
					h.traceparent = r.Value(f)
				} else {
					h.traceparent = nil
				}
			}
		case len("content-type"):
			if http1.EqualFold(name, "content-type") {
				h.contentType = r.Value(f)
			}
		case len("sec-fetch-mode"):
			switch {
			case http1.EqualFold(name, "sec-fetch-mode"):
				h.shown = h.shown || http1.EqualFold(r.Value(f), "navigate")
			case http1.EqualFold(name, "sec-fetch-dest"):
				h.shown = h.shown || !isData(r.Value(f))
			case http1.EqualFold(name, xGoogAPIKey):
				h.differ = !shown.add(2, r.Value(f)) || h.differ
			}
		case len("upgrade"):
			switch {
			case http1.EqualFold(name, "upgrade"):
				h.upgrade = h.upgrade || !isOptional(r.Value(f))
			case http1.EqualFold(name, apiKey):
				h.differ = !shown.add(1, r.Value(f)) || h.differ
			}
		}
	}
	h.choose(&shown)
	return authorizations <= 1
}

// Headers that carry the Access Key of clients made for one provider: Anthropic's, Azure's and Google's.
const (
	xAPIKey     = "x-api-key"
	apiKey      = "api-key"
	xGoogAPIKey = "x-goog-api-key" //nolint:gosec // a name
)

// keys are what those headers say, in their order.
type keys [3][]byte

// add notes a header's value. It reports false when the header is there twice and says two things.
func (k *keys) add(header int, value []byte) bool {
	once := len(k[header]) == 0 || len(value) == 0 || bytes.Equal(k[header], value)
	if len(value) > 0 {
		k[header] = value
	}
	return once
}

// choose takes the Access Key from the other headers where no Bearer credential is. The same key may stand in
// several; of two that differ nobody could say whose call it is. What stands beside a Bearer credential and is
// no Access Key is for somebody else, as of clients that send all they find in their environment: it is let
// be, and goes nowhere.
func (h *requestHead) choose(shown *keys) {
	for i, key := range shown {
		switch {
		case len(key) == 0 || bytes.Equal(key, h.key):
		case len(h.key) == 0:
			h.key, h.keyIn = key, [...]string{xAPIKey, apiKey, xGoogAPIKey}[i]
		case h.keyIn != "" || secret.BeginsLikeAccessKey(key):
			h.differ = true
		}
	}
}

// isOptional tells whether an Upgrade only offers other ways to say the same: clients that could speak
// HTTP/2 offer it by themselves, and go on with HTTP/1.1.
func isOptional(protocols []byte) bool {
	for len(protocols) > 0 {
		var one []byte
		one, protocols, _ = bytes.Cut(protocols, []byte(","))
		if one = trim(one); !http1.EqualFold(one, "h2c") && !bytes.HasPrefix(one, []byte("TLS/")) && !bytes.HasPrefix(one, []byte("HTTP/")) {
			return false
		}
	}
	return true
}

// isData tells whether a destination of the Fetch standard takes an answer as data: for a script that
// asked for it, or as a picture or sound, which run nothing.
func isData(destination []byte) bool {
	for _, harmless := range [...]string{"empty", "image", "audio", "video", "track", "font"} {
		if http1.EqualFold(destination, harmless) {
			return true
		}
	}
	return false
}

// bearer returns the credential of "Bearer <credential>", or nil.
func bearer(value []byte) []byte {
	scheme, credential, ok := bytes.Cut(value, []byte(" "))
	if !ok || !http1.EqualFold(scheme, "bearer") {
		return nil
	}
	return bytes.TrimLeft(credential, " ")
}

// trim removes the white space a header value may be surrounded by.
func trim(value []byte) []byte { return bytes.Trim(value, " \t") }

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

// appendForwarded adds the request's head for the upstream: the caller's own lines byte for byte, our key,
// our framing. A line that repeats the Access Key does not go, whatever its name.
func (c *call) appendForwarded(out []byte, t *target) []byte {
	out = c.appendStart(out, t)
	c.parts.lines = len(out)
	r, sampled := &c.x.Request, c.trace.Sampled()
	for _, f := range r.Fields() {
		line := r.Line(f)
		if f.Hop || removedIn.has(r.Name(f)) || bytes.Contains(line, c.key) || sampled && http1.EqualFold(r.Name(f), "traceparent") ||
			c.cors != "" && http1.EqualFold(r.Name(f), "origin") { // who may call from it is settled here; some upstreams refuse any
			continue
		}
		out = append(out, line...)
	}
	if sampled {
		out = append(c.trace.AppendTraceparent(append(out, "traceparent: "...)), '\r', '\n')
	}
	c.parts.credential = len(out)
	out = c.appendCredential(out)
	c.parts.framing = len(out)
	framing := c.request.Framing()
	switch {
	case framing.Kind == http1.Chunked:
		out = append(out, "\r\nTransfer-Encoding: chunked"...)
	case r.Measured() || expectsBody(c.method):
		out = appendInt(append(out, "\r\nContent-Length: "...), framing.Length)
	}
	return append(out, "\r\n\r\n"...)
}

// headParts is where the parts of a head for the upstream begin that do not depend on which one it is for.
type headParts struct {
	lines      int // the caller's own
	credential int // ours, which does depend on it
	framing    int // behind the credential
}

// appendStart adds the request line and the host.
func (c *call) appendStart(out []byte, t *target) []byte {
	out = append(append(out, c.method...), ' ')
	start := len(out)
	out = append(append(out, t.path...), c.path...)
	if len(out) == start {
		out = append(out, '/')
	}
	if len(c.restQuery) > 0 {
		out = append(append(out, '?'), c.restQuery...)
	}
	out = append(append(out, " HTTP/1.1\r\nHost: "...), t.host...)
	return append(out, '\r', '\n')
}

// appendCredential adds the upstream key in the style of the upstream, without the end of its line.
func (c *call) appendCredential(out []byte) []byte {
	switch c.auth() {
	case "x-api-key":
		out = append(out, "X-Api-Key: "...)
	case "api-key":
		out = append(out, "Api-Key: "...)
	case "x-goog-api-key":
		out = append(out, "X-Goog-Api-Key: "...)
	default:
		out = append(out, "Authorization: Bearer "...)
	}
	return append(out, c.secret...)
}

// expectsBody names the methods whose empty body is announced.
func expectsBody(method string) bool {
	return method == "POST" || method == "PUT" || method == "PATCH"
}
