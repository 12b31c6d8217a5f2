package gateway

import (
	"errors"
	"strconv"
	"time"

	"callgate/internal/http1"
)

// send writes the part of the body that was not kept to the upstream, while the answer is awaited.
// before is what had been written on the connection before this request. A fault of the upstream's
// ends it silently: the answer, or its absence, tells what happened.
func (c *call) send(conn *upstreamConn, before uint64) {
	b := &c.request
	defer close(b.sending)
	if len(b.unsent) > 0 && c.sendKept(conn) != nil || len(b.replay) > 0 && c.resend(conn) != nil {
		return
	}
	remembering := conn.reused
	large := false
	for !b.complete.Load() {
		c.progress.Add(toReceive)
		piece, err := b.read(large)
		c.progress.Add(received)
		if b.size.Load() > c.gateway.config.MaxBodyBytes {
			c.cut(tooLong)
			return
		}
		if err != nil {
			switch {
			case b.stopped.Load(): // it is our own deadline
			case errors.Is(err, errChunks):
				c.cut(malformed)
			default:
				c.cut(clientGone)
			}
			return
		}
		large = true // what is longer than the kept part is likely much longer
		remembering = remembering && b.remember(c.gateway, piece.Bytes())
		if _, err := conn.Write(b.frame(piece)); err != nil {
			return
		}
		c.progress.Add(moved)
		if remembering && !unacknowledged(conn.socket.Conn, before) {
			b.forget(c.gateway)
			remembering = false
		}
	}
	b.sent = true
}

// sendKept writes the rest of what was kept.
func (c *call) sendKept(conn *upstreamConn) error {
	b := &c.request
	for len(b.unsent) > 0 {
		piece := b.unsent[:min(len(b.unsent), maxAtOnce)]
		if _, err := conn.Write(piece); err != nil {
			return err
		}
		b.unsent = b.unsent[len(piece):]
		c.progress.Add(moved)
	}
	_, err := conn.Write([]byte(b.end))
	return err
}

// frame makes the bytes to send of a piece: a chunk, the last one with the end of the body, or the piece
// itself.
func (b *requestBody) frame(piece http1.Piece) []byte {
	if b.Framing().Kind == http1.Chunked {
		return piece.Chunk(b.Ended())
	}
	return piece.Bytes()
}

// resend writes what had been sent on a connection that turned out to be closed.
func (c *call) resend(conn *upstreamConn) error {
	b := &c.request
	out := b.replay
	if b.Framing().Kind == http1.Chunked {
		out = append(strconv.AppendInt(nil, int64(len(b.replay)), 16), '\r', '\n')
		out = append(append(out, b.replay...), '\r', '\n')
		if b.complete.Load() {
			out = append(out, "0\r\n\r\n"...)
		}
	}
	b.forget(c.gateway)
	_, err := conn.Write(out)
	c.progress.Add(moved)
	b.sent = err == nil && b.complete.Load()
	return err
}

// lastWrite is how long a sender may need to see by itself that it is done: an answer can overtake
// the return of the write that it answers.
const lastWrite = 50 * time.Millisecond

// stopSending ends the sender, if it still runs, and waits for it. It reports whether everything was
// sent. After it, nobody but the caller uses the connection and the request.
func (c *call) stopSending(conn *upstreamConn, patience time.Duration) bool {
	b := &c.request
	if b.sending == nil {
		return true
	}
	if b.complete.Load() {
		patience = lastWrite
	}
	select {
	case <-b.sending:
		return b.sent
	case <-time.After(patience):
	}
	b.stopped.Store(true)
	_ = conn.SetWriteDeadline(past)
	if !b.complete.Load() {
		_ = c.client.SetReadDeadline(past)
	}
	<-b.sending
	return false
}
