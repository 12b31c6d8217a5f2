package gateway

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"testing"

	"callgate/internal/calls"
)

func TestConnectionClosedByTheUpstreamAfterAnAnswerIsNotTheNextCallsFault(t *testing.T) {
	for name, body := range map[string]string{
		"short":  "Content-Length: 2\r\n\r\n{}",
		"empty":  "Content-Length: 0\r\n\r\n",
		"long":   "Content-Length: 200000\r\n\r\n" + noise(200_000),
		"chunks": "Transfer-Encoding: chunked\r\n\r\n" + inChunks(noise(200_000), 50_000),
	} {
		for _, seen := range []bool{true, false} { // whether the gateway has seen the end before it sends
			t.Run(fmt.Sprintf("%s, end seen %v", name, seen), func(t *testing.T) {
				closed := make(chan struct{}, 100)
				r := newRig(t, func(conn net.Conn, _ asked) bool {
					_, _ = io.WriteString(conn, okAnswer)
					_ = conn.Close()
					closed <- struct{}{}
					return false
				})
				if !seen {
					r.gateway.upstreams.quiet = func(*probe) bool { return true }
				}
				conn := r.dial()
				br := bufio.NewReader(conn)
				for i := range 5 {
					go func() {
						_, _ = io.WriteString(conn, "POST /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer "+goodKey+"\r\n"+body)
					}()
					if a := r.read(br, "POST"); a.StatusCode != 200 {
						t.Fatalf("call %d: %d %s", i, a.StatusCode, a.body)
					}
					if record := r.record(); !record.Success {
						t.Fatalf("call %d: record %+v", i, record)
					}
					<-closed
					r.rested()
				}
				if n := len(r.asked); n != 5 {
					t.Errorf("%d requests reached the upstream for 5 calls", n)
				}
				first := r.next()
				for len(r.asked) > 0 {
					if next := r.next(); !bytes.Equal(next.body, first.body) {
						t.Errorf("a body changed: %d bytes, then %d", len(first.body), len(next.body))
					}
				}
				if n := r.gateway.shares.bytes.used.Load(); n != 0 {
					t.Errorf("%d bytes of the budget were not given back", n)
				}
			})
		}
	}
}

func TestRequestThatReachedTheUpstreamIsNeverSentAgain(t *testing.T) {
	r := newRig(t, func(conn net.Conn, a asked) bool {
		if bytes.Contains(a.body, []byte("die")) {
			return false // read, perhaps acted on, not answered
		}
		_, _ = io.WriteString(conn, okAnswer)
		return true
	})
	for range 20 {
		if a := r.ask(post("/gateway/v1?model=m", goodKey, "{}")); a.StatusCode != 200 {
			t.Fatalf("warm up: %d", a.StatusCode)
		}
		r.record()
		r.rested()
		if a := r.ask(post("/gateway/v1?model=m", goodKey, `"die"`)); a.StatusCode != 502 {
			t.Fatalf("answer %d", a.StatusCode)
		}
		if record := r.record(); record.ReasonType != calls.ConnectionFailed || record.EndedBy != calls.UpstreamAbort {
			t.Fatalf("record %+v", record)
		}
	}
	if n := len(r.asked); n != 40 {
		t.Errorf("%d requests reached the upstream for 40 calls", n)
	}
}

func TestConnectionsAreReusedOnlyAfterAnAnswerReadToItsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		answer string
		reused bool
	}{
		"length":             {okAnswer, true},
		"chunks, trailers":   {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\nx\r\n0\r\nA: b\r\n\r\n", true},
		"old but kept":       {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", true},
		"old":                {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", false},
		"close":              {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", false},
		"more than promised": {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\ny", false},
		"length and chunks":  {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, answers(test.answer))
			for range 3 {
				r.rested()
				if a := r.ask(post("/gateway/v1?model=m", goodKey, "{}")); a.err != nil || a.StatusCode != 200 || len(a.body) > 2 {
					t.Fatalf("answer %d %q %v", a.StatusCode, a.body, a.err)
				}
				r.record()
			}
			if n := r.accepted.Load(); (n == 1) != test.reused {
				t.Errorf("%d connections for 3 calls", n)
			}
		})
	}
}
