package http1

import (
	"strconv"
	"sync"
)

const (
	// before is the room in front of the bytes of a buffer: a chunk's size line is written there.
	before = 16
	// behind is the room after them, for what ends a chunk and a body.
	behind = len("\r\n0\r\n\r\n")

	smallBuffer = 4<<10 - before - behind
	largeBuffer = 32 << 10
)

// Buffer is what was read of a connection and not used yet.
type Buffer struct {
	bytes []byte
	r, w  int // unread: bytes[r:w]
	pool  *sync.Pool
}

func pooled(size int) *sync.Pool {
	pool := &sync.Pool{}
	pool.New = func() any {
		return &Buffer{bytes: make([]byte, before+size+behind), pool: pool}
	}
	return pool
}

var small, large = pooled(smallBuffer), pooled(largeBuffer)

func take(pool *sync.Pool) *Buffer {
	b := pool.Get().(*Buffer)
	b.r, b.w = before, before
	return b
}

// give returns a buffer that nobody uses any more.
func (b *Buffer) give() {
	if b.pool != nil {
		b.pool.Put(b)
	}
}

// Len is how many bytes are unread.
func (b *Buffer) Len() int {
	if b == nil {
		return 0
	}
	return b.w - b.r
}

// Unread are the bytes not used yet.
func (b *Buffer) Unread() []byte {
	if b == nil {
		return nil
	}
	return b.bytes[b.r:b.w]
}

// free is where the next bytes go.
func (b *Buffer) free() []byte { return b.bytes[b.w : len(b.bytes)-behind] }

// roomier makes room for more bytes behind the unread ones: by moving them, or in a larger buffer.
func (b *Buffer) roomier() *Buffer {
	switch {
	case len(b.free()) > 0:
		return b
	case b.r > before:
		b.w = before + copy(b.bytes[before:], b.Unread())
		b.r = before
		return b
	}
	larger := &Buffer{}
	if b.pool == small {
		larger = take(large)
	} else {
		larger.bytes = make([]byte, before+2*len(b.bytes)+behind)
		larger.r, larger.w = before, before
	}
	larger.w += copy(larger.bytes[larger.w:], b.Unread())
	b.give()
	return larger
}

// Piece is bytes of a body, with room around them in their buffer.
type Piece struct {
	buffer   *Buffer
	from, to int
}

// Bytes are the piece's bytes.
func (p Piece) Bytes() []byte {
	if p.buffer == nil {
		return nil
	}
	return p.buffer.bytes[p.from:p.to]
}

// Len is how many there are.
func (p Piece) Len() int { return p.to - p.from }

// Chunk is the piece as one chunk, with the end of the body behind it when it is the last. Nothing is
// copied: the framing is written around the piece, where that of the body it comes from stood, which is why
// it may be asked for once only, and not of a Sized body. An empty piece that is not the last has no bytes,
// as a chunk of none would end the body.
func (p Piece) Chunk(last bool) []byte {
	if p.from == p.to {
		if last {
			return []byte(lastChunk)
		}
		return nil
	}
	bytes := p.buffer.bytes
	var digits [before]byte
	size := append(strconv.AppendInt(digits[:0], int64(p.to-p.from), 16), '\r', '\n')
	from := p.from - len(size)
	copy(bytes[from:], size)
	to := p.to + copy(bytes[p.to:], "\r\n")
	if last {
		to += copy(bytes[to:], lastChunk)
	}
	return bytes[from:to]
}

const lastChunk = "0\r\n\r\n"
