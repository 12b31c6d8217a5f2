package gateway

import (
	"net"
	"syscall"

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
