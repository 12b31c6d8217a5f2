package http1

import (
	"net"

	"golang.org/x/sys/unix"
)

func onSocket(conn *net.TCPConn, do func(fd int)) {
	if raw, err := conn.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { do(int(fd)) })
	}
}

// unread tells whether bytes wait to be read.
func unread(conn *net.TCPConn) (some bool) {
	onSocket(conn, func(fd int) {
		fds := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds[:], 0)
		some = err == nil && n == 1 && fds[0].Revents&unix.POLLIN != 0
		if some { // the end of the peer's side is readable too
			var one [1]byte
			n, _, err := unix.Recvfrom(fd, one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
			some = err == nil && n > 0
		}
	})
	return some
}

// queuedBytes is how much of what was written the peer has not acknowledged.
func queuedBytes(conn *net.TCPConn) (n int) {
	onSocket(conn, func(fd int) { n, _ = unix.IoctlGetInt(fd, unix.SIOCOUTQ) })
	return n
}
