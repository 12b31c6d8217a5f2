package gateway

import (
	"errors"
	"net"
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

// note is the server's hook after a request's head was read. The body of a call may take its time to
// begin.
func (g *Gateway) note(h *fasthttp.RequestHeader) (config fasthttp.RequestConfig) {
	length, uri := h.ContentLength(), h.RequestURI()
	if length <= 0 || !isOurs(uri) {
		return config
	}
	head := awaitedHead{method: h.Method(), uri: uri, raw: h.RawHeaders(), length: int64(length), at: time.Now()}
	a := &g.awaited
	a.mu.Lock()
	if a.heads == nil {
		a.heads = map[*fasthttp.RequestHeader]awaitedHead{}
	}
	a.heads[h] = head
	a.mu.Unlock()
	config.ReadTimeout = g.config.IdleTimeout
	return config
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
	case dismissed(c.client):
		c.cut(shuttingDown)
		c.abandon()
	case timedOut(fault):
		c.refuse(refusedStalled)
	default:
		c.cut(clientGone)
		c.abandon()
	}
	return true
}

// dismissed tells whether the process ended the connection because it leaves.
func dismissed(client net.Conn) bool {
	caller, ok := client.(*callerConn)
	return ok && caller.Dismissed()
}

// serveUnread answers a request to the gateway whose head cannot be read; nobody knows whose it is.
// It reports false for any other path.
func (g *Gateway) serveUnread(ctx *fasthttp.RequestCtx, fault error) bool {
	caller, ok := ctx.Conn().(*callerConn)
	if !ok || connectionEnded(fault) || timedOut(fault) || !caller.opens() {
		return false
	}
	var long *fasthttp.ErrSmallBuffer
	if errors.As(fault, &long) {
		g.refuse(ctx, refusedHead, false)
	} else {
		g.refuse(ctx, refusedMalformed, false)
	}
	return true
}

// expect decides about a request whose caller waits to be told to send the body (RFC 9110, section
// 10.1.1): only one that will be read is told to. It returns the status to answer with.
func (g *Gateway) expect(ctx *fasthttp.RequestCtx) (status int) {
	path, query, ours := splitTarget(ctx.Request.Header.RequestURI())
	if !ours {
		return fasthttp.StatusContinue
	}
	status = fasthttp.StatusInternalServerError // after a panic
	defer func() {
		if status != fasthttp.StatusContinue {
			g.awaited.take(ctx)
		}
	}()
	var head requestHead
	if !head.scan(ctx.Request.Header.RawHeaders()) {
		g.refuse(ctx, refusedMalformed, false)
		return refusedMalformed.status
	}
	c, refused := g.admit(ctx, &head, path, query, time.Now())
	if refused != nil {
		g.refuse(ctx, *refused, false)
		return refused.status
	}
	defer c.release()
	defer c.recover()
	c.request.withheld = true
	if refused = c.check(); refused == nil && int64(ctx.Request.Header.ContentLength()) > g.config.MaxBodyBytes {
		refused = &refusedLarge
	}
	if refused == nil {
		c.dismiss()
		return fasthttp.StatusContinue
	}
	if c.request.length = int64(ctx.Request.Header.ContentLength()); c.request.length <= 0 {
		c.request.length = -1
	}
	c.refuse(*refused)
	return refused.status
}
