package gateway

import (
	"encoding/hex"
	"strconv"

	"callgate/internal/http1"
	"callgate/internal/meter"
)

// appendAnswer adds the head of the upstream's answer for the caller: the upstream's own lines byte for byte
// but those that may not pass, how the body is framed now, and what guards it. The one pass over the head also
// finds what the record needs of it.
func (c *call) appendAnswer(out []byte, again bool) []byte {
	r := &c.response
	out = append(appendInt(append(out, "HTTP/1.1 "...), int64(r.Status)), ' ')
	out = c.appendFraming(append(append(out, r.Reason()...), "\r\n"...))
	from := origin{target: c.target, path: c.path, model: c.capability.ID, via: c.via}
	var g guard
	for _, f := range r.Fields() {
		name, value := r.Name(f), r.Value(f)
		if !g.passes(name, value, f.Hop) {
			continue
		}
		instead, changed := from.rewrites(name, value)
		switch {
		case !changed:
			out = append(out, r.Line(f)...)
		case instead != nil:
			out = append(append(append(append(out, name...), ": "...), instead...), "\r\n"...)
		}
	}
	c.describe(&g)
	out = appendCallID(append(g.append(out, c.keyIn), c.cors...), c.id[:])
	out = append(c.appendLimits(out), c.ignored...)
	return append(appendConnection(out, again, c.x.Old), "\r\n"...)
}

// appendFraming says how the body ends; to a caller of HTTP/1.0, which knows no chunks, one of unknown
// length ends with the connection.
func (c *call) appendFraming(out []byte) []byte {
	r := &c.response
	switch kind := c.answer.Framing().Kind; {
	case kind > http1.Sized && c.x.Old, r.Status == 204:
		return out
	case kind > http1.Sized:
		return append(out, "Transfer-Encoding: chunked\r\n"...)
	case r.Length() >= 0: // of an answer to HEAD too, and of 304
		return append(appendInt(append(out, "Content-Length: "...), r.Length()), "\r\n"...)
	}
	return out
}

// appendConnection says whether another request may follow, where that is not the rule.
func appendConnection(out []byte, again, old bool) []byte {
	switch {
	case !again:
		return append(out, "Connection: close\r\n"...)
	case old:
		return append(out, "Connection: keep-alive\r\n"...)
	}
	return out
}

// appendCallID tells the caller the call's id.
func appendCallID(out, id []byte) []byte {
	out = append(out, "X-Call-Id: "...)
	for i, group := range [...][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			out = append(out, '-')
		}
		out = hex.AppendEncode(out, group)
	}
	return append(out, "\r\n"...)
}

func appendInt(out []byte, n int64) []byte { return strconv.AppendInt(out, n, 10) }

// guard keeps an answer to whom it was given, and from running in the origin it comes from.
type guard struct {
	varied   bool // Vary names Authorization, or all
	all      bool // Vary names all
	private  bool // Cache-Control forbids shared caches to keep it
	document bool // a browser could run it as a page

	answer meter.Head // what its meters are read by, as it passes
}

var (
	tokenAll           = []byte("*")
	tokenAuthorization = []byte("authorization")
	tokenNoStore       = []byte("no-store")
	tokenPrivate       = []byte("private")
)

// passes tells whether a field goes to the caller, and notes what it says. hop tells that it speaks of the
// upstream's connection.
func (g *guard) passes(name, value []byte, hop bool) bool {
	switch len(name) {
	case len("vary"):
		if http1.EqualFold(name, "vary") {
			g.all = g.all || hasToken(value, tokenAll)
			g.varied = g.varied || g.all || hasToken(value, tokenAuthorization)
		}
	case len("content-type"):
		if http1.EqualFold(name, "content-type") { // named by Connection or not: the body cannot be read without it
			g.answer.ContentType = value
			g.document = g.document || isDocument(value)
			return true
		}
	case len("cache-control"):
		if http1.EqualFold(name, "cache-control") {
			g.private = g.private || hasToken(value, tokenNoStore) || hasToken(value, tokenPrivate)
		}
	case len("content-encoding"):
		if http1.EqualFold(name, "content-encoding") { // likewise
			g.answer.Encoding = value
			return true
		}
	case len("x-accel-buffering"):
		if http1.EqualFold(name, "x-accel-buffering") { // a proxy in front is told not to buffer, never to
			return !hop && http1.EqualFold(value, "no")
		}
	}
	g.answer.Count(name, value)
	return !hop && !removedOut.has(name)
}

// isDocument tells whether a browser would show what a Content-Type names as a page, with scripts in it.
func isDocument(contentType []byte) bool {
	for _, kind := range [...]string{"html", "xml", "svg"} {
		for i := 0; i+len(kind) <= len(contentType); i++ {
			if http1.EqualFold(contentType[i:i+len(kind)], kind) {
				return true
			}
		}
	}
	return false
}

// append adds what the upstream has not said itself: an answer that a browser kept must not be found by a
// visit to its address, which has no key. keyIn names the header that carried the key, when that is not
// Authorization.
func (g *guard) append(out []byte, keyIn string) []byte {
	if !g.varied {
		out = append(out, "Vary: Authorization\r\n"...)
	}
	if keyIn != "" && !g.all {
		out = append(append(append(out, "Vary: "...), keyIn...), "\r\n"...)
	}
	if !g.private {
		out = append(out, "Cache-Control: private\r\n"...)
	}
	out = append(out, "X-Content-Type-Options: nosniff\r\n"...)
	if g.document { // for browsers that do not say that they navigate
		out = append(out, "Content-Security-Policy: sandbox\r\n"...)
	}
	return out
}
