package http1

import (
	"cmp"
	"errors"
	"io"
	"net"
	"slices"
	"syscall"
	"time"
)

const (
	leastBackoff = 5 * time.Millisecond
	mostBackoff  = time.Second
)

// Accept returns the next connection, a *Accepted where it is one of TCP. It fails only once the listener
// is closed: whatever else goes wrong, want of descriptors above all, passes.
func (l *Listener) Accept() (net.Conn, error) {
	l.accepting.Store(true)
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			if l.closed.Load() || errors.Is(err, net.ErrClosed) {
				l.accepting.Store(false)
				return nil, net.ErrClosed
			}
			l.acceptFailed(err)
			continue
		}
		l.backoff = 0
		if l.full() && !l.giveWay() {
			l.refuse(conn)
			continue
		}
		l.accepted.Add(1)
		tcp, ok := conn.(*net.TCPConn)
		if !ok {
			return conn, nil
		}
		c := &Accepted{Conn: NewSocket(tcp), tcp: tcp, listener: l}
		c.state.Store(at(l.clock.Load(), waiting))
		l.add(c)
		return c, nil
	}
}

// acceptFailed counts a failure, says so now and then, and waits before the next try. Where
// descriptors are wanting and a connection gives one up, the next try is at once.
func (l *Listener) acceptFailed(err error) {
	l.acceptFailures.Add(1)
	l.complaints.say(func(times int) {
		l.logger.Error("connections cannot be accepted, trying on", "error", err, "times", times, "open", l.Stats().Open)
	})
	if (errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)) && l.giveWay() {
		return
	}
	l.backoff = min(max(2*l.backoff, leastBackoff), mostBackoff)
	select {
	case <-l.closing:
	case <-time.After(l.backoff):
	}
}

// complaint bounds how often one thing is logged.
type complaint struct {
	last  time.Time
	times int
}

const complainEvery = 10 * time.Second

// say calls tell with how often it happened since tell was last called.
func (c *complaint) say(tell func(times int)) {
	c.times++
	if now := time.Now(); now.Sub(c.last) >= complainEvery {
		tell(c.times)
		c.last, c.times = now, 0
	}
}

const (
	mostLingering = 64
	lingerFor     = 500 * time.Millisecond
	lingerBytes   = 64 << 10
)

// refuse answers a connection that there is no room for. A socket that is closed while it holds
// unread bytes is reset, and the answer with it: so a few of them linger.
func (l *Listener) refuse(conn net.Conn) {
	l.refused.Add(1)
	l.refusals.say(func(times int) {
		l.logger.Warn("too many connections, new ones are refused", "limit", l.config.MaxConns, "times", times)
	})
	_ = conn.SetDeadline(time.Now().Add(lingerFor))
	_, _ = conn.Write(l.config.Refusal) // into an empty send buffer: it does not wait
	half, ok := conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil || l.lingering.Add(1) > mostLingering {
		if ok {
			l.lingering.Add(-1)
		}
		_ = conn.Close()
		return
	}
	go func() {
		_, _ = io.CopyN(io.Discard, conn, lingerBytes)
		_ = conn.Close()
		l.lingering.Add(-1)
	}()
}

// candidate is a connection that may give way, as it was when it was looked at.
type candidate struct {
	conn  *Accepted
	state uint64
	rank  int
}

const (
	restful   = 1 // seconds of rest after which a connection gives way sooner than others
	slowHead  = 5 // seconds after which half a head may give way
	lookApart = 10 * time.Millisecond
	fewest    = 64 // candidates looked for
	oneInMany = 8  // or this part of all, whichever is more
)

// In this order connections give way, the longest idle of each kind first.
const (
	rankUnused = iota // never asked for anything
	rankIdle          // kept open after an answer
	rankNew           // has just come: its request is likely on its way
	rankRecent        // has just been answered
	rankSlow          // half a head that has been one for seconds
	unwilling
)

func rankOf(state uint64, now int64) int {
	age := now - since(state)
	switch {
	case kind(state) == reading && age >= slowHead:
		return rankSlow
	case kind(state) != waiting:
		return unwilling
	case state&used == 0 && age > restful:
		return rankUnused
	case state&used == 0:
		return rankNew
	case age > restful:
		return rankIdle
	}
	return rankRecent
}

// giveWay closes one connection that is not being served. It reports false when there is none.
func (l *Listener) giveWay() bool {
	for {
		for len(l.candidates) > 0 {
			next := l.candidates[0]
			l.candidates = l.candidates[1:]
			if next.conn.dismiss(next.state) {
				l.gaveWay.Add(1)
				return true
			}
		}
		if now := time.Now(); now.Sub(l.looked) < lookApart {
			return false
		}
		l.candidates = l.search()
		l.looked = time.Now()
		if len(l.candidates) == 0 {
			return false
		}
	}
}

func (l *Listener) search() []candidate {
	now := l.clock.Load()
	var found []candidate
	l.mu.Lock()
	most := max(fewest, l.open/oneInMany)
	for c := l.first; c != nil; c = c.next {
		state := c.state.Load()
		if rank := rankOf(state, now); rank != unwilling {
			found = append(found, candidate{c, state, rank})
		}
	}
	l.mu.Unlock()
	slices.Reverse(found) // the oldest connection first where all else is equal
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(since(a.state), since(b.state)))
	})
	return found[:min(len(found), most)]
}
