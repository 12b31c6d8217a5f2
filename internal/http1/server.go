package http1

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// ErrHeadTimeout is a head that did not arrive in time; a server answers it with 408.
var ErrHeadTimeout = errors.New("the head did not arrive in time")

// Server answers the requests of a listener's connections, one after another, in a goroutine for each
// connection.
type Server struct {
	// Handle answers a request whose head was read. What it leaves of the body is not looked for: it reports
	// whether all of the request was read and all of the answer written, so that another may follow.
	Handle func(*Exchange) (again bool)
	// Refuse answers what cannot be read as a request; fault is an error of Request.Parse or ErrHeadTimeout.
	// The connection is closed after.
	Refuse func(x *Exchange, fault error)
	// MaxHead bounds the head of a request, in bytes; 0: 16 KiB.
	MaxHead int

	leaving atomic.Bool
	serving sync.WaitGroup
}

// Exchange is a request and what is needed to answer it. It is good until Handle or Refuse returns, or until
// the function that was given to Afterwards was called.
type Exchange struct {
	Request
	Conn *Conn
	Peer *Accepted

	server *Server
	after  func(open bool)
}

// Leave ends each connection with its next answer.
func (s *Server) Leave() { s.leaving.Store(true) }

// Serve accepts connections and serves them until the listener is closed.
func (s *Server) Serve(l *Listener) error {
	if s.MaxHead <= 0 {
		s.MaxHead = 16 << 10
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		peer, ok := conn.(*Accepted)
		if !ok { // listeners of tests only
			_ = conn.Close()
			continue
		}
		c := &served{Conn: NewConn(peer), peer: peer, server: s}
		s.serving.Go(c.serve)
	}
}

// Wait waits until every connection has ended, limit at most; it reports whether they have.
func (s *Server) Wait(limit time.Duration) bool {
	ended := make(chan struct{})
	go func() { s.serving.Wait(); close(ended) }()
	select {
	case <-ended:
		return true
	case <-time.After(limit):
		return false
	}
}

// Last tells whether the answer is the last one on its connection.
func (x *Exchange) Last() bool { return !x.KeepAlive || x.server.leaving.Load() }

// Afterwards has f called once it is known whether the caller is still there after its answer, which the next
// read from the connection tells. open is false when the read does not tell: something was there to read, or
// the caller has closed its side. Until then the exchange belongs to f.
func (x *Exchange) Afterwards(f func(open bool)) { x.after = f }

// Linger ends the answer to a request that was not read whole: it reads for a moment what the caller still
// sends. A socket that is closed while it holds unread bytes is reset, and the answer with it.
func (x *Exchange) Linger() {
	const most, moment = 8 << 20, time.Second
	if x.Peer.CloseWrite() != nil {
		return
	}
	_ = x.Conn.SetReadDeadline(time.Now().Add(moment))
	for read := 0; read < most; {
		x.Conn.Discard(x.Conn.Buffer().Len())
		n, err := x.Conn.Fill(true)
		if read += n; err != nil {
			return
		}
	}
}

// served is a connection that is being served.
type served struct {
	*Conn
	peer   *Accepted
	server *Server
	last   *Exchange // whose Afterwards has not been called
	open   func()    // calls it
}

var exchanges = sync.Pool{New: func() any {
	x := new(Exchange)
	x.Reset()
	return x
}}

func (c *served) serve() {
	c.open = func() { c.afterwards(true) }
	if !c.peer.expectsProxyHeader() || c.introduced() {
		for c.await() && c.exchange() {
		}
	}
	c.afterwards(false)
	_ = c.Close()
}

// afterwards ends the exchange before.
func (c *served) afterwards(open bool) {
	if x := c.last; x != nil {
		c.last = nil
		x.after(open)
		x.release()
	}
}

func (x *Exchange) release() {
	x.Reset() // here and not when it is taken: it must not hold on to a buffer
	x.Conn, x.Peer, x.server, x.after = nil, nil, nil, nil
	exchanges.Put(x)
}

// await waits for the beginning of a request.
func (c *served) await() bool {
	if c.Buffer().Len() > 0 {
		c.afterwards(false)
		return true
	}
	if c.last != nil {
		c.WhenQuiet(c.open)
	}
	err := c.fill()
	c.WhenQuiet(nil)
	c.afterwards(false)
	return err == nil
}

// fill waits for more bytes. A connection that has to leave is served once more if a request has arrived.
func (c *served) fill() error {
	_, err := c.Fill(false)
	if err == nil || !c.peer.leaves() {
		return err
	}
	if n, err := c.FillNow(); n == 0 {
		return err
	}
	c.peer.stay(reading)
	return nil
}

// exchange reads a head and has the request answered. It reports whether another may follow.
func (c *served) exchange() (again bool) {
	x := exchanges.Get().(*Exchange)
	x.Conn, x.Peer, x.server = c.Conn, c.peer, c.server
	switch n, err := c.head(x); {
	case err != nil:
		if c.peer.Serving() {
			c.server.Refuse(x, err)
		}
	case n == 0 || !c.peer.Serving():
	default:
		c.Discard(n)
		again = c.server.Handle(x)
	}
	if again {
		c.peer.Waiting()
		if x.after != nil {
			c.last = x
			return true
		}
	}
	x.release()
	return again
}

// head reads a request's head; n is 0 when the caller left.
func (c *served) head(x *Exchange) (n int, err error) {
	for begun := false; ; {
		unread := c.Unread()
		if !begun { // of a caller that ended its last body with an empty line (RFC 9112, section 2.2)
			if bytes.HasPrefix(unread, []byte("\r\n")) {
				c.Discard(2)
				unread = unread[2:]
			}
			begun = len(unread) > 0 && string(unread) != "\r"
		}
		if begun {
			if n, err := x.Parse(unread, c.server.MaxHead); n > 0 || err != nil {
				return n, err
			}
		}
		c.peer.Reading()
		if err := c.fill(); err != nil {
			if timedOut(err) && c.peer.late() {
				return 0, ErrHeadTimeout
			}
			return 0, nil
		}
	}
}

func timedOut(err error) bool {
	var fault net.Error
	return errors.As(err, &fault) && fault.Timeout()
}
