package embedded

import (
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
)

// Link is a wire to a store that a test can cut and mend, to show what an outage does without
// disturbing the tests that share the store.
type Link struct {
	url      string
	target   string
	listener net.Listener
	done     chan struct{}

	mu       sync.Mutex
	cut      bool
	asked    func(piece []byte) (passes bool) // nil: everything does
	answered func(piece []byte) (passes bool)
	conns    map[net.Conn]struct{}
	users    sync.WaitGroup
}

// NewLink puts a link in front of the store of a DSN; the test uses URL in the DSN's place.
func NewLink(t TB, dsn string) *Link {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatalf("link: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("link: %v", err)
	}
	l := &Link{target: u.Host, listener: listener, done: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	u.Host = listener.Addr().String()
	l.url = u.String()
	go l.accept()
	t.Cleanup(func() {
		_ = listener.Close()
		l.Cut()
		<-l.done
		l.users.Wait()
	})
	return l
}

// URL is the DSN through the link.
func (l *Link) URL() string { return l.url }

// Cut breaks every connection and, until Mend, every new one at once.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	for conn := range l.conns {
		_ = conn.Close()
	}
}

// Mend lets connections through again.
func (l *Link) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
}

// Inspect shows a test what passes on the connections made from now on, before it is passed on: asked
// gets every piece of at most 32 KiB that a client sends, answered every one of the store. A piece that
// does not pass is lost, and its connection broken. Both are called by the connections' own
// goroutines, and may not keep the piece.
func (l *Link) Inspect(asked, answered func(piece []byte) (passes bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked, l.answered = asked, answered
}

func (l *Link) accept() {
	defer close(l.done)
	for {
		client, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			l.users.Go(func() { l.carry(client) })
		}
	}
}

// carry copies both ways until either side ends or the link is cut.
func (l *Link) carry(client net.Conn) {
	if !l.hold(client) {
		return
	}
	defer l.drop(client)
	store, err := net.Dial("tcp", l.target)
	if err != nil || !l.hold(store) {
		return
	}
	defer l.drop(store)
	l.mu.Lock()
	asked, answered := l.asked, l.answered
	l.mu.Unlock()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(inspected(client, answered), store)
		_ = client.Close()
	})
	_, _ = io.Copy(inspected(store, asked), client)
	_ = store.Close()
	back.Wait()
}

// inspected is a connection that takes only what passes.
func inspected(to net.Conn, passes func(piece []byte) bool) io.Writer {
	if passes == nil {
		return to
	}
	return inspector{to, passes}
}

type inspector struct {
	to     io.Writer
	passes func(piece []byte) bool
}

var errLost = errors.New("lost on the link")

func (i inspector) Write(piece []byte) (int, error) {
	if !i.passes(piece) {
		return 0, errLost
	}
	return i.to.Write(piece)
}

// hold registers a connection, or closes it if the link is cut.
func (l *Link) hold(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		_ = conn.Close()
		return false
	}
	l.conns[conn] = struct{}{}
	return true
}

func (l *Link) drop(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = conn.Close()
	delete(l.conns, conn)
}
