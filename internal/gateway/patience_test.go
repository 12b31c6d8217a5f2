package gateway

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"callgate/internal/http1"

	"callgate/internal/calls"
)

// impatient lets bytes take d to follow each other, in either direction.
func impatient(d time.Duration) func(*Config) {
	return func(c *Config) { c.HeaderTimeout, c.IdleTimeout = d, d }
}

// expectCallerTimeout reads the answer to a caller that stalls and the record of it.
func (r *rig) expectCallerTimeout(t *testing.T, br *bufio.Reader) {
	t.Helper()
	a := r.read(br, "POST")
	record := r.record()
	if a.StatusCode != 408 || errorCode(a.body) != "caller_timeout" || a.Header.Get("X-Callgate-Error") != "caller_timeout" || !a.Close {
		t.Errorf("answered %d %s (%v)", a.StatusCode, a.body, a.err)
	}
	if record.StatusCode != 408 || record.EndedBy != calls.TimedOut || record.ReasonType != calls.Timeout || record.ReasonCode != calls.CallerTimeout ||
		record.Failure.BodyNote != calls.NotFullyRead {
		t.Errorf("record %+v, %+v", record, record.Failure)
	}
}

func TestCallerThatStallsInItsBodyIsToldAndTheUpstreamIsNotBlamed(t *testing.T) {
	r := newRig(t, answers(okAnswer), impatient(150*time.Millisecond))
	head := "POST /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\n" + key1
	for name, sent := range map[string]string{
		"before its first byte":       head + "Content-Length: 5\r\n\r\n",
		"in a small body":             head + "Content-Length: 5\r\n\r\nab",
		"in a large body":             head + "Content-Length: 300000\r\n\r\n" + noise(100_000),
		"before the first chunk":      head + "Transfer-Encoding: chunked\r\n\r\n",
		"in a chunk":                  head + "Transfer-Encoding: chunked\r\n\r\n5\r\nab",
		"between large chunks":        head + "Transfer-Encoding: chunked\r\n\r\n" + strings.TrimSuffix(inChunks(noise(100_000), 10_000), "0\r\n\r\n"),
		"after it was told to go on":  head + "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
		"in the trailer of its body":  head + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: ",
		"in a body that is kept only": head + "Content-Length: 16385\r\n\r\n" + noise(16_384),
	} {
		t.Run(name, func(t *testing.T) {
			conn := r.dial()
			_, _ = io.WriteString(conn, sent)
			br := bufio.NewReader(conn)
			if strings.Contains(sent, "Expect") {
				if line, _ := br.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" {
					t.Fatalf("got %q", line)
				}
				_, _ = br.ReadString('\n')
			}
			r.expectCallerTimeout(t, br)
		})
	}
}

func TestCallerThatDoesNotReadIsNotTheUpstreamsTimeout(t *testing.T) {
	const size = "100000000"
	r := newRig(t, func(conn net.Conn, _ asked) bool {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: "+size+"\r\n\r\n")
		piece := []byte(noise(1 << 16))
		for {
			if _, err := conn.Write(piece); err != nil {
				return false
			}
		}
	}, impatient(300*time.Millisecond))
	conn := r.dial()
	_, _ = io.WriteString(conn, post("/gateway/v1?model=m", goodKey, "{}"))
	_, _ = io.ReadFull(conn, make([]byte, 1000))
	record := r.record()
	if record.StatusCode != 499 || record.EndedBy != calls.TimedOut || record.ReasonType != calls.Timeout || record.ReasonCode != calls.CallerTimeout || record.UpstreamCode != 200 {
		t.Errorf("record %+v", record)
	}
}

// drip sends a body byte by byte, one every interval, until the connection ends.
func drip(conn net.Conn, body string, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for i := range body {
		<-ticker.C
		if _, err := io.WriteString(conn, body[i:i+1]); err != nil {
			return
		}
	}
}

func TestUploadThatMovesIsNotCutHoweverSlow(t *testing.T) {
	r := newRigOn(t, answers(okAnswer), http1.ListenerConfig{HeadTimeout: time.Second}, impatient(2*time.Second))
	head := "POST /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\n" + key1
	for name, test := range map[string]struct{ head, body string }{
		"small":         {"Content-Length: 24\r\n\r\n", noise(24)},
		"chunked":       {"Transfer-Encoding: chunked\r\n\r\n", "2\r\nab\r\n0\r\n\r\n"},
		"large":         {"Content-Length: 20008\r\n\r\n" + noise(20_000), "12345678"},
		"large chunked": {"Transfer-Encoding: chunked\r\n\r\n" + strings.TrimSuffix(inChunks(noise(20_000), 10_000), "0\r\n\r\n"), "1\r\na\r\n0\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := r.dial()
			_, _ = io.WriteString(conn, head+test.head)
			go drip(conn, test.body, 60*time.Millisecond)
			a := r.read(bufio.NewReader(conn), "POST")
			if record := r.record(); a.StatusCode != 200 || !record.Success {
				t.Errorf("answered %d %s (%v), recorded %+v", a.StatusCode, a.body, a.err, record)
			}
		})
	}
}

func TestBodyThatDripsLongerThanACallMayTakeIsAnsweredAndRecorded(t *testing.T) {
	r := newRig(t, answers(okAnswer), func(c *Config) { c.CallTimeout = 300 * time.Millisecond })
	for name, head := range map[string]string{"small": "Content-Length: 1000\r\n\r\n", "large": "Content-Length: 50000\r\n\r\n" + noise(40_000)} {
		t.Run(name, func(t *testing.T) {
			conn := r.dial()
			_, _ = io.WriteString(conn, "POST /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\n"+key1+head)
			go drip(conn, noise(1000), 20*time.Millisecond)
			r.expectCallerTimeout(t, bufio.NewReader(conn))
		})
	}
}
