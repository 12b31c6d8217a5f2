package gateway

import (
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// probe asks the kernel about a connection's socket, without allocating each time.
type probe struct {
	raw    syscall.RawConn // nil: no socket, which counts as closed
	ask    func(fd uintptr)
	silent bool
}

func newProbe(conn net.Conn) *probe {
	p := &probe{}
	if c, ok := conn.(syscall.Conn); ok {
		p.raw, _ = c.SyscallConn()
	}
	p.ask = func(fd uintptr) {
		fds := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN | unix.POLLRDHUP}}
		n, err := unix.Poll(fds[:], 0)
		p.silent = n == 0 && err == nil
	}
	return p
}

// quiet tells whether an idle connection is still open and has nothing to read: what an upstream
// says unasked is its farewell.
func (p *probe) quiet() bool {
	p.silent = false
	return p.raw != nil && p.raw.Control(p.ask) == nil && p.silent
}

// glance is one look at a caller's socket, reused so that it allocates little.
type glance struct {
	look    func(fd uintptr)
	ended   bool // the caller has closed its side, or reset the connection
	broken  bool // the connection was reset
	waiting int  // bytes written that the caller's side has not acknowledged, when it has ended
}

var glances = sync.Pool{New: func() any {
	g := &glance{}
	g.look = func(fd uintptr) {
		fds := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		_, err := unix.Poll(fds[:], 0)
		g.ended = err == nil && fds[0].Revents != 0
		g.broken = g.ended && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
		if g.ended {
			g.waiting, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
		}
	}
	return g
}}

func lookAt(conn net.Conn) (seen glance) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return glance{}
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return glance{}
	}
	g := glances.Get().(*glance)
	g.ended, g.broken, g.waiting = false, false, 0
	_ = raw.Control(g.look)
	seen = *g
	glances.Put(g)
	return seen
}

// accepted tells whether the caller's side took all that was written to it but the last tail bytes. A write
// to a caller that has already closed succeeds, and only the answer to it tells: a reset. Callers that
// are still there cost one look; those that are not are waited for, closingGrace at most.
func accepted(conn net.Conn, tail int) bool {
	const pause = 2 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		switch seen := lookAt(conn); {
		case !seen.ended || seen.waiting <= tail:
			return true
		case seen.broken || waited >= closingGrace:
			return false
		}
		time.Sleep(pause)
	}
}

// unacknowledged tells whether nothing written after the first sent bytes has reached the peer: a
// peer that had closed before our bytes arrived never acknowledges them.
func unacknowledged(conn net.Conn, sent uint64) bool {
	unseen := false
	onSocket(conn, func(fd int) {
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		unseen = err == nil && info.Bytes_acked <= sent+1 // the connection's first sequence number counts as a byte
	})
	return unseen
}

func onSocket(conn net.Conn, do func(fd int)) {
	if c, ok := conn.(syscall.Conn); ok {
		if raw, err := c.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { do(int(fd)) })
		}
	}
}
