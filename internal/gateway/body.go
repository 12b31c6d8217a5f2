package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// answerBody reads an upstream's response body piece by piece out of the connection's buffer.
type answerBody struct {
	br      *bufio.Reader
	left    int64 // bytes left of the body, or of the chunk; -1: until the connection ends
	chunked bool
	started bool // chunked: a chunk was begun, its end mark is still to come
	ended   bool
}

var errFraming = errors.New("malformed chunked body")

// maxChunkLine bounds a chunk's size line and a trailer line, in bytes.
const maxChunkLine = 4 << 10

func (b *answerBody) reset(br *bufio.Reader, head *answerHead) {
	*b = answerBody{br: br, left: head.length, chunked: head.chunked}
	if b.chunked {
		b.left = 0
	}
	b.ended = !b.chunked && b.left == 0
}

// ready tells whether a piece can be had without waiting for the upstream.
func (b *answerBody) ready() bool {
	buffered := b.br.Buffered()
	if !b.chunked || buffered == 0 {
		return buffered > 0 && !b.ended
	}
	start, _ := b.br.Peek(buffered)
	line := bytes.IndexByte(start, '\n')
	return line >= 0 && line+1 < buffered && start[0] != '0' // which begins the end of an empty body
}

// next waits for body bytes and returns what is there, at most one chunk. The bytes are good until
// the next call; io.EOF is the proper end. A connection that ends before the body does is
// io.ErrUnexpectedEOF. large, when not nil, is read into directly once the small buffer is empty.
func (b *answerBody) next(large []byte) ([]byte, error) {
	if b.chunked && b.left == 0 && !b.ended {
		if err := b.nextChunk(); err != nil {
			return nil, err
		}
	}
	if b.ended {
		return nil, io.EOF
	}
	if b.br.Buffered() == 0 && large != nil {
		return b.readLarge(large)
	}
	if _, err := b.br.Peek(1); err != nil {
		return nil, b.cut(err)
	}
	n := b.br.Buffered()
	if b.left >= 0 {
		n = int(min(int64(n), b.left))
	}
	piece, err := b.br.Peek(n)
	if err != nil {
		return nil, err
	}
	if _, err := b.br.Discard(n); err != nil {
		return nil, err
	}
	b.took(n)
	return piece, nil
}

func (b *answerBody) readLarge(large []byte) ([]byte, error) {
	if b.left >= 0 && int64(len(large)) > b.left {
		large = large[:b.left]
	}
	n, err := b.br.Read(large)
	if n == 0 && err != nil {
		return nil, b.cut(err)
	}
	b.took(n)
	return large[:n], nil
}

func (b *answerBody) took(n int) {
	if b.left < 0 {
		return
	}
	b.left -= int64(n)
	b.ended = b.left == 0 && !b.chunked
}

// cut says what the connection's end means here.
func (b *answerBody) cut(err error) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	if b.left < 0 {
		b.ended = true
		return io.EOF // a body without any framing ends with the connection
	}
	return io.ErrUnexpectedEOF
}

// nextChunk reads a chunk's size line, and the trailers after the last chunk.
func (b *answerBody) nextChunk() error {
	if b.started {
		line, err := b.line()
		if err != nil {
			return err
		}
		if len(line) != 0 {
			return errFraming
		}
	}
	line, err := b.line()
	if err != nil {
		return err
	}
	if b.left, err = chunkSize(line); err != nil {
		return err
	}
	b.started = true
	if b.left > 0 {
		return nil
	}
	for range 128 { // trailers are dropped: nothing announced them to the caller
		if line, err = b.line(); err != nil {
			return err
		}
		if len(line) == 0 {
			b.ended = true
			return nil
		}
	}
	return errFraming
}

// chunkSize reads a chunk's size line.
func chunkSize(line []byte) (int64, error) {
	size, _, _ := bytes.Cut(line, []byte(";"))
	size = bytes.TrimRight(size, " \t")
	if len(size) == 0 || len(size) > 15 || unhex(size[0]) > 15 {
		return 0, errFraming
	}
	n, err := strconv.ParseInt(string(size), 16, 64)
	if err != nil {
		return 0, errFraming
	}
	return n, nil
}

// beginsChunk tells whether a chunked body can begin like this: its head has not gone to the caller
// yet, who is better told than cut off.
func beginsChunk(begun []byte) bool {
	if len(begun) == 0 {
		return true
	}
	line, _, whole := bytes.Cut(begun, []byte("\n"))
	if !whole {
		return unhex(begun[0]) < 16
	}
	_, err := chunkSize(bytes.TrimSuffix(line, []byte("\r")))
	return err == nil
}

func (b *answerBody) line() ([]byte, error) {
	line, err := b.br.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("%w: line too long", errFraming)
	case err != nil:
		return nil, err
	case len(line) > maxChunkLine:
		return nil, errFraming
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}
