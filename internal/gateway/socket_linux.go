package gateway

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// quiet tells whether an idle connection is still open and has nothing to read: what an upstream
// says unasked is its farewell.
func quiet(conn net.Conn) bool {
	alive := false
	onSocket(conn, func(fd int) {
		var b [1]byte
		_, _, err := unix.Recvfrom(fd, b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		alive = err == unix.EAGAIN
	})
	return alive
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
