package http1

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// answersOf reads n answers from a connection and returns their statuses.
func answersOf(t *testing.T, conn net.Conn, n int) (statuses []int) {
	t.Helper()
	br := bufio.NewReader(conn)
	for range n {
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			return append(statuses, 0)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		statuses = append(statuses, resp.StatusCode)
	}
	return statuses
}

func TestRequestsOfAPipelineAreAnsweredInTheirOrderHoweverTheyArrive(t *testing.T) {
	var pipeline, want strings.Builder
	for i := range 20 {
		fmt.Fprintf(&pipeline, "GET /%d HTTP/1.1\r\nHost: a\r\n\r\n", i)
		if i%3 == 0 {
			pipeline.WriteString("\r\n") // of a client that ends its requests with one line too many
		}
		fmt.Fprintf(&want, "/%d ", i)
	}
	for _, size := range []int{1, 7, 100, pipeline.Len()} {
		s := newStage(t, ListenerConfig{})
		conn := s.dial()
		go func() {
			for text := pipeline.String(); len(text) > 0; text = text[min(size, len(text)):] {
				_, _ = io.WriteString(conn, text[:min(size, len(text))])
			}
		}()
		for i, status := range answersOf(t, conn, 20) {
			if status != 200 {
				t.Fatalf("%d bytes at once: answer %d is %d", size, i, status)
			}
		}
		var got strings.Builder
		for len(s.begun) > 0 {
			got.WriteString(<-s.begun + " ")
		}
		if got.String() != want.String() {
			t.Errorf("%d bytes at once: %s", size, got.String())
		}
	}
}

func TestAHeadThatDoesNotComeIsAnswered408AndAnIdleConnectionClosedWithoutAWord(t *testing.T) {
	s := newStage(t, ListenerConfig{HeadTimeout: time.Second, IdleTimeout: time.Second})
	half, idle := s.dial(), s.dial()
	_, _ = io.WriteString(half, "GET / HTTP/1.1\r\nHo")
	if all, _ := io.ReadAll(half); !strings.HasPrefix(string(all), "HTTP/1.1 408 ") {
		t.Errorf("half a head was answered %q", all)
	}
	if all, err := io.ReadAll(idle); len(all) > 0 || err != nil {
		t.Errorf("the idle connection: %q, %v", all, err)
	}
	if n := len(s.begun); n > 0 {
		t.Errorf("%d requests were handled", n)
	}
}

func TestWhatIsNoRequestIsRefusedOnceAndTheConnectionClosed(t *testing.T) {
	s := newStage(t, ListenerConfig{})
	for _, text := range []string{
		"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\nHost: a\n\n", "\x16\x03\x01", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("a", 20_000) + "\r\n\r\n",
	} {
		conn := s.dial()
		_, _ = io.WriteString(conn, text)
		all, _ := io.ReadAll(conn)
		if strings.Count(string(all), "HTTP/1.1 400 ") != 1 || strings.Count(string(all), "HTTP/1.1 ") != 1 {
			t.Errorf("%.20q was answered %q", text, all)
		}
	}
	if n := len(s.begun); n > 0 {
		t.Errorf("%d requests were handled", n)
	}
}

func TestAServerThatLeavesEndsConnectionsWithTheirNextAnswer(t *testing.T) {
	s := newStage(t, ListenerConfig{})
	conn := s.dial()
	if status, _ := s.ask(conn, "/"); status != 200 {
		t.Fatal(status)
	}
	s.server.Leave()
	if status, _ := s.ask(conn, "/"); status != 200 || !ended(conn) {
		t.Errorf("answered %d, and the connection is still there", status)
	}
}

// TestTheNextReadTellsWhetherTheCallerIsThere: open says for certain that the caller had not closed its side;
// anything else is left to be looked at.
func TestTheNextReadTellsWhetherTheCallerIsThere(t *testing.T) {
	request := "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	for name, test := range map[string]struct {
		text  string
		close bool
		open  []bool
	}{
		"waits":               {request, false, []bool{true}},
		"asked more already":  {request + request, false, []bool{false, true}},
		"has closed its side": {request, true, []bool{false}},
	} {
		t.Run(name, func(t *testing.T) {
			told := make(chan bool, 10)
			gate := make(chan struct{})
			socket, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			listener := NewListener(socket, ListenerConfig{})
			server := &Server{Handle: func(x *Exchange) bool {
				<-gate
				_, _ = io.WriteString(x.Conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				x.Afterwards(func(open bool) { told <- open })
				return true
			}}
			go func() { _ = server.Serve(listener) }()
			defer server.Wait(time.Second)
			defer listener.CloseAll()
			conn, err := net.Dial("tcp", socket.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_, _ = io.WriteString(conn, test.text)
			if test.close {
				_ = conn.(*net.TCPConn).CloseWrite()
			}
			time.Sleep(20 * time.Millisecond) // all has arrived
			close(gate)
			for i, want := range test.open {
				select {
				case open := <-told:
					if open != want {
						t.Errorf("answer %d: open %v", i, open)
					}
				case <-time.After(5 * time.Second):
					t.Fatalf("answer %d: nothing was told", i)
				}
			}
		})
	}
}
