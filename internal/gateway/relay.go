package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/valyala/fasthttp"

	"callgate/internal/calls"
)

// maxCopied bounds what is copied of an upstream's error answer, in bytes.
const maxCopied = 64 << 10

var protocol11 = []byte("HTTP/1.1")

// relay is the body of an upstream's answer on its way to the caller. The call's record is made here
// and not in the handler: only here the fate of the last byte is known (design section 4).
type relay struct {
	call   *call
	conn   *upstreamConn
	body   answerBody
	copies bool // the body is an error's and JSON
}

// begin prepares the response after its head was read. A response without a body ends here.
func (c *call) begin(conn *upstreamConn) {
	c.enter(relaying)
	h := &c.ctx.Response.Header
	h.SetNoDefaultContentType(true)
	h.SetProtocol(protocol11)
	h.ResetConnectionClose()
	c.nameIn(h)
	if !c.request.complete.Load() {
		h.SetConnectionClose() // answered before the request was read
	}
	contentType := h.ContentType()
	c.streamed = len(contentType) >= 17 && is(contentType[:17], "text/event-stream")
	r := &c.relay
	*r = relay{call: c, conn: conn, copies: c.answer.status/100 != 2 && bytes.Contains(contentType, []byte("json"))}
	status := c.answer.status
	if c.ctx.IsHead() || status == 204 || status == 304 {
		r.body.ended = true
		var gone error
		if left(c.client) { // the head is still to be sent
			gone = net.ErrClosed
		}
		_ = r.end(io.EOF, gone)
		return
	}
	if caller, ok := c.client.(*callerConn); ok {
		caller.Trust() // the sweeper sees to callers that do not read
	}
	r.body.reset(conn.br, &c.answer)
	c.ctx.Response.ImmediateHeaderFlush = !r.body.ready()
	if c.answer.length < 0 && !c.ctx.Request.Header.IsHTTP11() {
		r.hijack()
		return
	}
	c.relaying = true
	c.ctx.Response.SetBodyStream(r, int(c.answer.length))
}

// hijack relays a body of unknown length to a caller that knows no chunks: the end of the connection
// is the end of the body.
func (r *relay) hijack() {
	r.call.relaying = true
	ctx := r.call.ctx
	ctx.Response.Header.SetConnectionClose()
	head := bytes.Clone(ctx.Response.Header.Header())
	flush := ctx.Response.ImmediateHeaderFlush
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(client net.Conn) {
		w := bufio.NewWriter(client)
		_, _ = w.Write(head) // an error stays in w
		if flush {
			_ = w.Flush()
		}
		_, _ = r.WriteTo(w)
		_ = r.Close()
	})
}

// Read is never used: fasthttp takes WriteTo.
func (*relay) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// SupportsBodyWriteTo says that WriteTo does all that Read would.
func (*relay) SupportsBodyWriteTo() bool { return true }

// Close ends the call's life. It makes the record when the body was never written: the head could
// not be sent.
func (r *relay) Close() error {
	_ = r.end(nil, net.ErrClosed)
	r.call.release()
	return nil
}

// WriteTo writes and flushes every piece when it arrives, until the upstream's end. Any other end is
// an error, upon which the server closes the caller's connection without ending the body.
func (r *relay) WriteTo(w io.Writer) (n int64, err error) {
	c := r.call
	defer func() {
		if p := recover(); p != nil {
			c.gateway.logger.Error("panic while relaying", "call", c.id, "panic", p)
			r.panicked()
			err = fmt.Errorf("panic while relaying: %v", p)
		}
	}()
	flusher, _ := w.(interface{ Flush() error })
	var large *[]byte
	defer func() {
		if large != nil {
			sendBuffers.Put(large)
		}
	}()
	for {
		var space []byte
		if large != nil {
			space = *large
		}
		piece, readErr := r.body.next(space)
		if readErr != nil {
			return n, r.end(readErr, nil)
		}
		c.progress.Add(toWrite)
		if r.copies {
			c.copied = append(c.copied, piece[:min(len(piece), maxCopied-len(c.copied))]...)
		}
		size, writeErr := w.Write(piece)
		if writeErr == nil && flusher != nil {
			writeErr = flusher.Flush()
		}
		c.progress.Add(written)
		if writeErr != nil {
			return n, r.end(nil, writeErr)
		}
		n += int64(size)
		c.responseBytes = n
		large = resize(large, len(piece))
	}
}

// resize takes a large buffer once a piece filled the small one, and gives it back at the first
// piece that would have fitted: a stream that is silent holds the small one only.
func resize(large *[]byte, piece int) *[]byte {
	switch {
	case large == nil && piece >= answerBuffer:
		return sendBuffers.Get().(*[]byte)
	case large != nil && piece < answerBuffer:
		sendBuffers.Put(large)
		return nil
	}
	return large
}

// end gives the connection back or closes it, and makes the record. readErr is what the upstream's
// side ended with (io.EOF is its proper end), writeErr what the caller's did. It returns the error
// the server is to see: nil for a proper end.
func (r *relay) end(readErr, writeErr error) error {
	c, conn := r.call, r.conn
	if conn == nil {
		return net.ErrClosed
	}
	r.conn = nil
	sent := c.stopSending(conn, 0)
	uncut := c.leave()
	complete := errors.Is(readErr, io.EOF) && writeErr == nil
	if complete && uncut && sent && c.answer.keepAlive && r.body.ended && conn.br.Buffered() == 0 {
		conn.pool.put(conn, time.Now())
	} else {
		conn.pool.drop(conn)
	}
	c.takePlace(nil) // what follows may take a moment
	if complete && !accepted(c.client) {
		complete, writeErr = false, net.ErrClosed
	}
	if complete {
		c.finish(c.completed())
		if !c.request.complete.Load() && r.body.br != nil {
			linger(c.client)
		}
		return nil
	}
	c.finish(c.interrupted(writeErr != nil))
	return errors.Join(readErr, writeErr)
}

func (r *relay) panicked() {
	if r.conn != nil {
		r.call.stopSending(r.conn, 0)
		r.call.leave()
		r.conn.pool.drop(r.conn)
		r.conn = nil
	}
	r.call.finish(outcome{status: 499, endedBy: calls.UpstreamAbort, kind: calls.InternalFault, code: calls.CodeInternal,
		message: refusedInternal.message})
}

// completed is the outcome of an answer that ended completely.
func (c *call) completed() outcome {
	status := c.answer.status
	if status/100 == 2 {
		return outcome{status: status, success: true, endedBy: calls.Complete}
	}
	return outcome{status: status, endedBy: calls.Complete, kind: calls.UpstreamHTTPError, code: calls.UpstreamStatus}
}

// statusIncomplete is recorded when a response did not end completely (spec section 2).
const statusIncomplete = 499

// interrupted is the outcome of an answer that did not end completely, or never began because of
// the caller or a shutdown.
func (c *call) interrupted(byClient bool) outcome {
	o := outcome{status: statusIncomplete, kind: calls.Interrupted}
	switch why := c.why(); {
	case why == tooSlow:
		o.endedBy, o.kind, o.code = calls.TimedOut, calls.Timeout, calls.UpstreamTimeout
		o.message = "The upstream stopped sending, or the call took longer than allowed."
	case why == callerSlow:
		o.endedBy, o.kind, o.code = calls.TimedOut, calls.Timeout, calls.CallerTimeout
		o.message = "The caller stopped reading the response, or sending its request, for longer than allowed."
	case why == shuttingDown:
		o.endedBy, o.code = calls.Shutdown, calls.CodeShutdown
		o.message = "The gateway was shut down before the response ended."
	case why != uncut || byClient:
		o.endedBy, o.code = calls.ClientAbort, calls.ClientClosed
		o.message = "The caller closed the connection before the response ended."
	default:
		o.endedBy, o.code = calls.UpstreamAbort, calls.UpstreamClosed
		o.message = "The upstream closed the connection before the response ended."
	}
	return o
}

var _ fasthttp.BodyWriterTo = (*relay)(nil)
