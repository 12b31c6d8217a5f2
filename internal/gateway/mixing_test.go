package gateway

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callgate/internal/calls"
)

// TestLastAnswerIsReadWhateverFollows: a connection closed with bytes unread would be reset, and the
// answer lost before the caller has read it.
func TestLastAnswerIsReadWhateverFollows(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	for name, test := range map[string]struct {
		request string
		status  int
	}{
		"head too large":          {"POST /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\n" + key1 + strings.Repeat("X-Long: "+strings.Repeat("a", 1000)+"\r\n", 1000) + "\r\n", 431},
		"target too large":        {"GET /gateway/v1?model=m&a=" + strings.Repeat("a", 1_000_000) + " HTTP/1.1\r\nHost: g\r\n" + key1 + "\r\n", 431},
		"malformed for anybody":   {"POST /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\n" + key1 + "Bad\x00Name: a\r\n\r\n" + strings.Repeat("a", 1_000_000), 400},
		"malformed for a gateway": {"POST /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\n" + key1 + key1 + "Content-Length: 1000000\r\n\r\n" + strings.Repeat("a", 1_000_000), 400},
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				conn := r.dial()
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					_, _ = io.WriteString(conn, test.request)
				}()
				<-sent // read only now: a reset may have thrown the answer away
				br := bufio.NewReader(conn)
				if a := r.read(br, "POST"); a.StatusCode != test.status || a.err != nil || !a.Close {
					t.Errorf("answered %d %v", a.StatusCode, a.err)
				}
				if rest, err := io.ReadAll(br); err != nil || len(rest) > 0 {
					t.Errorf("after the answer came %q, %v", rest, err)
				}
				_ = conn.Close()
			}
		})
	}
}

// TestNoRequestIsAnsweredWithTheAnswerOfAnother pipelines calls of every kind, aborts streams on both
// sides and lets the upstream say more than it was asked, on few connections that are reused.
func TestNoRequestIsAnsweredWithTheAnswerOfAnother(t *testing.T) {
	const callers, rounds = 8, 40
	var stray atomic.Int64
	var records, compared atomic.Int64
	r := newRig(t, func(conn net.Conn, a asked) bool { return tellTale(conn, a.body) }, func(c *Config) {
		c.Record = func(*calls.Record) { records.Add(1) }
	})
	var all sync.WaitGroup
	kinds := []string{"plain", "chunks", "events", "extra", "stuck", "cut", "close"}
	for i := range callers {
		all.Go(func() {
			source := rand.New(rand.NewPCG(uint64(i), 1))
			for round := range rounds {
				var pipeline bytes.Buffer
				var tokens []string
				for range 1 + source.IntN(4) {
					token := fmt.Sprintf("%s-%d-%d-%d", kinds[source.IntN(len(kinds))], i, round, len(tokens))
					tokens = append(tokens, token)
					pipeline.WriteString(post("/gateway/v1?model=m", goodKey, token))
				}
				n, wrong := converse(r, pipeline.Bytes(), tokens)
				compared.Add(int64(n))
				stray.Add(int64(wrong))
				r.forgetAsked()
			}
		})
	}
	all.Wait()
	waitFor(t, func() bool { return r.gateway.supervisor.len() == 0 })
	if stray.Load() != 0 || compared.Load() < callers*rounds/2 {
		t.Errorf("%d answers compared, %d of them of another request", compared.Load(), stray.Load())
	}
	if records.Load() < compared.Load() {
		t.Errorf("%d records", records.Load())
	}
	t.Logf("%d answers compared, %d calls, %d upstream connections", compared.Load(), records.Load(), r.accepted.Load())
}

// tellTale answers with the request's own token, in a way that the token names.
func tellTale(conn net.Conn, token []byte) (again bool) {
	head := "HTTP/1.1 200 OK\r\nX-Token: " + string(token) + "\r\n"
	text := strings.Repeat(string(token)+"\n", 20)
	kind, _, _ := strings.Cut(string(token), "-")
	switch kind {
	case "plain":
		_, _ = fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", head, len(text), text)
	case "chunks":
		_, _ = io.WriteString(conn, head+"Transfer-Encoding: chunked\r\n\r\n"+inChunks(text, 7))
	case "events":
		_, _ = io.WriteString(conn, head+"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
		for range 3 {
			if _, err := io.WriteString(conn, inChunks(text, 1000)[:len(inChunks(text, 1000))-5]); err != nil {
				return false
			}
			time.Sleep(time.Millisecond)
		}
		_, _ = io.WriteString(conn, "0\r\n\r\n")
	case "extra":
		_, _ = fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%sHTTP/1.1 200 OK\r\nX-Token: poison\r\nContent-Length: 6\r\n\r\npoison", head, len(text), text)
	case "stuck": // until the caller leaves
		_, _ = io.WriteString(conn, head+"Content-Length: 100000\r\n\r\n"+text)
		_, _ = io.Copy(io.Discard, conn)
		return false
	case "cut":
		_, _ = io.WriteString(conn, head+"Content-Length: 100000\r\n\r\n"+text)
		return false
	case "close":
		_, _ = io.WriteString(conn, head+"Connection: close\r\n\r\n"+text)
		return false
	}
	return true
}

// converse sends a pipeline and compares every answer, as far as it comes, with its request's token.
func converse(r *rig, pipeline []byte, tokens []string) (compared, wrong int) {
	conn, err := net.Dial("tcp", r.address)
	if err != nil {
		r.t.Error(err)
		return 0, 1
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = conn.Write(pipeline)
	br := bufio.NewReader(conn)
	for _, token := range tokens {
		if strings.HasPrefix(token, "stuck") {
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		}
		a := r.read(br, "POST")
		if a.StatusCode == 0 {
			return compared, wrong // the connection ended with the answer before
		}
		compared++
		clean := strings.ReplaceAll(string(a.body), token+"\n", "")
		if a.StatusCode != 200 || a.Header.Get("X-Token") != token || !strings.HasPrefix(token+"\n", clean) {
			r.t.Errorf("%s was answered %d with the token %q, and %q in the body", token, a.StatusCode, a.Header.Get("X-Token"), clean)
			wrong++
		}
		if a.err != nil {
			return compared, wrong
		}
	}
	return compared, wrong
}
