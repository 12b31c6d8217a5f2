package gateway

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"callgate/internal/calls"
)

// noise is n bytes without any order, CR, LF and NUL among them.
func noise(n int) string {
	source := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(source.Uint32())
	}
	return string(b)
}

// inChunks frames a body in chunks of at most size bytes.
func inChunks(body string, size int) string {
	var b strings.Builder
	for len(body) > 0 {
		n := min(size, len(body))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	return b.String() + "0\r\n\r\n"
}

var sizes = []int{0, 1, 2, 4_095, 4_096, 4_097, 8_192, 16_384, 16_385, 16_386, 32_767, 32_768, 200_000, 1_000_003}

func TestBodiesPassByteForByteInBothDirectionsInEveryFraming(t *testing.T) {
	framings := map[string]func(string) string{
		"length":  func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) },
		"chunks":  func(body string) string { return "Transfer-Encoding: chunked\r\n\r\n" + inChunks(body, 4_093) },
		"1 chunk": func(body string) string { return "Transfer-Encoding: chunked\r\n\r\n" + inChunks(body, 10_000_000) },
		"the end": func(body string) string { return "\r\n" + body },
	}
	for up, frameUp := range framings {
		if up == "the end" {
			continue // a request has no such framing
		}
		for down, frameDown := range framings {
			t.Run(up+" up, "+down+" down", func(t *testing.T) {
				t.Parallel()
				r := newRig(t, func(conn net.Conn, a asked) bool {
					_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+frameDown(string(a.body)))
					return err == nil && down != "the end"
				})
				for _, size := range sizes {
					body := noise(size)
					a := r.ask("PUT /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer " + goodKey + "\r\n" + frameUp(body))
					got := r.next()
					record := r.record()
					if string(got.body) != body {
						t.Errorf("%d bytes: the upstream got %d others", size, len(got.body))
					}
					if known := got.header("Content-Length") != nil; known != (up == "length") {
						t.Errorf("%d bytes: framing changed: %q", size, got.headers)
					}
					if string(a.body) != body || a.err != nil || a.StatusCode != 200 {
						t.Errorf("%d bytes: the caller got %d: %v", size, len(a.body), a.err)
					}
					if (a.ContentLength >= 0) != (down == "length" || size == 0 && a.ContentLength == 0) {
						t.Errorf("%d bytes: answered with length %d", size, a.ContentLength)
					}
					if !record.Success || record.RequestBytes != int64(size) || record.ResponseBytes != int64(size) || record.StatusCode != 200 {
						t.Errorf("%d bytes: record %+v", size, record)
					}
				}
			})
		}
	}
}

func TestEventsArriveOneByOneAsTheUpstreamSendsThem(t *testing.T) {
	step := make(chan struct{})
	r := newRig(t, func(conn net.Conn, _ asked) bool {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n")
		for i := range 5 {
			<-step
			event := fmt.Sprintf("data: %d\n\n", i)
			_, _ = fmt.Fprintf(conn, "%x\r\n%s\r\n", len(event), event)
		}
		<-step
		_, _ = io.WriteString(conn, "0\r\n\r\n")
		return true
	})
	conn := r.dial()
	_, _ = io.WriteString(conn, post("/gateway/v1?model=m", goodKey, "{}"))
	br := bufio.NewReader(conn)
	for { // the head comes before any event
		line, err := br.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "\r\n" {
			break
		}
	}
	for i := range 5 {
		step <- struct{}{}
		want := fmt.Sprintf("9\r\ndata: %d\n\n\r\n", i)
		got := make([]byte, len(want))
		if _, err := io.ReadFull(br, got); err != nil || string(got) != want {
			t.Fatalf("event %d: %q, %v", i, got, err)
		}
	}
	if len(r.records) != 0 {
		t.Error("recorded before the stream ended")
	}
	step <- struct{}{}
	if record := r.record(); !record.Success || !record.Streamed || record.ResponseBytes != 45 {
		t.Errorf("record %+v", record)
	}
}

func TestUpstreamDeathIsNeverTurnedIntoACleanEnd(t *testing.T) {
	for name, answer := range map[string]string{
		"length":              "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345",
		"length, none":        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
		"between chunks":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
		"in a chunk":          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n12345",
		"before the last":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n",
		"broken framing":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\nzz\r\n",
		"chunk overrun":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n1234567\r\n0\r\n\r\n",
		"no chunk":            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		"an error's body too": "HTTP/1.1 500 No\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n12345",
	} {
		for _, version := range []string{"1.1", "1.0"} {
			t.Run(name+" "+version, func(t *testing.T) {
				r := newRig(t, func(conn net.Conn, _ asked) bool {
					_, _ = io.WriteString(conn, answer)
					return false
				})
				a := r.ask(strings.Replace(post("/gateway/v1?model=m", goodKey, "{}"), "1.1", version, 1))
				if a.err == nil {
					t.Errorf("the caller got a clean end: %q", a.body)
				}
				record := r.record()
				if record.StatusCode != 499 || record.Success || record.EndedBy != calls.UpstreamAbort ||
					record.ReasonType != calls.Interrupted || record.ReasonCode != calls.UpstreamClosed {
					t.Errorf("record %+v", record)
				}
			})
		}
	}
}

func TestResponsesWithoutABodyEndProperly(t *testing.T) {
	for name, test := range map[string]struct {
		method, answer string
		status         int
		length         string
	}{
		"HEAD with a length": {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n", 200, "12345"},
		"HEAD in chunks":     {"HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 200, ""},
		"HEAD without":       {"HEAD", "HTTP/1.1 200 OK\r\n\r\n", 200, ""},
		"no content":         {"POST", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""},
		"no content, 0":      {"DELETE", "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", 204, ""},
		"not modified":       {"GET", "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 7\r\n\r\n", 304, "7"},
		"empty":              {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, "0"},
		"after interim ones": {"GET", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, answers(test.answer))
			conn := r.dial()
			br := bufio.NewReader(conn)
			for range 3 { // the caller's connection and the upstream's stay in step
				r.rested()
				_, _ = io.WriteString(conn, test.method+" /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer "+goodKey+"\r\n\r\n")
				a := r.read(br, test.method)
				record := r.record()
				if a.StatusCode != test.status || a.Header.Get("Content-Length") != test.length || len(a.body) != 0 || a.err != nil || a.Close {
					t.Fatalf("answer %d %v %v", a.StatusCode, a.Header, a.err)
				}
				if record.Success != (test.status < 300) || record.EndedBy != calls.Complete || record.ResponseBytes != 0 {
					t.Errorf("record %+v", record)
				}
			}
			if n := r.accepted.Load(); n != 1 {
				t.Errorf("%d upstream connections", n)
			}
		})
	}
}

func TestAnswerThatComesBeforeTheRequestWasReadIsRelayed(t *testing.T) {
	listener := listen(t)
	defer func() { _ = listener.Close() }()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = conn.Read(make([]byte, 1000)) // the head, then no more
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
		_, _ = io.Copy(io.Discard, io.LimitReader(conn, 1<<20))
		time.Sleep(50 * time.Millisecond)
		_ = conn.Close()
	}()
	r := newRig(t, answers(okAnswer))
	r.gateway.config.Capability = capabilityAt(listener.Addr().String())
	a := r.ask(post("/gateway/v1?model=m", goodKey, strings.Repeat("x", 30<<20)))
	if a.StatusCode != 413 || string(a.body) != "big" || !a.Close {
		t.Errorf("answer %d %q %v", a.StatusCode, a.body, a.err)
	}
	if record := r.record(); record.StatusCode != 413 || record.ReasonCode != calls.UpstreamStatus || record.Failure.BodyNote != calls.NotFullyRead {
		t.Errorf("record %+v", record)
	}
}

func TestOldCallersGetUnknownLengthsWithoutChunks(t *testing.T) {
	r := newRig(t, answers("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"+inChunks("data: x\n\n", 4)))
	conn := r.dial()
	_, _ = io.WriteString(conn, strings.Replace(post("/gateway/v1?model=m", goodKey, "{}"), "1.1", "1.0", 1))
	all, err := io.ReadAll(conn)
	head, body, _ := strings.Cut(string(all), "\r\n\r\n")
	if err != nil && !errors.Is(err, io.EOF) || body != "data: x\n\n" || strings.Contains(head, "chunked") || !strings.Contains(head, "X-Call-Id") {
		t.Errorf("%q %v", all, err)
	}
	if record := r.record(); !record.Success || !record.Streamed || record.ResponseBytes != 9 {
		t.Errorf("record %+v", record)
	}
}

func TestCallerThatAsksToContinueIsToldToAndForwarded(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	conn := r.dial()
	head, body, _ := strings.Cut(post("/gateway/v1?model=m", goodKey, `{"a":1}`, "Expect: 100-continue"), "\r\n\r\n")
	_, _ = io.WriteString(conn, head+"\r\n\r\n")
	interim := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
	if _, err := io.ReadFull(conn, interim); err != nil || !strings.HasPrefix(string(interim), "HTTP/1.1 100") {
		t.Fatalf("%q %v", interim, err)
	}
	_, _ = io.WriteString(conn, body)
	if a := r.read(bufio.NewReader(conn), "POST"); a.StatusCode != 200 {
		t.Errorf("answer %d %v", a.StatusCode, a.err)
	}
	if got := r.next(); string(got.body) != `{"a":1}` || got.header("Expect") != nil {
		t.Errorf("the upstream got %q %q", got.headers, got.body)
	}
	r.record()
}

// What is asked for too late could fall into the answer, which another goroutine writes by then.
func TestCallerWhoseBodyBeganUnaskedIsNotToldToContinue(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	conn := r.dial()
	body := noise(2 * keptBody)
	whole := post("/gateway/v1?model=m", goodKey, body, "Expect: 100-continue")
	most := len(whole) - 1
	_, _ = io.WriteString(conn, whole[:most])
	go func() {
		time.Sleep(50 * time.Millisecond) // the gateway waits for the rest
		_, _ = io.WriteString(conn, whole[most:])
	}()
	br := bufio.NewReader(conn)
	if line, err := br.Peek(len("HTTP/1.1 200")); err != nil || string(line) != "HTTP/1.1 200" {
		t.Fatalf("%q %v", line, err)
	}
	if a := r.read(br, "POST"); a.StatusCode != 200 {
		t.Errorf("answer %d %v", a.StatusCode, a.err)
	}
	if got := r.next(); string(got.body) != body {
		t.Errorf("the upstream got %d bytes of %d", len(got.body), len(body))
	}
	r.record()
}
