package http1

import "io"

// Kind is how the end of a body is told.
type Kind uint8

// The kinds of framing.
const (
	Empty      Kind = iota // there is no body
	Sized                  // by its length
	Chunked                // by the last chunk
	UntilClose             // by the end of the connection
)

// Framing is how a body is framed.
type Framing struct {
	Kind   Kind
	Length int64 // in bytes, of a Sized body
}

// Body finds the bytes of a body among those that were read of its connection.
type Body struct {
	framing Framing
	left    int64 // of the body, or of the chunk
	ended   bool
	chunks  chunkState
}

// Begin makes b ready for a body.
func (b *Body) Begin(f Framing) {
	*b = Body{framing: f, left: f.Length, ended: f.Kind == Empty}
}

// Ended tells whether the body's end was found.
func (b *Body) Ended() bool { return b.ended }

// Framing is what the body began with.
func (b *Body) Framing() Framing { return b.framing }

// Left is how many bytes are still to come of a Sized body.
func (b *Body) Left() int64 { return b.left }

// Next uses up unread bytes of buf and returns the bytes of the body among them, moved together; a piece
// may be empty when only framing was there. It is good until buf is read into. Bytes behind the body's end
// stay unread. ErrMalformed is a chunked body that has no end that can be found; what came before the fault is
// returned first, and the faulty bytes stay unread.
func (b *Body) Next(buf *Buffer) (Piece, error) {
	if b.ended {
		return Piece{}, nil
	}
	if b.framing.Kind == Chunked {
		return b.nextChunks(buf)
	}
	n := buf.Len()
	if b.framing.Kind == Sized {
		n = int(min(int64(n), b.left))
		b.left -= int64(n)
		b.ended = b.left == 0
	}
	piece := Piece{buf, buf.r, buf.r + n}
	buf.r += n
	return piece, nil
}

// Closed says what the end of the connection means for the body: nil is its proper end.
func (b *Body) Closed() error {
	switch {
	case b.ended:
		return nil
	case b.framing.Kind == UntilClose:
		b.ended = true
		return nil
	}
	return io.ErrUnexpectedEOF
}
