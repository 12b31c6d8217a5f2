package decompress

import (
	"bufio"
	"errors"
	"io"
	"iter"
)

// Bounds on what is inflated: an upstream chooses the bytes.
const (
	inputStep   = 1 << 10
	inflateStep = 4 << 10
	// maxRatio is how many bytes one of the answer may become, over the first freeBytes: text of a model does not
	// come near it, and what a call costs stays in proportion to what it brought.
	maxRatio  = 64
	freeBytes = 256 << 10
)

var (
	errStopped  = errors.New("the answer is over")
	errInflated = errors.New("the answer becomes too large")
)

// Stream undoes the compression of an answer that comes in pieces. The decoders of the libraries ask for their
// input; this one runs such a decoder as a coroutine, which stands still while there is none.
type Stream struct {
	input  []byte
	closed bool // no more will come
	next   func() (struct{}, bool)
	stop   func()
	sink   func([]byte)
	budget func(bytes int64) bool
	held   int64 // bytes of the budget
	err    error
	taken  int64
	given  int64
}

// NewStream gives the bytes of an encoding to sink. budget is asked for the bytes of memory that the decoder
// takes at most, before it is made, and given them back as a negative number.
func NewStream(encoding string, budget func(bytes int64) bool, sink func([]byte)) *Stream {
	f := &Stream{sink: sink, budget: budget}
	f.next, f.stop = iter.Pull(func(yield func(struct{}) bool) { f.err = f.run(encoding, yield) })
	return f
}

// Write gives the decoder a piece, and what it makes of it to sink. An error ends it.
func (f *Stream) Write(p []byte) error {
	f.input = p
	f.taken += int64(len(p))
	f.next()
	f.input = nil
	return f.err
}

// End lets the decoder end, and tells whether the answer was whole.
func (f *Stream) End() error {
	defer func() {
		f.stop()
		f.budget(-f.held)
	}()
	f.closed = true
	f.next()
	return f.err
}

// Given is how many bytes it became by now.
func (f *Stream) Given() int64 { return f.given }

// run is the coroutine: it decodes until the end.
func (f *Stream) run(encoding string, yield func(struct{}) bool) error {
	source := &source{Stream: f, yield: yield}
	if !source.wait() {
		return nil // nothing came at all
	}
	decoder, done, err := Open(encoding, bufio.NewReaderSize(source, inputStep), f.reserve)
	if err != nil {
		return err
	}
	defer done()
	buffer := make([]byte, inflateStep)
	for {
		n, err := decoder.Read(buffer)
		if f.given += int64(n); f.given > freeBytes+maxRatio*f.taken {
			return errInflated
		}
		f.sink(buffer[:n])
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// reserve takes bytes of the budget for the decoder.
func (f *Stream) reserve(bytes int64) bool {
	if !f.budget(bytes) {
		return false
	}
	f.held = bytes
	return true
}

// source is what a decoder reads.
type source struct {
	*Stream
	yield func(struct{}) bool
}

// wait waits for input. It reports false at the end.
func (s *source) wait() bool {
	for len(s.input) == 0 {
		if s.closed || !s.yield(struct{}{}) {
			return false
		}
	}
	return true
}

func (s *source) Read(p []byte) (int, error) {
	if !s.wait() {
		return 0, s.over()
	}
	n := copy(p, s.input)
	s.input = s.input[n:]
	return n, nil
}

func (s *source) over() error {
	if s.closed {
		return io.EOF
	}
	return errStopped
}
