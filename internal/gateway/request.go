package gateway

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// requestBody is the caller's body on its way to the upstream. Its beginning is kept: for the
// detail of a failure, and to send it again when a pooled connection turns out to be closed.
type requestBody struct {
	stream   io.Reader
	caller   *callerConn
	share    *share // of the application; nil when there is none
	length   int64  // declared; -1: chunked
	kept     []byte
	spare    []byte // an earlier call's, empty, for kept
	reserved int64  // of the gateway's byte budget
	size     atomic.Int64
	complete atomic.Bool   // the end was read
	fault    error         // of a chunked body that has no end; nothing is read after it
	withheld bool          // the caller waits to be told to send it
	sending  chan struct{} // closed when the rest was sent or given up; nil when there is no rest
	sent     bool          // all was written to the upstream; read after sending was closed
	stopped  atomic.Bool   // the sender was interrupted: where it stopped reading is not known

	// replay is what was sent after kept on a connection from the pool, as long as nothing says that
	// any byte of the request has arrived.
	replay []byte
}

var (
	errTooLarge     = errors.New("the request body is larger than allowed")
	errNoBudget     = errors.New("the bodies of the calls in flight take all memory they may")
	errBodyCutShort = errors.New("the request body ended early")
	errChunks       = errors.New("the request body's chunks are malformed")
)

// maxChunkFraming is how much may stand before the next bytes of a chunked body, what the server
// reads ahead included: a size line without an end is not read for ever.
const maxChunkFraming = 64 << 10

// open looks at what the server left of the request and reserves memory for what will be kept.
func (b *requestBody) open(g *Gateway, ctx *fasthttp.RequestCtx, chunked bool) error {
	b.stream = ctx.RequestBodyStream()
	if b.stream == nil {
		b.stream = bytes.NewReader(ctx.Request.Body())
	}
	if b.caller, _ = ctx.Conn().(*callerConn); b.caller == nil {
		b.fault = errChunks // nobody could tell a cut body from a whole one
	}
	b.length = int64(max(ctx.Request.Header.ContentLength(), 0))
	keep := min(b.length, keptBody)
	if chunked {
		b.length, keep = -1, keptBody
	}
	if err := g.reserve(b.share, keep); err != nil {
		return err
	}
	b.reserved = keep
	if b.length > g.config.MaxBodyBytes {
		return errTooLarge
	}
	b.complete.Store(b.length == 0)
	return nil
}

// unhurried lets the body take its time, as long as it moves.
func (b *requestBody) unhurried(c *call) {
	if b.caller != nil && !b.complete.Load() {
		b.caller.waiting = c
	}
}

func (b *requestBody) release(g *Gateway) {
	_ = g.reserve(b.share, -b.reserved)
	b.reserved = 0
	if b.caller != nil {
		b.caller.answered()
	}
}

// receive reads the beginning of the body, as far as it is kept.
func (b *requestBody) receive(progress *atomic.Uint32, limit int64) error {
	if b.complete.Load() {
		return nil
	}
	room := b.length
	if room < 0 {
		room = 4 << 10
	}
	if room = min(room, keptBody); room <= int64(cap(b.spare)) {
		b.kept, b.spare = b.spare, nil
	} else {
		b.kept = make([]byte, 0, room)
	}
	for len(b.kept) < keptBody && !b.complete.Load() {
		if len(b.kept) == cap(b.kept) {
			grown := make([]byte, len(b.kept), min(4*cap(b.kept), keptBody))
			copy(grown, b.kept)
			b.kept = grown
		}
		n, err := b.read(b.kept[len(b.kept):cap(b.kept)])
		b.kept = b.kept[:len(b.kept)+n]
		progress.Add(moved)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	if b.size.Load() > limit {
		return errTooLarge
	}
	return nil
}

// read reads the next bytes; the end sets complete and comes as io.EOF, with the last bytes or after.
func (b *requestBody) read(p []byte) (int, error) {
	if b.complete.Load() {
		return 0, io.EOF
	}
	if b.length < 0 {
		return b.readChunk(p)
	}
	n, err := b.stream.Read(p)
	switch size := b.size.Add(int64(n)); {
	case size == b.length:
		b.complete.Store(true)
		return n, io.EOF
	case errors.Is(err, io.EOF): // the server's stream takes a cut body for a whole one
		return n, errBodyCutShort
	}
	return n, err
}

// readChunk reads the next bytes of a chunked body. Whatever the stream's error, the connection tells
// whether the caller left; after a fault the stream would go on in the middle of nowhere.
func (b *requestBody) readChunk(p []byte) (n int, err error) {
	if b.fault != nil {
		return 0, b.fault
	}
	b.caller.left = len(p) + maxChunkFraming
	n, err = b.stream.Read(p)
	b.caller.left = unlimited
	b.size.Add(int64(n))
	switch {
	case err == nil:
		return n, nil
	case b.caller.broken:
		b.fault = errBodyCutShort
	case errors.Is(err, io.EOF):
		b.complete.Store(true)
		return n, io.EOF
	default:
		b.fault = errChunks
	}
	return n, b.fault
}

// finishReading reads the small body of a call that is refused: the developer is shown it. It must
// come soon, for nothing else depends on it.
func (b *requestBody) finishReading(c *call) {
	const soon = 5 * time.Second
	if b.sending != nil || b.withheld || b.length != 0 && b.reserved == 0 {
		return // the connection is closed after, or there is no memory for it
	}
	if b.caller != nil {
		b.caller.waiting = nil
	}
	if !b.complete.Load() {
		_ = c.client.SetReadDeadline(time.Now().Add(soon))
	}
	if b.kept == nil && b.receive(&c.progress, c.gateway.config.MaxBodyBytes) != nil {
		return
	}
	b.drain(c.client)
}

// drain reads what is left of the body of a refused request, so that the connection can serve the
// next one: as much as a small body and a moment, never longer.
func (b *requestBody) drain(client net.Conn) {
	const most, moment = 256 << 10, time.Second
	if b.complete.Load() || b.length > most {
		return
	}
	_ = client.SetReadDeadline(time.Now().Add(moment))
	pooled := sendBuffers.Get().(*[]byte)
	for b.size.Load() < most {
		if _, err := b.read(*pooled); err != nil {
			break
		}
	}
	sendBuffers.Put(pooled)
	_ = client.SetReadDeadline(time.Time{})
}

// sendBuffers are for bodies on their way up and large ones on their way down.
var sendBuffers = sync.Pool{New: func() any {
	buffer := make([]byte, 32<<10)
	return &buffer
}}

// rest tells whether there is more to send than what was kept.
func (b *requestBody) rest() bool { return !b.complete.Load() || len(b.replay) > 0 }

// replayable tells whether everything read so far can be sent again.
func (b *requestBody) replayable() bool {
	return !b.stopped.Load() && b.size.Load() == int64(len(b.kept)+len(b.replay))
}

// maxReplay bounds what is held of a longer body to send it again, in bytes. It is let go of as soon
// as the upstream acknowledges anything, so it is seldom more than a socket buffer.
const maxReplay = 1 << 20

// remember holds a piece for a second attempt, if the budget allows.
func (b *requestBody) remember(g *Gateway, piece []byte) bool {
	if len(b.replay)+len(piece) > maxReplay || g.reserve(b.share, int64(len(piece))) != nil {
		b.forget(g)
		return false
	}
	b.reserved += int64(len(piece))
	b.replay = append(b.replay, piece...)
	return true
}

func (b *requestBody) forget(g *Gateway) {
	_ = g.reserve(b.share, -int64(len(b.replay)))
	b.reserved -= int64(len(b.replay))
	b.replay = nil
}

// send writes the part of the body that was not kept to the upstream, while the answer is awaited.
// before is what had been written on the connection before this request. A fault of the upstream's
// ends it silently: the answer, or its absence, tells what happened.
func (c *call) send(conn *upstreamConn, before uint64) {
	b := &c.request
	defer close(b.sending)
	if len(b.replay) > 0 && c.resend(conn) != nil {
		return
	}
	pooled := sendBuffers.Get().(*[]byte)
	defer sendBuffers.Put(pooled)
	buffer := *pooled
	const room = 16 // before the piece for a chunk's size line, after it for its end
	remembering := conn.reused
	for !b.complete.Load() {
		c.progress.Add(toReceive)
		n, err := b.read(buffer[room : len(buffer)-room])
		c.progress.Add(received)
		if b.size.Load() > c.gateway.config.MaxBodyBytes {
			c.cut(tooLong)
			return
		}
		if err != nil && !errors.Is(err, io.EOF) {
			switch {
			case b.stopped.Load(): // it is our own deadline
			case errors.Is(err, errChunks):
				c.cut(malformed)
			default:
				c.cut(clientGone)
			}
			return
		}
		remembering = remembering && b.remember(c.gateway, buffer[room:room+n])
		if _, err := conn.Write(b.frame(buffer, room, n)); err != nil {
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

// resend writes what had been sent on a connection that turned out to be closed.
func (c *call) resend(conn *upstreamConn) error {
	b := &c.request
	out := b.replay
	if b.length < 0 {
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

// frame makes the bytes to send of a piece at buffer[room:room+n]: a chunk, the last one with the
// end of the body, or the piece itself.
func (b *requestBody) frame(buffer []byte, room, n int) []byte {
	if b.length >= 0 {
		return buffer[room : room+n]
	}
	start, end := room+n, room+n
	if n > 0 {
		var size [16]byte
		line := append(strconv.AppendInt(size[:0], int64(n), 16), '\r', '\n')
		start = room - len(line)
		copy(buffer[start:], line)
		end += copy(buffer[end:], "\r\n")
	}
	if b.complete.Load() {
		end += copy(buffer[end:], "0\r\n\r\n")
	}
	return buffer[start:end]
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

// linger reads for a moment what the caller still sends after it was answered: closing at once
// would reset the connection, and the answer with it, before the caller has read it.
func linger(client net.Conn) {
	half, ok := client.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = client.SetReadDeadline(time.Now().Add(time.Second))
	pooled := sendBuffers.Get().(*[]byte)
	for read := 0; read < 8<<20; {
		n, err := client.Read(*pooled)
		if read += n; err != nil {
			break
		}
	}
	sendBuffers.Put(pooled)
}
