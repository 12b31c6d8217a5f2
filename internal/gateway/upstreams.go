package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"callgate/internal/http1"
	"callgate/internal/upstream"
)

const (
	// idleConnLife is how long an unused upstream connection is kept: shorter than the 60 s and more
	// after which most servers and balancers close theirs.
	idleConnLife = 55 * time.Second
	// provingTime is how long the first connections to an upstream rest before they are used again. An
	// upstream that closes after every answer without saying so does it in this time; one that was
	// once seen to keep a connection open is trusted with it.
	provingTime = 25 * time.Millisecond
	// restful is after which rest the pool looks at a connection before it is used again: an upstream
	// that says something unasked, its farewell most of all, or closes, has most likely done so by then.
	// One that was used a moment ago is not asked; if it is closed nonetheless, it is replaced.
	restful = 100 * time.Millisecond
)

var errPoolExhausted = errors.New("all connections to the upstream are in use")

// upstreamConn is one connection to an upstream, used by one call at a time.
type upstreamConn struct {
	*http1.Conn // over the socket, or TLS over it
	socket      *countedConn
	probe       *probe
	pool        *connPool
	idle        time.Time // when it was last given back
	reused      bool
}

// countedConn counts the bytes written to a socket, so that they can be compared with what the
// peer acknowledged.
type countedConn struct {
	net.Conn
	written uint64
	reset   bool // the connection was found reset
}

// Write counts what it writes.
func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written += uint64(max(n, 0))
	c.reset = c.reset || err != nil && errors.Is(err, syscall.ECONNRESET)
	return n, err
}

// SyscallConn gives the socket.
func (c *countedConn) SyscallConn() (syscall.RawConn, error) {
	socket, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return socket.SyscallConn()
}

// connPool keeps the connections to one scheme, host and port.
type connPool struct {
	address string
	tls     *tls.Config // nil for http
	dialer  upstream.Dialer
	limit   int
	places  fair              // of limit, among owners
	quiet   func(*probe) bool // see probe.quiet

	keepsOpen atomic.Bool // a connection of the pool has served a second call

	mu   sync.Mutex
	idle []*upstreamConn // the one used last at the end
	open int             // idle, in use and being dialled
}

// get returns an idle connection that the upstream has not closed, or nil with a place reserved for
// a new one. errPoolExhausted when there is neither.
func (p *connPool) get(now time.Time, fresh bool) (*upstreamConn, error) {
	for !fresh {
		conn := p.pop(now)
		if conn == nil {
			break
		}
		if rested := now.Sub(conn.idle); rested < restful || rested < idleConnLife && p.quiet(conn.probe) {
			conn.reused = true
			return conn, nil
		}
		p.drop(conn)
	}
	p.mu.Lock()
	var evicted *upstreamConn
	if p.open >= p.limit {
		if len(p.idle) == 0 {
			p.mu.Unlock()
			return nil, errPoolExhausted
		}
		evicted = p.take(0) // an idle connection gives way to a new one
		p.open--
	}
	p.open++
	p.mu.Unlock()
	if evicted != nil {
		_ = evicted.Close()
	}
	return nil, nil
}

// pop takes the connection used last, or, from an upstream not yet trusted, the one that rested
// longest, if that was long enough.
func (p *connPool) pop(now time.Time) *upstreamConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	switch {
	case n == 0:
		return nil
	case p.keepsOpen.Load():
		return p.take(n - 1)
	case now.Sub(p.idle[0].idle) >= provingTime:
		return p.take(0)
	}
	return nil
}

func (p *connPool) take(i int) *upstreamConn {
	conn := p.idle[i]
	copy(p.idle[i:], p.idle[i+1:])
	p.idle[len(p.idle)-1] = nil
	p.idle = p.idle[:len(p.idle)-1]
	return conn
}

// dial connects; the place was reserved by get and is given back when it fails.
func (p *connPool) dial(ctx context.Context) (*upstreamConn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.dialer.Timeout) // name, connection and TLS together
	defer cancel()
	conn, err := p.connect(ctx)
	if err != nil {
		p.mu.Lock()
		p.open--
		p.mu.Unlock()
		return nil, err
	}
	return conn, nil
}

func (p *connPool) connect(ctx context.Context) (*upstreamConn, error) {
	raw, err := p.dialer.DialContext(ctx, "tcp", p.address)
	if err != nil {
		return nil, fmt.Errorf("connect to the upstream: %w", err)
	}
	conn := &upstreamConn{socket: &countedConn{Conn: http1.NewSocket(raw)}, probe: newProbe(raw), pool: p}
	conn.Conn = http1.NewConn(conn.socket)
	if p.tls != nil {
		secure := tls.Client(conn.socket, p.tls)
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = raw.Close()
			if ctx.Err() != nil { // the handshake reports the closed socket instead
				err = ctx.Err()
			}
			return nil, fmt.Errorf("TLS with the upstream: %w", err)
		}
		conn.Conn = http1.NewConn(secure)
	}
	return conn, nil
}

// put gives back a connection whose last answer was read to its end.
func (p *connPool) put(conn *upstreamConn, now time.Time) {
	conn.Settle()
	conn.idle = now
	p.mu.Lock()
	p.idle = append(p.idle, conn)
	p.mu.Unlock()
}

// drop closes a connection that cannot be used again.
func (p *connPool) drop(conn *upstreamConn) {
	p.mu.Lock()
	p.open--
	p.mu.Unlock()
	_ = conn.Close()
}

// evict closes the connections unused since before.
func (p *connPool) evict(before time.Time) {
	var old []*upstreamConn
	p.mu.Lock()
	n := 0
	for n < len(p.idle) && p.idle[n].idle.Before(before) {
		n++
	}
	old = append(old, p.idle[:n]...)
	rest := copy(p.idle, p.idle[n:])
	clear(p.idle[rest:])
	p.idle = p.idle[:rest]
	p.open -= n
	p.mu.Unlock()
	for _, conn := range old {
		_ = conn.Close()
	}
}

func (p *connPool) count() (open, idle int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open, len(p.idle)
}

// target is a parsed upstream base URL and the connections that lead there.
type target struct {
	scheme string
	host   string // as the Host header names it
	name   string // the host without its port
	path   string // escaped, without a trailing slash
	mark   []byte // see mark
	pool   *connPool
}

// upstreams finds the target of a base URL. Base URLs are set by administrators: there are few.
type upstreams struct {
	allowPrivate bool
	timeout      time.Duration
	limit        int
	share        float64
	quiet        func(*probe) bool
	sessions     tls.ClientSessionCache
	watchTLS     func(*tls.Config) // see Config.WatchTLS

	targets sync.Map // base URL -> *target
	mu      sync.Mutex
	pools   map[string]*connPool // scheme://host:port
}

func (u *upstreams) target(baseURL string) (*target, error) {
	if t, ok := u.targets.Load(baseURL); ok {
		return t.(*target), nil
	}
	parsed, err := upstream.ParseBaseURL(baseURL, u.allowPrivate)
	if err != nil {
		return nil, fmt.Errorf("upstream base URL: %w", err)
	}
	port := parsed.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[parsed.Scheme]
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	key := parsed.Scheme + "://" + net.JoinHostPort(parsed.Hostname(), port)
	pool := u.pools[key]
	if pool == nil {
		pool = &connPool{
			address: net.JoinHostPort(parsed.Hostname(), port),
			dialer:  upstream.Dialer{AllowPrivate: u.allowPrivate, Timeout: u.timeout},
			limit:   u.limit,
			quiet:   u.quiet,
		}
		pool.places.divide(int64(u.limit), u.share)
		if parsed.Scheme == "https" {
			pool.tls = &tls.Config{
				ServerName: parsed.Hostname(), MinVersion: tls.VersionTLS12,
				NextProtos: []string{"http/1.1"}, ClientSessionCache: u.sessions,
			}
			if u.watchTLS != nil {
				u.watchTLS(pool.tls)
			}
		}
		u.pools[key] = pool
	}
	t, _ := u.targets.LoadOrStore(baseURL, &target{
		scheme: parsed.Scheme, host: parsed.Host, name: parsed.Hostname(), path: parsed.EscapedPath(), mark: mark(parsed.Host), pool: pool,
	})
	return t.(*target), nil
}

func (u *upstreams) each(visit func(*connPool)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, pool := range u.pools {
		visit(pool)
	}
}
