package gateway

import "net"

// Listener returns a listener for an app the gateway is registered on. Its connections remember how
// they were last read: the server's stream of a chunked body takes a caller that leaves between two
// chunks for the end of the body, and gives no other sign of a malformed one than of a broken connection.
func Listener(of net.Listener) net.Listener { return callers{of} }

type callers struct{ net.Listener }

func (l callers) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		return &callerConn{TCPConn: tcp, left: unlimited}, err
	}
	return conn, err
}

// callerConn is a caller's connection. Who reads the request has its fields.
type callerConn struct {
	*net.TCPConn
	broken bool // the last read failed
	left   int  // bytes that may be read, or unlimited
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
	n, err := c.TCPConn.Read(p)
	c.broken = err != nil
	if c.left > 0 {
		c.left -= n
	}
	return n, err
}
