package http1

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
)

// Socket is a TCP connection whose system calls are not announced to Go's scheduler as calls that may block:
// the socket is non-blocking. An announced one wakes the runtime's monitor thread whenever the process had
// nothing to do before, which at a moderate rate costs more than the call itself. Any number of goroutines may
// use it, as any net.Conn.
type Socket struct {
	*net.TCPConn
	raw syscall.RawConn
	try func(fd uintptr) bool

	writing sync.Mutex
	rest    []byte // what try has to write
	err     error
}

// NewSocket returns c as a Socket, or c itself where it is no TCP connection.
func NewSocket(c net.Conn) net.Conn {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := tcp.SyscallConn()
	if err != nil { // of a nil connection only
		return c
	}
	s := &Socket{TCPConn: tcp, raw: raw}
	s.try = s.tryWrite
	return s
}

// Write writes p whole, or tells how much of it and why not more: a deadline, the end of either side.
func (s *Socket) Write(p []byte) (int, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.rest, s.err = p, nil
	err := s.raw.Write(s.try)
	n := len(p) - len(s.rest)
	s.rest = nil
	if err == nil { // else a deadline, or closed
		err = s.err
	}
	return n, err
}

// tryWrite writes until the socket takes no more. It reports false when it has to be called again.
func (s *Socket) tryWrite(fd uintptr) (done bool) {
	for len(s.rest) > 0 {
		switch n, err := write(fd, s.rest); {
		case n > 0:
			s.rest = s.rest[n:]
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return false
		default:
			s.err = os.NewSyscallError("write", err)
			return true
		}
	}
	return true
}
