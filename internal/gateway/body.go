package gateway

import (
	"errors"
	"io"
	"sync/atomic"
	"time"

	"callgate/internal/http1"
)

// keptBody is how much of a request body is kept for a failure's detail, in bytes: one more than
// may be stored, so that a longer one is told from one that just fits. What one read brings is not cut.
const keptBody = 16_385

// requestBody is the caller's body on its way to the upstream. Its beginning is kept: for the
// detail of a failure, and to send it again when a pooled connection turns out to be closed.
type requestBody struct {
	http1.Body
	from     *http1.Conn
	owner    *holding // of the application; nil when there is none
	kept     []byte
	spare    []byte // an earlier call's, empty, for kept
	reserved int64  // of the gateway's byte budget
	extra    int64  // of that, for what is kept beyond keptBody
	size     atomic.Int64
	complete atomic.Bool   // the end was read
	atHand   bool          // it was read before anything was sent: a sender reads nothing of the caller
	fault    error         // why the body has no end; nothing is read after it
	withheld bool          // the caller waits to be told to send it
	sending  chan struct{} // closed when the rest was sent or given up; nil when there is no rest
	sent     bool          // all was written to the upstream; read after sending was closed
	stopped  atomic.Bool   // the sender was interrupted: where it stopped reading is not known

	// unsent is what of kept is still to be written beside the wait for the answer, and end what follows it.
	unsent []byte
	end    string

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

// open looks at how the body is framed and reserves memory for what will be kept.
func (b *requestBody) open(g *Gateway, x *http1.Exchange) error {
	b.from, b.withheld = x.Conn, x.Continue
	framing := x.Body()
	b.Begin(framing)
	b.complete.Store(b.Ended())
	keep := int64(keptBody)
	if framing.Kind != http1.Chunked {
		keep = min(framing.Length, keptBody)
	}
	if err := g.reserve(b.owner, keep); err != nil {
		return err
	}
	b.reserved = keep
	if framing.Length > g.config.MaxBodyBytes {
		return errTooLarge
	}
	return nil
}

func (b *requestBody) release(g *Gateway) {
	_ = g.reserve(b.owner, -b.reserved)
	b.reserved, b.extra = 0, 0
}

// receive reads the beginning of the body, as far as it is kept.
func (b *requestBody) receive(c *call) error {
	if b.complete.Load() {
		return nil
	}
	room := min(max(b.Framing().Length, int64(b.from.Buffer().Len())), keptBody)
	if room <= int64(cap(b.spare)) {
		b.kept, b.spare = b.spare, nil
	} else {
		b.kept = make([]byte, 0, room)
	}
	for len(b.kept) < keptBody && !b.complete.Load() {
		piece, err := b.read(false)
		if err != nil {
			return err
		}
		b.kept = append(b.kept, piece.Bytes()...)
		c.progress.Add(moved)
	}
	if b.size.Load() > c.gateway.config.MaxBodyBytes {
		return errTooLarge
	}
	return nil
}

// receiveForAnother reads on, so that the whole body is at hand for another attempt: one of at most most bytes, for which
// there is memory. What is not read here goes to the upstream as it comes.
func (b *requestBody) receiveForAnother(c *call, most int64) error {
	if b.Framing().Kind != http1.Chunked && b.Framing().Length > most {
		return nil
	}
	for !b.complete.Load() && int64(len(b.kept)) < most && b.room(c.gateway, 1, most) {
		piece, err := b.read(true)
		if err != nil {
			return err
		}
		b.room(c.gateway, piece.Len(), most)
		b.kept = append(b.kept, piece.Bytes()...)
		c.progress.Add(moved)
	}
	if b.size.Load() > c.gateway.config.MaxBodyBytes {
		return errTooLarge
	}
	return nil
}

// room makes room for n more bytes in kept, in few steps: memory is taken for what came, not for what was announced. It
// reports false when there is no memory.
func (b *requestBody) room(g *Gateway, n int, most int64) bool {
	need := len(b.kept) + n
	if need <= cap(b.kept) {
		return true
	}
	if b.Framing().Kind != http1.Chunked {
		most = b.Framing().Length
	}
	size := max(min(4*int64(cap(b.kept)), most), int64(need))
	more := size - keptBody - b.extra
	if more > 0 {
		if g.reserve(b.owner, more) != nil {
			return false
		}
		b.extra += more
		b.reserved += more
	}
	b.kept = append(make([]byte, 0, size), b.kept...)
	return true
}

// detail is what of the body a failure's detail is made of: nothing of one that is too long for it.
func (b *requestBody) detail() []byte {
	if b.size.Load() >= keptBody {
		return nil
	}
	return b.kept
}

// forgetKept lets go of what was kept for another attempt only: a detail is made of smaller bodies.
func (b *requestBody) forgetKept(g *Gateway) {
	if b.extra > 0 && (b.atHand || b.sending == nil) { // else the sender counts, too
		_ = g.reserve(b.owner, -b.extra)
		b.reserved -= b.extra
		b.extra, b.kept = 0, nil
	}
}

var continueAnswer = []byte("HTTP/1.1 100 Continue\r\n\r\n")

// read waits for the next bytes of the body; the end sets complete. After an error there are none.
func (b *requestBody) read(large bool) (http1.Piece, error) {
	for b.fault == nil {
		if b.from.Buffer().Len() > 0 {
			piece, err := b.Next(b.from.Buffer())
			if err != nil {
				b.fault = errChunks
				break
			}
			b.size.Add(int64(piece.Len()))
			if b.Ended() {
				b.complete.Store(true)
			}
			if piece.Len() > 0 || b.Ended() {
				b.withheld = false // it came unasked; asking later could fall into the answer
				return piece, nil
			}
		}
		if b.withheld { // it will be read, so it is asked for (RFC 9110, section 10.1.1)
			b.withheld = false
			if _, err := b.from.Write(continueAnswer); err != nil {
				b.fault = errBodyCutShort
				break
			}
		}
		switch _, err := b.from.Fill(large); {
		case errors.Is(err, io.EOF):
			b.fault = errBodyCutShort
		case err != nil:
			b.fault = err
		}
	}
	return http1.Piece{}, b.fault
}

// arrived tells whether the rest of a body of known length can be had without waiting.
func (b *requestBody) arrived() bool {
	return b.complete.Load() || b.Framing().Kind == http1.Sized && int64(b.from.Buffer().Len()) >= b.Left()
}

// finishReading reads the small body of a call that is refused: the developer is shown it. It must
// come soon, for nothing else depends on it.
func (b *requestBody) finishReading(c *call) {
	const soon = 5 * time.Second
	if b.complete.Load() || b.sending != nil || b.withheld || b.reserved == 0 || b.Framing().Length > c.gateway.config.MaxBodyBytes {
		return // all is there; or the connection is closed after, or there is no memory for it
	}
	if !b.arrived() {
		c.hurry(soon)
	}
	if b.kept == nil && b.receive(c) != nil {
		return
	}
	b.drain()
}

// drain reads what is left of the body of a refused request, so that the connection can serve the
// next one: as much as a small body and a moment, never longer. A deadline may stay on the connection.
func (b *requestBody) drain() {
	const most, moment = 256 << 10, time.Second
	if b.complete.Load() || b.withheld || b.Framing().Length > most {
		return
	}
	hurried := !b.arrived()
	if hurried {
		_ = b.from.SetReadDeadline(time.Now().Add(moment))
	}
	for b.size.Load() < most && !b.complete.Load() {
		if _, err := b.read(true); err != nil {
			break
		}
	}
	if hurried {
		_ = b.from.SetReadDeadline(time.Time{})
	}
}

// rest tells whether there is more to send than what was kept.
func (b *requestBody) rest() bool {
	return !b.complete.Load() || len(b.replay) > 0 || len(b.unsent) > 0
}

// replayable tells whether everything read so far can be sent again.
func (b *requestBody) replayable() bool {
	return !b.stopped.Load() && b.size.Load() == int64(len(b.kept)+len(b.replay))
}

// maxReplay bounds what is held of a longer body to send it again, in bytes. It is let go of as soon
// as the upstream acknowledges anything, so it is seldom more than a socket buffer.
const maxReplay = 1 << 20

// remember holds a piece for a second attempt, if the budget allows.
func (b *requestBody) remember(g *Gateway, piece []byte) bool {
	if len(b.replay)+len(piece) > maxReplay || g.reserve(b.owner, int64(len(piece))) != nil {
		b.forget(g)
		return false
	}
	b.reserved += int64(len(piece))
	b.replay = append(b.replay, piece...)
	return true
}

func (b *requestBody) forget(g *Gateway) {
	_ = g.reserve(b.owner, -int64(len(b.replay)))
	b.reserved -= int64(len(b.replay))
	b.replay = nil
}
