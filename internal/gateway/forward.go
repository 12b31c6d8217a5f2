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

	"callgate/internal/http1"
)

// heads are buffers for heads, and for the small bodies that are written together with them.
var heads = sync.Pool{New: func() any {
	buffer := make([]byte, 0, 2<<10)
	return &buffer
}}

const (
	maxPooledHead = 16 << 10
	maxTogether   = 8 << 10 // head and body up to this size are written at once
	// maxAtOnce of a kept body is written before the answer is waited for: an upstream that answers without reading must
	// not be waited for to read.
	maxAtOnce = 32 << 10
)

func takeHead() *[]byte { return heads.Get().(*[]byte) }

func giveHead(buffer *[]byte) {
	if buffer != nil && cap(*buffer) <= maxPooledHead {
		heads.Put(buffer)
	}
}

var errCut = errors.New("the call was cut")

// forward sends the request to the upstream and reads the head of its answer. On success the call
// owns the connection. A connection from the pool that was closed before the request reached the upstream
// is replaced once, when nothing can have been acted on and the whole body can be sent again.
func (c *call) forward() (*upstreamConn, error) {
	pool := c.target.pool
	c.unconnected = false
	for fresh := false; ; fresh = true {
		conn, err := c.connect(pool, fresh)
		if err != nil {
			c.unconnected = true
			return nil, err
		}
		before := conn.socket.written
		if err = c.exchange(conn, before); err == nil {
			if conn.reused && !pool.keepsOpen.Load() {
				pool.keepsOpen.Store(true)
			}
			return conn, nil
		}
		stale := !fresh && conn.reused && connectionEnded(err) && conn.Buffer().Len() == 0 && unacknowledged(conn.socket.Conn, before)
		patience := time.Duration(0)
		if stale {
			patience = lastWrite // its next write fails
		}
		c.stopSending(conn, patience)
		// A reset acknowledges nothing, whatever was read before it. An upstream that had closed in order before our
		// bytes came is told from it: then the reset that answers them is a broken pipe.
		reset := conn.socket.reset || errors.Is(err, syscall.ECONNRESET)
		retry := c.leave() && stale && c.request.replayable() && (!reset || conn.socket.written == before)
		pool.drop(conn)
		if !retry {
			_ = c.takePlace(nil)
			return nil, err
		}
		pool.keepsOpen.Store(false)
		c.gateway.metrics.retries.Inc()
	}
}

// connectionEnded tells an ended connection from other faults.
func connectionEnded(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// timedOut tells a timeout from other faults.
func timedOut(err error) bool {
	var fault net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &fault) && fault.Timeout()
}

func (c *call) connect(pool *connPool, fresh bool) (*upstreamConn, error) {
	if err := c.takePlace(pool); err != nil {
		return nil, err
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
		return nil, errCut
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

// exchange writes the request, or its beginning with the rest to follow, and reads the answer's head and
// what of the body came with it.
func (c *call) exchange(conn *upstreamConn, before uint64) error {
	last, writeErr := c.write(conn)
	if !c.enter(waiting) {
		return errCut
	}
	c.request.sending, c.request.sent = nil, false
	switch {
	case writeErr != nil:
	case c.request.rest():
		if _, writeErr = conn.Write(last); writeErr == nil {
			c.request.sending = make(chan struct{})
			go c.send(conn, before)
		}
	default:
		c.client.Settle()                               // while the answer is waited for, the caller's side needs no buffer
		direct, err, readErr := conn.WriteAndFill(last) // what the read ended with, the next one tells again, but for a reset
		conn.socket.written += uint64(direct)
		conn.socket.reset = conn.socket.reset || readErr != nil && errors.Is(readErr, syscall.ECONNRESET)
		writeErr = err
	}
	// Also after a failed write: an upstream may have answered before it closed.
	err := c.readAnswer(conn.Conn)
	if err != nil {
		if writeErr != nil {
			err = writeErr
		}
		return fmt.Errorf("exchange with the upstream: %w", err)
	}
	c.firstByte, c.status = time.Since(c.start), c.response.Status
	return nil
}

// maxAnswerHead bounds an upstream's response head, in bytes; maxInterim how many 1xx answers may
// precede the final one.
const (
	maxAnswerHead = http1.MaxHead
	maxInterim    = 32
)

var errAnswer = errors.New("malformed answer")

// readAnswer reads the head of the final response. Its body is begun too: one that cannot be read is better
// told to the caller than cut off.
func (c *call) readAnswer(conn *http1.Conn) error {
	r := &c.response
	for range maxInterim {
		r.Reset()
		n, err := readHead(conn, r)
		switch {
		case err != nil:
			return err
		case r.Status == 101:
			return fmt.Errorf("%w: protocol switched without being asked", errAnswer)
		}
		conn.Discard(n)
		if r.Status < 200 {
			continue
		}
		c.answer.Begin(r.Body([]byte(c.method)))
		if c.first = (http1.Piece{}); c.answer.Ended() || conn.Buffer().Len() == 0 {
			return nil
		}
		if c.first, err = c.answer.Next(conn.Buffer()); err != nil {
			return fmt.Errorf("%w: %w", errAnswer, err)
		}
		return nil
	}
	return fmt.Errorf("%w: too many interim responses", errAnswer)
}

func readHead(conn *http1.Conn, r *http1.Response) (n int, err error) {
	for {
		if unread := conn.Unread(); len(unread) > 0 {
			switch n, err := r.Parse(unread, maxAnswerHead); {
			case errors.Is(err, http1.ErrHTTP2):
				return 0, err
			case err != nil:
				return 0, fmt.Errorf("%w: %w", errAnswer, err)
			case n > 0:
				return n, nil
			}
		}
		if _, err := conn.Fill(false); err != nil {
			if errors.Is(err, io.EOF) && conn.Buffer().Len() > 0 {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
	}
}

// write sends the head, and with it what was received of the body, but for the last bytes of that, which are
// returned: what is written next may wait for the answer too.
func (c *call) write(conn *upstreamConn) (last []byte, err error) {
	out, kept := (*c.out)[:c.headBytes], c.request.kept
	c.request.unsent = nil
	chunked := c.request.Framing().Kind == http1.Chunked
	end := ""
	if chunked {
		if len(kept) > 0 {
			out = append(strconv.AppendInt(out, int64(len(kept)), 16), '\r', '\n')
			end = "\r\n"
		}
		if !c.request.rest() {
			end += "0\r\n\r\n"
		}
	}
	if together := len(out) + len(kept) + len(end); together > maxTogether {
		if len(kept) > maxAtOnce {
			_, err := conn.Write(out)
			c.request.unsent, c.request.end = kept[maxAtOnce:], end
			return kept[:maxAtOnce], err
		}
		if _, err := conn.Write(out); err != nil || !chunked {
			return kept, err
		}
		_, err := conn.Write(kept)
		return []byte(end), err
	}
	out = append(append(out, kept...), end...)
	if cap(out) > cap(*c.out) { // it grew, the head in it
		*c.out = out
	}
	return out, nil
}
