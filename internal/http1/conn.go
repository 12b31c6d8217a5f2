package http1

import (
	"errors"
	"io"
	"net"
	"syscall"
)

// Conn is a connection that is read through a Buffer, which it holds only while unread bytes are in it: a
// silent connection costs its socket and its goroutine. One goroutine at a time may read.
type Conn struct {
	net.Conn

	buf   *Buffer
	large bool            // the next read into an empty buffer takes a large one
	raw   syscall.RawConn // nil: not a socket, but TLS or a pipe
	try   func(fd uintptr) bool
	n     int // what try read
	err   error
	quiet func() // called once when the next Fill has to wait

	first    []byte // written by try before it reads
	written  int
	writeErr error
}

// NewConn returns a connection over c.
func NewConn(c net.Conn) *Conn {
	conn := &Conn{Conn: c}
	if socket, ok := c.(syscall.Conn); ok {
		if raw, err := socket.SyscallConn(); err == nil {
			conn.raw, conn.try = raw, conn.tryRead
		}
	}
	return conn
}

// Buffer is what was read and not used; nil when there is nothing.
func (c *Conn) Buffer() *Buffer { return c.buf }

// Unread are the bytes read and not used.
func (c *Conn) Unread() []byte { return c.buf.Unread() }

// Discard uses up n unread bytes.
func (c *Conn) Discard(n int) {
	if c.buf != nil {
		c.buf.r += n
	}
}

// Settle gives the buffer back if nothing unread is in it. Pieces of it are no longer good.
func (c *Conn) Settle() {
	if c.buf != nil && c.buf.r == c.buf.w {
		c.buf.give()
		c.buf = nil
	}
}

// WhenQuiet has f called once, by the next Fill, if there is nothing to read yet and the peer has not closed
// its side. A read that is made anyway tells it: nobody has to ask the socket for it.
func (c *Conn) WhenQuiet(f func()) { c.quiet = f }

// Fill waits for bytes and puts them behind the unread ones, whose place changes. It returns how many came;
// io.EOF when the peer closed its side. large asks for a large buffer, for a body that fills small ones.
func (c *Conn) Fill(large bool) (int, error) {
	c.Settle()
	c.large = large
	if c.buf != nil {
		c.buf = c.buf.roomier()
	}
	if c.raw == nil {
		c.takeBuffer()
		c.n, c.err = c.Read(c.buf.free())
		c.took()
		return c.n, c.err
	}
	c.n, c.err = 0, nil
	if err := c.raw.Read(c.try); err != nil {
		return 0, err // a deadline, or closed
	}
	return c.n, c.err
}

// WriteAndFill writes p and waits for the peer's answer to it. It is Write and Fill without the read between
// them that finds nothing, as no answer is there before the write. A write that fails does not keep from
// reading: a peer may have answered before it closed. direct is how many bytes went to the socket past the
// Write of the connection that NewConn was given.
func (c *Conn) WriteAndFill(p []byte) (direct int, writeErr, err error) {
	if c.raw == nil || c.buf.Len() > 0 {
		_, writeErr = c.Write(p)
		_, err = c.Fill(false)
		return 0, writeErr, err
	}
	c.Settle()
	c.large, c.n, c.err = false, 0, nil
	c.first, c.written, c.writeErr = p, 0, nil
	err = c.raw.Read(c.try)
	rest := c.first
	c.first = nil
	switch {
	case err != nil: // a deadline, or closed
		return c.written, c.writeErr, err
	case rest != nil: // the socket did not take all at once
		_, writeErr = c.Write(rest)
		_, err = c.Fill(false)
		return c.written, writeErr, err
	}
	return c.written, c.writeErr, c.err
}

// tryWrite writes once what goes before the read. It reports whether all went.
func (c *Conn) tryWrite(fd uintptr) (all bool) {
	n, err := write(fd, c.first)
	c.written = max(n, 0)
	switch {
	case c.written == len(c.first):
		c.first = nil
	case err == nil, errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
		c.first = c.first[c.written:]
		return false
	default:
		c.first, c.writeErr = nil, err
	}
	return true
}

// FillNow is Fill without waiting, whatever the deadline: io.EOF also when there is nothing yet.
func (c *Conn) FillNow() (int, error) {
	c.Settle()
	if c.buf != nil {
		c.buf = c.buf.roomier()
	}
	if c.raw == nil {
		return 0, io.EOF
	}
	c.n, c.err = 0, nil
	err := c.raw.Control(func(fd uintptr) {
		if !c.tryRead(fd) {
			c.err = io.EOF
		}
	})
	return c.n, errors.Join(err, c.err)
}

func (c *Conn) takeBuffer() {
	switch {
	case c.buf != nil:
	case c.large:
		c.buf = take(large)
	default:
		c.buf = take(small)
	}
}

// took counts what was read.
func (c *Conn) took() {
	if c.n > 0 {
		c.buf.w += c.n
		c.err = nil
		return
	}
	c.Settle()
	if c.err == nil {
		c.err = io.EOF
	}
}

// tryRead reads once; it reports false when there is nothing yet, to be called again when there is.
func (c *Conn) tryRead(fd uintptr) bool {
	if c.first != nil {
		all := c.tryWrite(fd)
		if !all || c.writeErr == nil {
			return !all // the rest is written in the ordinary way; or the answer is waited for
		}
	}
	c.takeBuffer()
	for {
		n, err := read(fd, c.buf.free())
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			c.Settle()
			if f := c.quiet; f != nil {
				c.quiet = nil
				f()
			}
			return false
		}
		c.n, c.err = max(n, 0), err
		c.took()
		return true
	}
}

// Close closes the connection and gives the buffer back. No other goroutine may be reading.
func (c *Conn) Close() error {
	if c.buf != nil {
		c.buf.give()
		c.buf = nil
	}
	return c.Conn.Close()
}
