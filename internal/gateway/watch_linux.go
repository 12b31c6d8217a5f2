package gateway

import (
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// watcher notices that callers have gone, by one epoll for all of them. Only the end of the
// caller's side is asked for, so that a pipelined request wakes nobody.
type watcher struct {
	gone  func(token uint64) // told of a caller that has gone
	epoll int                // -1 when there is none: callers are then only noticed when written to
	pipe  [2]int
	done  sync.WaitGroup

	mu      sync.Mutex
	last    uint64
	watched map[uint64]*call
}

func newWatcher(gone func(token uint64)) *watcher {
	w := &watcher{gone: gone, epoll: -1, watched: map[uint64]*call{}}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return w
	}
	if err := unix.Pipe2(w.pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		_ = unix.Close(epoll)
		return w
	}
	stop := unix.EpollEvent{Events: unix.EPOLLIN}
	if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, w.pipe[0], &stop); err != nil {
		_ = unix.Close(epoll)
		return w
	}
	w.epoll = epoll
	w.done.Go(w.run)
	return w
}

// arm begins to watch the caller's socket and returns a token, 0 when it cannot be watched.
func (w *watcher) arm(conn net.Conn, c *call) (token uint64) {
	if w.epoll < 0 {
		return 0
	}
	onSocket(conn, func(fd int) {
		w.mu.Lock()
		w.last++
		token = w.last
		w.watched[token] = c
		w.mu.Unlock()
		event := unix.EpollEvent{Events: unix.EPOLLRDHUP | unix.EPOLLONESHOT, Fd: int32(uint32(token)), Pad: int32(token >> 32)}
		if unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &event) != nil {
			w.forget(token)
			token = 0
		}
	})
	return token
}

// disarm stops watching a socket whose token is forgotten, while the connection is still the call's.
func (w *watcher) disarm(conn net.Conn) {
	onSocket(conn, func(fd int) { _ = unix.EpollCtl(w.epoll, unix.EPOLL_CTL_DEL, fd, nil) })
}

func (w *watcher) forget(token uint64) {
	w.mu.Lock()
	delete(w.watched, token)
	w.mu.Unlock()
}

// call is the one a token was given for, nil when it was forgotten since.
func (w *watcher) call(token uint64) *call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.watched[token]
}

// count is how many sockets are watched.
func (w *watcher) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.watched)
}

func (w *watcher) run() {
	events := make([]unix.EpollEvent, 64)
	for {
		n, err := unix.EpollWait(w.epoll, events, -1)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return
		}
		for _, event := range events[:n] {
			token := uint64(uint32(event.Fd)) | uint64(uint32(event.Pad))<<32
			if token == 0 {
				return // told to stop by the pipe
			}
			w.gone(token)
		}
	}
}

func (w *watcher) close() {
	if w.epoll < 0 {
		return
	}
	_, _ = unix.Write(w.pipe[1], []byte{1})
	w.done.Wait()
	_ = unix.Close(w.epoll)
	_ = unix.Close(w.pipe[0])
	_ = unix.Close(w.pipe[1])
}
