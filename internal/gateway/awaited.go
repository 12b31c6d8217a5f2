package gateway

import (
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// awaited holds the heads of requests whose body has not begun. The server waits for the first byte
// of a body of known length before it calls the handler, and when the caller leaves in that moment,
// it never does: but the call can be attributed, so it has a record (spec section 1).
type awaited struct {
	mu    sync.Mutex
	heads map[*fasthttp.RequestHeader]awaitedHead
}

// awaitedHead points into the buffers of the server's request, which keep their bytes until the
// next request is read into them.
type awaitedHead struct {
	method, uri, raw []byte
	length           int64
	at               time.Time
}

// note is the server's hook after a request's head was read. It changes nothing for the request.
func (a *awaited) note(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	if length := h.ContentLength(); length > 0 {
		if uri := h.RequestURI(); isOurs(uri) {
			head := awaitedHead{method: h.Method(), uri: uri, raw: h.RawHeaders(), length: int64(length), at: time.Now()}
			a.mu.Lock()
			if a.heads == nil {
				a.heads = map[*fasthttp.RequestHeader]awaitedHead{}
			}
			a.heads[h] = head
			a.mu.Unlock()
		}
	}
	return fasthttp.RequestConfig{}
}

// take returns the noted head of the request, once. A head from before the connection is one of
// another caller that the server gave up without a word, and counts as none.
func (a *awaited) take(ctx *fasthttp.RequestCtx) (head awaitedHead, ok bool) {
	a.mu.Lock()
	head, ok = a.heads[&ctx.Request.Header]
	delete(a.heads, &ctx.Request.Header)
	a.mu.Unlock()
	return head, ok && !head.at.Before(ctx.ConnTime())
}

func isOurs(uri []byte) bool {
	_, _, ok := splitTarget(uri)
	return ok
}

// serveLeft handles a request whose caller left, or stopped, between its head and its body. It
// reports false for whatever else the server could not read.
func (g *Gateway) serveLeft(ctx *fasthttp.RequestCtx, fault error) bool {
	noted, ok := g.awaited.take(ctx)
	if !ok || !connectionEnded(fault) && !timedOut(fault) {
		return false
	}
	path, query, _ := splitTarget(noted.uri)
	var head requestHead
	if !head.scan(noted.raw) {
		return false
	}
	c, refused := g.admit(ctx, &head, path, query, noted.at)
	if refused != nil {
		g.refuse(ctx, *refused, false)
		return true
	}
	defer c.release()
	defer c.recover()
	ctx.Request.Header.SetMethodBytes(noted.method) // the server has reset the request
	c.request.length = noted.length
	switch refused := c.check(); {
	case refused != nil:
		c.refuse(*refused)
	case noted.length > g.config.MaxBodyBytes:
		c.refuse(refusedLarge)
	default:
		why := clientGone
		if caller, ok := c.client.(*callerConn); ok && caller.Dismissed() {
			why = shuttingDown
		}
		c.cut(why)
		c.abandon()
	}
	return true
}
