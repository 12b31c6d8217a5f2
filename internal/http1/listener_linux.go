package http1

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

func onSocket(conn syscall.Conn, do func(fd int)) {
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

// ignoreAttempts has the kernel drop what begins a connection to the listener, unanswered: the peer tries again
// after a second. Connections that are being made still come. It reports false where that cannot be had.
func ignoreAttempts(l net.Listener) (ok bool) {
	socket, isSocket := l.(syscall.Conn)
	if !isSocket {
		return false
	}
	const flags, syn = 13, 0x02 // of the TCP header, which is where the kernel begins to look
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: syn, Jt: 0, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: 1<<32 - 1},
	}
	onSocket(socket, func(fd int) {
		ok = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}) == nil
	})
	return ok
}

// unaccepted is how many connections wait to be accepted.
func unaccepted(l net.Listener) (n int) {
	if socket, ok := l.(syscall.Conn); ok {
		onSocket(socket, func(fd int) {
			if info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
				n = int(info.Unacked) // of a listener that is what it says
			}
		})
	}
	return n
}
