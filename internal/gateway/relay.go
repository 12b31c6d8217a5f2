package gateway

import (
	"errors"
	"io"
	"time"

	"callgate/internal/http1"
)

// relay passes the answer on as it comes, until its end: what one read of the upstream brought goes to the
// caller with one write. It reports whether another request may follow on the caller's connection.
func (c *call) relay(conn *upstreamConn) (again bool) {
	c.enter(relaying)
	c.request.forgetKept(c.gateway)
	c.x.Peer.Trust() // the supervisor sees to callers that do not read
	again = c.request.complete.Load() && !c.x.Last() && (c.answer.Framing().Kind <= http1.Sized || !c.x.Old)
	if err := c.begin(again); err != nil {
		return c.end(conn, again, nil, err)
	}
	for large := false; !c.answer.Ended(); {
		piece, err := c.nextPiece(conn, large)
		if err != nil {
			return c.end(conn, again, err, nil)
		}
		large = piece.Len() >= fullRead
		if err := c.pass(piece); err != nil && (piece.Len() > 0 || !c.answer.Ended()) {
			return c.end(conn, again, nil, err) // a lost end behind a body that was taken is no fault
		}
	}
	return c.end(conn, again, nil, nil)
}

// fullRead is how much one small read brings at least when more waits: then the next one is large.
const fullRead = 4000

// nextPiece waits for the next piece of the answer's body. Where the end of the connection is that of the body,
// it comes with an empty piece.
func (c *call) nextPiece(conn *upstreamConn, large bool) (http1.Piece, error) {
	if conn.Buffer().Len() == 0 {
		switch _, err := conn.Fill(large); {
		case errors.Is(err, io.EOF):
			return http1.Piece{}, c.answer.Closed()
		case err != nil:
			return http1.Piece{}, err
		}
	}
	return c.answer.Next(conn.Buffer())
}

// describe keeps what the record needs of the answer's head.
func (c *call) describe(g *guard) {
	kind := g.answer.ContentType
	c.streamed = len(kind) >= 17 && http1.EqualFold(kind[:17], "text/event-stream")
	if c.counts() {
		g.answer.Path = c.path
		c.meter = takeReader()
		c.meter.Begin(g.answer, c.budget)
	}
	if c.status/100 != 2 {
		c.errorAnswer = errorAnswer{copies: true, encoding: string(g.answer.Encoding)}
	}
}

// begin writes the answer's head, with what of the body came with it.
func (c *call) begin(again bool) error {
	out := c.appendAnswer((*c.out)[:0], again)
	*c.out = out
	c.errorAnswer.add(c.first.Bytes())
	body := c.frame(c.first)
	if len(out)+len(body) <= maxTogether {
		out = append(out, body...)
		body, *c.out = nil, out
	}
	c.progress.Add(toWrite)
	_, err := c.client.Write(out)
	if err == nil && len(body) > 0 {
		_, err = c.client.Write(body)
	}
	c.progress.Add(written)
	c.count(c.first)
	if err == nil {
		c.wrote(c.first)
	}
	giveHead(c.out)
	c.out = nil
	return err
}

// frame makes the bytes to write of a piece. Of an empty one only the end of the body is written.
func (c *call) frame(piece http1.Piece) []byte {
	if c.answer.Framing().Kind > http1.Sized && !c.x.Old {
		return piece.Chunk(c.answer.Ended())
	}
	return piece.Bytes()
}

// pass writes one piece of the body.
func (c *call) pass(piece http1.Piece) error {
	c.progress.Add(toWrite)
	c.errorAnswer.add(piece.Bytes())
	var err error
	if out := c.frame(piece); len(out) > 0 {
		_, err = c.client.Write(out)
	}
	c.progress.Add(written)
	c.count(piece)
	if err == nil {
		c.wrote(piece)
	}
	return err
}

// wrote counts the bytes of the body, and those of framing behind the last of them.
func (c *call) wrote(piece http1.Piece) {
	const chunkEnd, bodyEnd = len("\r\n"), len("0\r\n\r\n")
	c.responseBytes += int64(piece.Len())
	if c.answer.Framing().Kind <= http1.Sized || c.x.Old {
		return
	}
	if piece.Len() > 0 {
		c.tail = chunkEnd
	}
	if c.answer.Ended() {
		c.tail += bodyEnd
	}
}

// end gives the upstream's connection back or closes it, and makes the record, at once or when the next
// read tells whether the caller is still there. readErr is what the upstream's side ended with, if not
// properly, writeErr what the caller's did.
func (c *call) end(conn *upstreamConn, again bool, readErr, writeErr error) bool {
	sent := c.stopSending(conn, 0)
	uncut := c.leave()
	complete := readErr == nil && writeErr == nil
	c.putBack(conn, complete && uncut && sent)
	_ = c.takePlace(nil) // what follows may take a moment
	switch {
	case !complete:
		if c.endpoint != nil && readErr != nil {
			c.countCut()
		}
		if c.x.Old && c.answer.Framing().Kind > http1.Sized {
			c.x.Peer.Abort() // its body ends with the connection: only a reset tells that this is no end
		}
		c.finish(c.interrupted(writeErr != nil))
		return false
	case again && uncut:
		c.awaits = true
		c.x.Afterwards(c.afterwards)
		return true
	}
	c.recordEnd(false)
	if !c.request.complete.Load() {
		c.x.Linger()
	}
	return false
}

// putBack gives a connection back to its pool where the exchange on it was whole and it can be used again, else closes it.
func (c *call) putBack(conn *upstreamConn, whole bool) {
	if whole && c.response.KeepAlive && c.answer.Framing().Kind != http1.UntilClose && conn.Buffer().Len() == 0 {
		conn.pool.put(conn, time.Now())
	} else {
		conn.pool.drop(conn)
	}
}

// recordEnd makes the record of an answer that was written whole. A write to a caller that has already closed
// succeeds: unless open says that it has not, its side is asked what it took. The framing behind the last
// byte of the body need not have arrived.
func (c *call) recordEnd(open bool) {
	if open || accepted(c.client.Conn, c.tail) {
		c.finish(c.completed())
	} else {
		c.finish(c.interrupted(true))
	}
}

// recordAnswered is called when it is known whether the caller is still there. It ends the call's life.
func (c *call) recordAnswered(open bool) {
	c.recordEnd(open)
	c.release()
}
