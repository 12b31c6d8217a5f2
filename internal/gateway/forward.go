package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// heads are buffers for request heads, and for the small bodies sent along in the same packet.
var heads = sync.Pool{New: func() any {
	buffer := make([]byte, 0, 2<<10)
	return &buffer
}}

const (
	maxPooledHead = 16 << 10
	maxTogether   = 8 << 10 // head and body up to this size are written at once
)

// forward sends the request to the upstream and reads the head of its answer. On success the call
// owns the connection, and the answer's head stands in the response. A connection from the pool that
// was closed before the request reached the upstream is replaced once, when nothing can have been
// acted on and the whole body can be sent again.
func (c *call) forward(t *target) (*upstreamConn, error) {
	for fresh := false; ; fresh = true {
		conn, err := c.connect(t.pool, fresh)
		if err != nil {
			return nil, err
		}
		before := conn.socket.written
		if err = c.exchange(conn, t, before); err == nil {
			if conn.reused {
				t.pool.keepsOpen.Store(true)
			}
			return conn, nil
		}
		stale := !fresh && conn.reused && connectionEnded(err) && conn.br.Buffered() == 0 && unacknowledged(conn.socket.Conn, before)
		patience := time.Duration(0)
		if stale {
			patience = lastWrite // its next write fails
		}
		c.stopSending(conn, patience)
		retry := c.leave() && stale && c.request.replayable()
		t.pool.drop(conn)
		if !retry {
			c.takePlace(nil)
			return nil, err
		}
		t.pool.keepsOpen.Store(false)
		c.gateway.metrics.retries.Inc()
	}
}

// connectionEnded tells an ended connection from other faults.
func connectionEnded(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func (c *call) connect(pool *connPool, fresh bool) (*upstreamConn, error) {
	if !c.takePlace(pool) {
		return nil, errShareExhausted
	}
	conn, err := pool.get(time.Now(), fresh)
	if err != nil {
		return nil, err
	}
	if conn == nil {
		if conn, err = c.dial(pool); err != nil {
			return nil, err
		}
	}
	if !c.use(conn) {
		c.leave()
		pool.drop(conn)
		return nil, errors.New("the call was cut")
	}
	return conn, nil
}

// dial connects to the upstream; a caller that leaves meanwhile ends it.
func (c *call) dial(pool *connPool) (*upstreamConn, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.mu.Lock()
	c.cancel = cancel
	if c.cause != uncut {
		cancel()
	}
	c.mu.Unlock()
	conn, err := pool.dial(ctx)
	c.progress.Add(moved)
	c.mu.Lock()
	c.cancel = nil
	c.mu.Unlock()
	return conn, err
}

// exchange writes the request, or its beginning with the rest to follow, and reads the answer's head.
func (c *call) exchange(conn *upstreamConn, t *target, before uint64) error {
	writeErr := c.write(conn, t)
	if !c.enter(waiting) {
		return errors.New("the call was cut")
	}
	c.request.sending = nil
	if writeErr == nil && c.request.rest() {
		c.request.sending = make(chan struct{})
		c.lift()
		go c.send(conn, before)
	}
	// Also after a failed write: an upstream may have answered before it closed.
	from := origin{target: t, path: c.path, model: c.capability.ID, bodiless: c.ctx.IsHead()}
	br, err := readAnswer(conn.br, conn.Conn, &c.ctx.Response.Header, &c.answer, &from)
	conn.large = conn.large || br != conn.br
	conn.br = br
	if err != nil {
		c.answer.status = 0
		if writeErr != nil {
			err = writeErr
		}
		return fmt.Errorf("exchange with the upstream: %w", err)
	}
	c.firstByte = time.Since(c.start)
	return nil
}

func (c *call) write(conn *upstreamConn, t *target) error {
	pooled := heads.Get().(*[]byte)
	out := c.appendHead((*pooled)[:0], t)
	defer func() {
		if cap(out) <= maxPooledHead {
			*pooled = out[:0]
			heads.Put(pooled)
		}
	}()
	kept := c.request.kept
	chunked := c.request.length < 0
	if chunked && len(kept) > 0 {
		out = strconv.AppendInt(out, int64(len(kept)), 16)
		out = append(out, '\r', '\n')
	}
	if len(out)+len(kept) <= maxTogether {
		out = append(out, kept...)
		kept = nil
	}
	if len(kept) > 0 {
		if _, err := conn.Write(out); err != nil {
			return err
		}
		if _, err := conn.Write(kept); err != nil {
			return err
		}
		out = out[:0]
	}
	if chunked {
		if len(c.request.kept) > 0 {
			out = append(out, '\r', '\n')
		}
		if !c.request.rest() {
			out = append(out, "0\r\n\r\n"...)
		}
	}
	if len(out) > 0 {
		if _, err := conn.Write(out); err != nil {
			return err
		}
	}
	return nil
}

// appendHead writes the request head for the upstream: the caller's own lines, our key, our framing.
func (c *call) appendHead(out []byte, t *target) []byte {
	out = append(out, c.ctx.Method()...)
	out = append(out, ' ')
	start := len(out)
	out = append(out, t.path...)
	out = append(out, c.path...)
	if len(out) == start {
		out = append(out, '/')
	}
	if len(c.restQuery) > 0 {
		out = append(out, '?')
		out = append(out, c.restQuery...)
	}
	out = append(out, " HTTP/1.1\r\nHost: "...)
	out = append(out, t.host...)
	out = append(out, '\r', '\n')
	out = c.head.appendForwarded(out)
	switch c.capability.UpstreamAuth {
	case "x-api-key":
		out = append(out, "X-Api-Key: "...)
	case "api-key":
		out = append(out, "Api-Key: "...)
	default:
		out = append(out, "Authorization: Bearer "...)
	}
	out = append(out, c.secret...)
	switch {
	case c.request.length < 0:
		out = append(out, "\r\nTransfer-Encoding: chunked"...)
	case c.head.length || c.request.length > 0 || expectsBody(c.ctx.Method()):
		out = append(out, "\r\nContent-Length: "...)
		out = strconv.AppendInt(out, c.request.length, 10)
	}
	return append(out, "\r\n\r\n"...)
}

// expectsBody names the methods whose empty body is announced.
func expectsBody(method []byte) bool {
	return string(method) == "POST" || string(method) == "PUT" || string(method) == "PATCH"
}

// timedOut tells a timeout from other faults.
func timedOut(err error) bool {
	var fault net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &fault) && fault.Timeout()
}
