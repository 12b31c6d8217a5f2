package gateway

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// rewritten is a header line whose value is not the upstream's.
type rewritten struct{ name, value []byte }

// removed tells whether a header line does not go to the caller, and masks it when it repeats one
// that the server's own headers hold once only.
func (h *answerHead) removed(line []byte, from *origin) bool {
	name := line[:bytes.IndexByte(line, ':')]
	switch {
	case is(name, "content-length"):
		again := h.measured
		h.measured = true
		return again || h.chunked || h.status == 204
	case is(name, "content-type"): // named by Connection or not: the body cannot be read without it
		h.document = h.document || isDocument(line)
		h.mask(name, &h.typed)
		return false
	case is(name, "content-encoding"): // likewise
		h.mask(name, &h.encoded)
		return false
	case is(name, "server"):
		h.mask(name, &h.served)
	case is(name, "vary"):
		value := line[len(name)+1:]
		h.varied = h.varied || hasToken(value, []byte("*")) || hasToken(value, []byte("authorization"))
	case is(name, "cache-control"):
		value := line[len(name)+1:]
		h.private = h.private || hasToken(value, []byte("no-store")) || hasToken(value, private)
	case is(name, "x-accel-buffering"): // a proxy in front is told not to buffer, never to
		return !is(trim(line[len(name)+1:]), "no")
	}
	if removedOut.has(name) {
		return true
	}
	for _, value := range h.connection[:h.lines] {
		if hasToken(value, name) {
			return true
		}
	}
	value, changed := from.rewrites(name, line)
	if value != nil {
		h.rewritten = append(h.rewritten, rewritten{bytes.Clone(name), value})
	}
	return changed
}

// isDocument tells whether a browser would show what a Content-Type line names as a page, with
// scripts in it.
func isDocument(line []byte) bool {
	for _, kind := range [...]string{"html", "xml", "svg"} {
		for i := len("content-type:"); i+len(kind) <= len(line); i++ {
			if is(line[i:i+len(kind)], kind) {
				return true
			}
		}
	}
	return false
}

var (
	nameVary         = []byte("Vary")
	nameCacheControl = []byte("Cache-Control")
	nameSniffing     = []byte("X-Content-Type-Options")
	namePolicy       = []byte("Content-Security-Policy")
	authorization    = []byte("Authorization")
	private          = []byte("private")
	nosniff          = []byte("nosniff")
	sandbox          = []byte("sandbox")
)

// guard adds what keeps an answer to whom it was given, and from running in the origin it comes
// from: one that a browser kept must not be found by a visit to its address, which has no key.
func (h *answerHead) guard(dst *fasthttp.ResponseHeader) {
	if !h.varied {
		dst.AddBytesKV(nameVary, authorization)
	}
	if !h.private {
		dst.AddBytesKV(nameCacheControl, private)
	}
	dst.AddBytesKV(nameSniffing, nosniff)
	if h.document { // for browsers that do not say that they navigate
		dst.AddBytesKV(namePolicy, sandbox)
	}
	for _, line := range h.rewritten {
		dst.AddBytesKV(line.name, line.value)
	}
}
