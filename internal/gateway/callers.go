package gateway

import (
	"bytes"
	"net"

	"callgate/internal/http1"
)

// Listener returns a listener for an app the gateway is registered on. Its connections remember how
// they were last read: the server's stream of a chunked body takes a caller that leaves between two
// chunks for the end of the body, and gives no other sign of a malformed one than of a broken connection.
func Listener(of *http1.Listener) net.Listener { return callers{of} }

type callers struct{ *http1.Listener }

func (l callers) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tracked, ok := conn.(*http1.Accepted); ok {
		return &callerConn{Accepted: tracked, left: unlimited, head: true}, err
	}
	return conn, err
}

// callerConn is a caller's connection. Who reads the request has its fields.
type callerConn struct {
	*http1.Accepted
	broken bool // the last read failed
	left   int  // bytes that may be read, or unlimited

	begun   [32]byte // how the request being read begins
	opening int      // how many bytes of begun are known
	head    bool     // the next bytes belong to begun
	waiting *call    // whose body is read next: the deadline of its head must not cut it
}

// answered tells that a request was read to its end: what is read next begins another.
func (c *callerConn) answered() {
	c.opening, c.head, c.waiting = 0, true, nil
}

// opens tells whether the request that could not be read began like one to the gateway.
func (c *callerConn) opens() bool {
	_, target, ok := bytes.Cut(c.begun[:c.opening], []byte(" "))
	target, _, _ = bytes.Cut(target, []byte(" "))
	return ok && isOurs(target)
}

const unlimited = -1

// Read reads from the socket what may be read.
func (c *callerConn) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, errChunks
	}
	if c.left > 0 && len(p) > c.left {
		p = p[:c.left]
	}
	if c.waiting != nil {
		c.waiting.lift()
		c.waiting = nil
	}
	n, err := c.Accepted.Read(p)
	c.broken = err != nil
	if c.head {
		c.opening += copy(c.begun[c.opening:], p[:max(n, 0)])
		c.head = c.opening < len(c.begun)
	}
	if c.left > 0 {
		c.left -= n
	}
	return n, err
}
