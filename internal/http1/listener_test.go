package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// failing is a listener whose Accept fails a number of times, and then until it is closed.
type failing struct {
	net.Listener
	faults []error
	closed chan struct{}
}

func (f *failing) Accept() (net.Conn, error) {
	if len(f.faults) == 0 {
		<-f.closed
		return nil, net.ErrClosed
	}
	fault := f.faults[0]
	f.faults = f.faults[1:]
	if fault == nil {
		here, there := net.Pipe()
		_ = there.Close()
		return here, nil
	}
	return nil, &net.OpError{Op: "accept", Net: "tcp", Err: fault}
}

func (f *failing) Close() error { close(f.closed); return nil }

func TestNoFaultOfAcceptEndsTheListenerAndEachIsCountedButNotLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := &failing{closed: make(chan struct{})}
		const each = 100
		for range each {
			of.faults = append(of.faults, syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED, syscall.ENOBUFS, syscall.EPERM)
		}
		of.faults = append(of.faults, nil)
		var log bytes.Buffer
		l := NewListener(of, ListenerConfig{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		began := time.Now()
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		took, lines := time.Since(began), strings.Count(log.String(), "\n")
		if n := l.Stats().AcceptFailures; n != 5*each {
			t.Errorf("%d failures counted", n)
		}
		if took < 5*each*time.Second/2 || took > 5*each*time.Second {
			t.Errorf("%d failures took %v", 5*each, took)
		}
		if most := int(took/complainEvery) + 1; lines > most || lines == 0 {
			t.Errorf("%d lines in the log of %v", lines, took)
		}
		_ = l.Close()
		if _, err := l.Accept(); err == nil {
			t.Error("accepted after Close")
		}
	})
}

// stage is a server over a Listener that answers what a path says, and its clients.
type stage struct {
	t        *testing.T
	listener *Listener
	server   *Server
	begun    chan string   // paths whose handling began
	held     chan struct{} // closed by finish
	finish   func()        // ends /held
}

const refusal = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\nConnection: close\r\n\r\nfull"

func newStage(t *testing.T, config ListenerConfig) *stage {
	t.Helper()
	of, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config.Refusal = []byte(refusal)
	config.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	s := &stage{t: t, listener: NewListener(of, config), begun: make(chan string, 1000), held: make(chan struct{})}
	s.finish = sync.OnceFunc(func() { close(s.held) })
	var all sync.WaitGroup
	s.server = &Server{Handle: s.handle, Refuse: func(x *Exchange, fault error) {
		status := "400 Bad Request"
		if errors.Is(fault, ErrHeadTimeout) {
			status = "408 Request Timeout"
		}
		_, _ = io.WriteString(x.Conn, "HTTP/1.1 "+status+"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	}}
	all.Go(func() { _ = s.server.Serve(s.listener) })
	t.Cleanup(func() {
		s.finish()
		s.listener.CloseAll()
		all.Wait()
		s.server.serving.Wait()
		<-s.listener.over
	})
	return s
}

func (s *stage) handle(x *Exchange) bool {
	path, _, _ := strings.Cut(string(x.Target()), "?")
	s.begun <- path
	switch path {
	case "/held":
		<-s.held
	case "/large":
		_, _ = io.WriteString(x.Conn, "HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n")
		for range 1024 {
			if _, err := x.Conn.Write(make([]byte, 64<<10)); err != nil {
				break
			}
		}
		return false
	}
	again := !x.Last() // asked before the answer is there, as by the product: whoever has the answer may make the server leave
	_, err := io.WriteString(x.Conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	return again && err == nil
}

func (s *stage) dial() net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// ask makes a request on a connection; 0 means that it was closed.
func (s *stage) ask(conn net.Conn, path string) (status int, body string) {
	_, _ = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err.Error()
	}
	raw, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw)
}

func (s *stage) await(what string, is func(ListenerStats) bool) {
	s.t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !is(s.listener.Stats()) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s: never; %+v", what, s.listener.Stats())
		}
		time.Sleep(time.Millisecond)
	}
}

// awaitIdle waits until a connection is kept open for another request: who has an answer has it before the server is done.
func (s *stage) awaitIdle() {
	s.t.Helper()
	s.await("idle", func(ListenerStats) bool {
		s.listener.mu.Lock()
		defer s.listener.mu.Unlock()
		for c := s.listener.first; c != nil; c = c.next {
			if state := c.state.Load(); kind(state) == waiting && state&used != 0 {
				return true
			}
		}
		return false
	})
}

func open(n int) func(ListenerStats) bool { return func(s ListenerStats) bool { return s.Open == n } }

// ended tells whether the server has closed a connection without another byte.
func ended(conn net.Conn) bool {
	n, err := conn.Read(make([]byte, 1))
	return n == 0 && err != nil && !strings.Contains(err.Error(), "timeout")
}

func TestOverTheCapIdleConnectionsGiveWayAndThenNewOnesAreRefusedUnread(t *testing.T) {
	const most = 4
	s := newStage(t, ListenerConfig{MaxConns: most})
	idle := s.dial()
	if status, _ := s.ask(idle, "/"); status != 200 {
		t.Fatal(status)
	}
	<-s.begun
	for range most - 1 {
		go s.ask(s.dial(), "/held")
		<-s.begun
	}
	s.await("full", open(most))
	s.awaitIdle()
	next := s.dial()
	if status, _ := s.ask(next, "/"); status != 200 {
		t.Fatalf("a new connection while one is idle: %d", status)
	}
	<-s.begun
	if !ended(idle) || s.listener.Stats().GaveWay != 1 {
		t.Errorf("the idle one did not give way: %+v", s.listener.Stats())
	}
	go s.ask(next, "/held")
	<-s.begun
	for range 10 {
		if status, body := s.ask(s.dial(), "/"+strings.Repeat("x", 100_000)); status != 503 || body != "full" {
			t.Fatalf("a new connection while all are served: %d %q", status, body)
		}
	}
	if got := s.listener.Stats(); got.Refused != 10 || got.Open != most || len(s.begun) != 0 {
		t.Errorf("%+v, %d requests read", got, len(s.begun))
	}
	s.finish()
}

func TestConnectionsGiveWayInTheOrderOfTheirUselessness(t *testing.T) {
	const now = 100
	state := func(kind uint64, age int64, extra uint64) uint64 { return at(now-age, kind) | extra }
	order := []uint64{
		state(waiting, 9, 0), state(waiting, 9, used), state(waiting, 0, 0), state(waiting, 0, used), state(reading, 9, 0),
		state(serving, 9, used),
	}
	for i, s := range order {
		if got := rankOf(s, now); got != i {
			t.Errorf("%d ranks %d", i, got)
		}
	}
	for _, s := range []uint64{state(reading, 1, 0), state(leaving, 9, 0), state(gone, 9, 0)} {
		if rankOf(s, now) != unwilling {
			t.Errorf("state %d gives way", kind(s))
		}
	}
}

func TestOnlyAConnectionThatTakesNothingIsCut(t *testing.T) {
	s := newStage(t, ListenerConfig{WriteStall: time.Second})
	never, slow := s.dial(), s.dial()
	_ = slow.(*net.TCPConn).SetReadBuffer(4 << 10)
	for _, conn := range []net.Conn{never, slow} {
		_, _ = io.WriteString(conn, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
		<-s.begun
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		piece := make([]byte, 4<<10)
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				_, _ = slow.Read(piece)
			}
		}
	}()
	s.await("the one that never reads is cut", open(1))
	began := time.Now()
	for time.Since(began) < 3*time.Second { // several times as long as the other one lived
		if s.listener.Stats().Open != 1 {
			t.Fatalf("a slow reader was cut after %v", time.Since(began))
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := s.listener.Stats().Stalled; n != 1 {
		t.Errorf("%d were cut", n)
	}
}
