package http1

import (
	"net"
	"testing"
	"time"
)

// A connection whose answers are all as long must not be taken for one that is stuck, because two looks at it,
// with other answers between them, found as much on its way.
func TestAConnectionThatIsServedBetweenTwoLooksIsNotStuck(t *testing.T) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := NewListener(socket, ListenerConfig{})
	defer l.CloseAll()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	if err := client.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := accepted.(*Accepted)
	began := time.Now()
	look := func(after time.Duration) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.clock.Store(int64(after / time.Second))
		l.watchWrite(c, began.Add(after))
	}
	// answer writes more than the peer's buffer holds, less than our own does: it is queued.
	answer := func(after time.Duration) (queued int) {
		l.clock.Store(int64(after / time.Second))
		c.Serving()
		c.Trust()
		if _, err := c.Write(make([]byte, 64<<10)); err != nil {
			t.Fatal(err)
		}
		c.Waiting()
		for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			queued = queuedBytes(c.tcp)
		}
		return queued
	}
	first := answer(0)
	if first == 0 {
		t.Fatal("nothing is queued: the test shows nothing")
	}
	look(time.Second)
	second := answer(l.stall) // the client has still read nothing, so that more is queued
	if second <= first {
		t.Fatalf("%d bytes queued, then %d", first, second)
	}
	c.seenQueued = second // as if the answer before had been as long
	look(l.stall + 2*time.Second)
	if n := l.stalled.Load(); n != 0 {
		t.Fatal("a connection that was served between two looks was cut")
	}
	look(2*l.stall + 3*time.Second)
	if n := l.stalled.Load(); n != 1 {
		t.Fatalf("a connection that takes nothing was cut %d times", n)
	}
}
