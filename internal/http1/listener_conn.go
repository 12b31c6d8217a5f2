package http1

import (
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// What a connection is doing.
const (
	waiting uint64 = iota // for the first byte of a request
	reading               // a request has begun to arrive
	serving               // it is being answered
	leaving               // was waiting when the listener began to drain
	cutting               // was reading, for too long, when the listener drained
	slow                  // was reading for longer than HeadTimeout
	gone                  // closed by the listener
)

// A state is one word, so that a request costs two stores: the seconds of the listener's clock since
// when, whether a request was served before, and what the connection is doing.
const (
	kindBits        = 3
	used     uint64 = 1 << kindBits
	timeBits        = kindBits + 1
)

func kind(state uint64) uint64           { return state & (1<<kindBits - 1) }
func since(state uint64) int64           { return int64(state >> timeBits) }
func at(clock int64, kind uint64) uint64 { return uint64(clock)<<timeBits | kind }

// past is a deadline that ends every read and write at once.
var past = time.Unix(1, 0)

// Accepted is a connection of a Listener. The server calls Serving when a request's head has arrived and
// Waiting once it is answered.
type Accepted struct {
	net.Conn
	tcp      *net.TCPConn
	listener *Listener
	state    atomic.Uint64
	leaveMu  sync.Mutex // held while a deadline is set that makes the connection leave

	// Memo is what the server's user remembers of the connection from one request to the next.
	Memo any

	source  net.Addr      // the client a proxy named; nil: none did
	trusted bool          // of the goroutine that serves the connection
	writes  atomic.Uint64 // odd during a Write

	// Guarded by the listener's mu.
	next, previous *Accepted
	removed        bool
	seenState      uint64
	seenWrites     uint64
	seenQueued     int
	stuck          time.Time
}

// RemoteAddr is the peer's address, or the client's a proxy has named.
func (c *Accepted) RemoteAddr() net.Addr {
	if c.source != nil {
		return c.source
	}
	return c.tcp.RemoteAddr()
}

// Serving marks the connection as busy with a request. It reports false when the listener has closed
// it: the request must not be acted on.
func (c *Accepted) Serving() bool {
	for {
		switch state := c.state.Load(); kind(state) {
		case gone:
			return false
		case leaving, cutting, slow: // the whole request came at the last moment, or is refused
			c.stay(serving)
			return true
		default:
			if c.state.CompareAndSwap(state, state&used|at(c.listener.clock.Load(), serving)) {
				return true
			}
		}
	}
}

// Reading marks the connection as one of which half a head has come.
func (c *Accepted) Reading() {
	if state := c.state.Load(); kind(state) == waiting {
		c.state.CompareAndSwap(state, state&used|at(c.listener.clock.Load(), reading))
	}
}

// leaves tells whether the listener wants the connection gone unless a request has arrived.
func (c *Accepted) leaves() bool { return kind(c.state.Load()) == leaving }

// late tells whether the head that is being read took longer than HeadTimeout.
func (c *Accepted) late() bool { return kind(c.state.Load()) == slow }

// Waiting marks the connection as one that is kept open for another request.
func (c *Accepted) Waiting() {
	c.trusted = false
	if state := c.state.Load(); kind(state) != gone {
		c.state.CompareAndSwap(state, used|at(c.listener.clock.Load(), waiting))
	}
}

// Trust takes the connection's writes out of the watch for stalls until the request is answered: the
// server has a watch of its own on it. Only the goroutine that serves the connection may call it.
func (c *Accepted) Trust() { c.trusted = true }

// stay undoes leave.
func (c *Accepted) stay(kind uint64) {
	c.leaveMu.Lock()
	defer c.leaveMu.Unlock()
	c.state.Store(at(c.listener.clock.Load(), kind))
	_ = c.SetReadDeadline(time.Time{})
}

// leave makes a connection end that waits for another request, and with hurry one that waits for its first or
// reads half of one. A request that has arrived is still served.
func (c *Accepted) leave(hurry bool) {
	state := c.state.Load()
	next := leaving
	switch kind(state) {
	case waiting:
		if state&used == 0 && !hurry { // it may have come just now
			return
		}
	case reading:
		if !hurry {
			return
		}
		next = cutting
	default:
		return
	}
	c.leaveMu.Lock()
	defer c.leaveMu.Unlock()
	if c.state.CompareAndSwap(state, state&^(1<<kindBits-1)|next) {
		_ = c.SetReadDeadline(past)
	}
}

// expire ends what takes too long: a connection that waits for a request is closed, the reading of a head
// that does not come is ended, so that it can be answered.
func (c *Accepted) expire(now int64, idle, head int64) {
	state := c.state.Load()
	switch age := now - since(state); {
	case kind(state) == waiting && age > idle:
		c.leave(true)
	case kind(state) == reading && age > head && c.state.CompareAndSwap(state, state&^(1<<kindBits-1)|slow):
		_ = c.SetReadDeadline(past)
	}
}

// dismiss closes a connection that is still in this state, and about which no byte has arrived that
// nobody has read yet.
func (c *Accepted) dismiss(state uint64) bool {
	if kind(state) == waiting && unread(c.tcp) || !c.state.CompareAndSwap(state, at(0, gone)) {
		return false
	}
	c.listener.remove(c)
	_ = c.Conn.Close()
	return true
}

// Write writes to the socket. The listener cuts a connection that takes nothing of it for long.
func (c *Accepted) Write(p []byte) (int, error) {
	if c.trusted {
		return c.Conn.Write(p)
	}
	c.writes.Add(1)
	n, err := c.Conn.Write(p)
	c.writes.Add(1)
	return n, err
}

// Close closes the connection.
func (c *Accepted) Close() error {
	c.listener.remove(c)
	c.state.Store(at(0, gone))
	return c.Conn.Close()
}

// Abort makes Close reset the connection instead of ending it.
func (c *Accepted) Abort() { _ = c.tcp.SetLinger(0) }

// CloseWrite ends the sending side.
func (c *Accepted) CloseWrite() error { return c.tcp.CloseWrite() }

// SyscallConn gives the socket.
func (c *Accepted) SyscallConn() (syscall.RawConn, error) { return c.tcp.SyscallConn() }
