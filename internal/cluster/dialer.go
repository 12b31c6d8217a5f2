package cluster

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// dialer makes connections on which a node that says nothing for too long is given up. A node that hangs keeps
// its connections open and accepts new ones.
type dialer struct{ tls *tls.Config }

func (d dialer) dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	impatient := &impatientConn{TCPConn: conn.(*net.TCPConn)}
	if d.tls == nil {
		return impatient, nil
	}
	config := d.tls.Clone()
	if host, _, err := net.SplitHostPort(address); err == nil && config.ServerName == "" {
		config.ServerName = host
	}
	secured := tls.Client(impatient, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secured, nil
}

// impatientConn bounds each Read besides what its user sets.
type impatientConn struct {
	*net.TCPConn
	deadline time.Time // of reading, as its user set it
}

func (c *impatientConn) SetDeadline(t time.Time) error {
	c.deadline = t
	return c.TCPConn.SetDeadline(t)
}

func (c *impatientConn) SetReadDeadline(t time.Time) error {
	c.deadline = t
	return c.TCPConn.SetReadDeadline(t)
}

func (c *impatientConn) Read(p []byte) (int, error) {
	limit := time.Now().Add(silence)
	if !c.deadline.IsZero() && c.deadline.Before(limit) {
		limit = c.deadline
	}
	if err := c.TCPConn.SetReadDeadline(limit); err != nil {
		return 0, err
	}
	return c.TCPConn.Read(p)
}
