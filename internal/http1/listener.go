package http1

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// ListenerConfig says how a Listener treats its connections.
type ListenerConfig struct {
	// MaxConns is how many connections may be open at once; 0: no cap. Over it, connections that wait
	// for a request give way to new ones, and where none does the new one is refused.
	MaxConns int
	// Refusal is the whole response that a refused connection is answered with, unread.
	Refusal []byte
	// WriteStall is how long a connection may take nothing of what is written to it before it is cut;
	// 0: 30 s. One that takes anything at all, however slowly, lives.
	WriteStall time.Duration
	// IdleTimeout is how long a connection may wait for a request; 0: 5 minutes. HeadTimeout is how
	// long the head of one may take to arrive; 0: a minute. Both are kept to seconds.
	IdleTimeout, HeadTimeout time.Duration
	// ProxyHeaderFrom are proxies whose connections have to begin with a header of the PROXY protocol,
	// version 2, within 5 s and 2 KiB; the client it names is the connection's RemoteAddr then. From anybody
	// else such a header is no request.
	ProxyHeaderFrom Proxies
	Logger          *slog.Logger
}

// ListenerStats is what a Listener has done since it was made, and holds now.
type ListenerStats struct {
	Open           int   // connections now
	Accepted       int64 // connections in all, refused ones not among them
	Refused        int64 // answered with Refusal
	GaveWay        int64 // closed for a new one while they waited for a request
	Stalled        int64 // cut because they took nothing
	AcceptFailures int64 // failed calls of Accept
	// ProxyHeadersRefused are connections of proxies that were closed for want of a proper header.
	ProxyHeadersRefused int64
}

// Listener is what stands before a server's accept loop: no fault of Accept ends it, no flood of
// connections takes more descriptors than there are, and a process that leaves waits for nobody who is
// not being served. It keeps track of what each connection is doing; the server tells it by the methods
// of Accepted. Accept is called by one goroutine; all else by any.
type Listener struct {
	net.Listener
	config  ListenerConfig
	logger  *slog.Logger
	started time.Time
	clock   atomic.Int64 // whole seconds since started
	closed  atomic.Bool
	// accepting is true from the first call of Accept until one says that the listener is closed: connections may
	// still be added.
	accepting atomic.Bool
	closing   chan struct{} // closed with the listener
	over      chan struct{} // closed when the listener is closed and its last connection

	// Of Accept's goroutine.
	backoff              time.Duration
	candidates           []candidate // to give way next
	looked               time.Time   // when candidates were last searched
	complaints, refusals complaint

	mu    sync.Mutex
	first *Accepted
	open  int
	ended bool          // over is closed
	stall time.Duration // WriteStall, less while draining
	// unintroduced are connections without a PROXY protocol header.
	unintroduced complaint

	lingering                                           atomic.Int32
	accepted, refused, gaveWay, stalled, acceptFailures atomic.Int64
	proxyHeadersRefused                                 atomic.Int64
}

// Listen listens on a TCP address for a Listener. Its sockets are of TCP alone, and not of Multipath TCP as Go's own
// choice is: those cannot be told to let nobody else in (acceptLast).
func Listen(address string) (net.Listener, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	return config.Listen(context.Background(), "tcp", address)
}

// NewListener takes over a listener of Listen. Close, and the end of every connection, ends its goroutine.
func NewListener(of net.Listener, config ListenerConfig) *Listener {
	if config.WriteStall <= 0 {
		config.WriteStall = 30 * time.Second
	}
	if config.IdleTimeout <= 0 {
		config.IdleTimeout = 5 * time.Minute
	}
	if config.HeadTimeout <= 0 {
		config.HeadTimeout = time.Minute
	}
	if config.Logger == nil {
		config.Logger = slog.Default()
	}
	l := &Listener{
		Listener: of, config: config, logger: config.Logger, started: time.Now(), stall: config.WriteStall,
		closing: make(chan struct{}), over: make(chan struct{}),
	}
	go l.tick()
	return l
}

// Stats tells what the listener holds and has done.
func (l *Listener) Stats() ListenerStats {
	l.mu.Lock()
	open := l.open
	l.mu.Unlock()
	return ListenerStats{
		Open: open, Accepted: l.accepted.Load(), Refused: l.refused.Load(), GaveWay: l.gaveWay.Load(),
		Stalled: l.stalled.Load(), AcceptFailures: l.acceptFailures.Load(),
		ProxyHeadersRefused: l.proxyHeadersRefused.Load(),
	}
}

// Close ends accepting. Connections live on.
func (l *Listener) Close() error {
	if l.closed.Swap(true) {
		return nil
	}
	close(l.closing)
	err := l.Listener.Close()
	l.mu.Lock()
	l.endIfOver()
	l.mu.Unlock()
	return err
}

const (
	// headGrace is what half a request gets to become a whole one once the listener drains.
	headGrace = 500 * time.Millisecond
	// drainStall takes the place of WriteStall while draining.
	drainStall = time.Second
	drainLook  = 20 * time.Millisecond
	// handshakes is what a connection that is being made gets to be there.
	handshakes     = 100 * time.Millisecond
	mostHandshakes = time.Second
)

// Drain ends accepting, lets go of every connection that is not being served, and waits for the
// others until ctx is done. A request that has arrived is served, and one whose connection was made shortly
// before has headGrace to arrive. It returns how many connections are left; CloseAll ends them.
func (l *Listener) Drain(ctx context.Context) (left int) {
	l.acceptLast(ctx)
	_ = l.Close()
	began := time.Now()
	l.mu.Lock()
	l.stall = min(l.stall, drainStall)
	l.mu.Unlock()
	ticker := time.NewTicker(drainLook)
	defer ticker.Stop()
	for {
		now := time.Now()
		l.mu.Lock()
		for c := l.first; c != nil; c = c.next {
			c.leave(now.Sub(began) >= headGrace)
			l.watchWrite(c, now)
		}
		left = l.open
		l.mu.Unlock()
		if left == 0 && !l.accepting.Load() {
			return 0
		}
		select {
		case <-ctx.Done():
			return left
		case <-ticker.C:
		}
	}
}

// acceptLast has every connection accepted that a peer takes for made. Closing the listener resets those that
// nobody has accepted yet, and with them requests that may not be sent twice; so before that no new ones are let
// in. Who tries meanwhile is refused a second later, and may turn to another server without a doubt.
func (l *Listener) acceptLast(ctx context.Context) {
	if l.closed.Load() || !ignoreAttempts(l.Listener) {
		return
	}
	for began := time.Now(); ctx.Err() == nil; time.Sleep(drainLook) {
		passed := time.Since(began)
		if passed >= mostHandshakes || passed >= handshakes && unaccepted(l.Listener) == 0 {
			return
		}
	}
}

// CloseAll ends accepting and closes every connection, whatever it is doing.
func (l *Listener) CloseAll() {
	_ = l.Close()
	l.mu.Lock()
	var all []*Accepted
	for c := l.first; c != nil; c = c.next {
		all = append(all, c)
	}
	l.mu.Unlock()
	for _, c := range all {
		_ = c.Close()
	}
}

// tick keeps the clock, and sees to connections that take nothing, until the listener is over.
func (l *Listener) tick() {
	const look = 4 // seconds between two looks at all connections
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-l.over:
			return
		case now := <-ticker.C:
			seconds := int64(now.Sub(l.started) / time.Second)
			l.clock.Store(seconds)
			if seconds%look == 0 || min(l.config.WriteStall, l.config.HeadTimeout, l.config.IdleTimeout) < look*time.Second {
				l.mu.Lock()
				for c := l.first; c != nil; c = c.next {
					l.watchWrite(c, now)
					c.expire(seconds, int64(l.config.IdleTimeout/time.Second), int64(l.config.HeadTimeout/time.Second))
				}
				l.mu.Unlock()
			}
		}
	}
}

// watchWrite cuts a connection that has taken nothing of what was written to it for too long, while a Write
// waits for it or after the answer. The caller holds mu.
func (l *Listener) watchWrite(c *Accepted, now time.Time) {
	writes := c.writes.Load()
	writing := writes%2 != 0
	state := c.state.Load()
	if !writing && (kind(state) == serving || state&used == 0) {
		c.seenWrites = writes
		return
	}
	queued := queuedBytes(c.tcp)
	// Another state: it has been served since, and what is queued is of another answer, be it as long.
	if state != c.seenState || writes != c.seenWrites || queued != c.seenQueued || queued == 0 && !writing {
		c.seenState, c.seenWrites, c.seenQueued, c.stuck = state, writes, queued, now
		return
	}
	if now.Sub(c.stuck) >= l.stall {
		c.stuck = now
		c.Abort() // what it does not take is not kept for it
		_ = c.SetDeadline(past)
		l.stalled.Add(1)
	}
}

func (l *Listener) add(c *Accepted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.next = l.first; c.next != nil {
		c.next.previous = c
	}
	l.first = c
	l.open++
}

func (l *Listener) remove(c *Accepted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.removed {
		return
	}
	c.removed = true
	if c.previous != nil {
		c.previous.next = c.next
	} else {
		l.first = c.next
	}
	if c.next != nil {
		c.next.previous = c.previous
	}
	l.open--
	l.endIfOver()
}

func (l *Listener) endIfOver() {
	if l.closed.Load() && l.open == 0 && !l.ended {
		l.ended = true
		close(l.over)
	}
}

// full tells whether another connection would be one too many.
func (l *Listener) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.config.MaxConns > 0 && l.open >= l.config.MaxConns
}
