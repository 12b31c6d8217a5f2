package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"callgate/internal/calls"
)

func TestCallerThatLeavesASilentCallIsNoticedAndTheUpstreamCallCancelled(t *testing.T) {
	for name, begun := range map[string]string{
		"before the head": "",
		"in a stream":     "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
		"in a length":     "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx",
		"until the end":   "HTTP/1.0 200 OK\r\n\r\nx",
	} {
		for way, leave := range map[string]func(*net.TCPConn){
			"fin":   func(c *net.TCPConn) { _ = c.Close() },
			"reset": func(c *net.TCPConn) { _ = c.SetLinger(0); _ = c.Close() },
		} {
			t.Run(name+", "+way, func(t *testing.T) {
				var r *rig
				r = newRig(t, func(conn net.Conn, _ asked) bool {
					_, _ = io.WriteString(conn, begun)
					r.hangsUp(conn)
					return false
				})
				conn := r.dial()
				_, _ = io.WriteString(conn, post("/gateway/v1?model=m", goodKey, "{}"))
				r.next()
				if begun != "" {
					if _, err := io.ReadAtLeast(conn, make([]byte, 512), 10); err != nil {
						t.Fatal(err)
					}
				}
				waitFor(t, func() bool { return r.armed() == 1 })
				left := time.Now()
				leave(conn.(*net.TCPConn))
				record := r.record()
				noticed := time.Since(left)
				<-r.hungUp
				limit := 100 * time.Millisecond
				if begun != "" {
					limit += closingGrace // the upstream may still end a response that is complete so far
				}
				if noticed > limit {
					t.Errorf("noticed after %v", noticed)
				}
				if record.StatusCode != 499 || record.EndedBy != calls.ClientAbort || record.ReasonCode != calls.ClientClosed ||
					record.ReasonType != calls.Interrupted || (record.UpstreamCode == 200) != (begun != "") {
					t.Errorf("record %+v", record)
				}
			})
		}
	}
}

// rested waits until the idle upstream connections may be used again.
func (r *rig) rested() {
	waitFor(r.t, func() (rested bool) {
		rested = true
		r.gateway.upstreams.each(func(p *connPool) {
			p.mu.Lock()
			defer p.mu.Unlock()
			for _, conn := range p.idle {
				rested = rested && time.Since(conn.idle) >= provingTime
			}
		})
		return rested
	})
}

// armed counts the calls whose callers are watched.
func (r *rig) armed() (n int) {
	r.gateway.supervisor.each(func(c *call) {
		if c.armed != 0 {
			n++
		}
	})
	return n
}

func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain")
		}
	}
}

func TestCallerThatClosesAfterTheLastEventIsASuccessWhenTheUpstreamEndsSoon(t *testing.T) {
	left := make(chan struct{})
	r := newRig(t, func(conn net.Conn, _ asked) bool {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\ne\r\ndata: [DONE]\n\n\r\n")
		<-left
		_, _ = io.WriteString(conn, "0\r\n\r\n")
		return true
	})
	conn := r.dial()
	_, _ = io.WriteString(conn, post("/gateway/v1?model=m", goodKey, "{}"))
	br := bufio.NewReader(conn)
	for line := ""; !strings.Contains(line, "[DONE]"); {
		var err error
		if line, err = br.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, func() bool { return r.armed() == 1 })
	_ = conn.Close()
	waitFor(t, func() (gone bool) {
		r.gateway.supervisor.each(func(c *call) { gone = c.why() == clientGone })
		return gone
	})
	close(left)
	if record := r.record(); !record.Success || record.EndedBy != calls.Complete || record.StatusCode != 200 {
		t.Errorf("record %+v", record)
	}
}

func TestCallerThatStopsReadingAndLeavesIsAnInterruption(t *testing.T) {
	const size = 64 << 20 // more than the sockets between hold
	r := newRig(t, func(conn net.Conn, _ asked) bool {
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size)
		_, err := conn.Write(make([]byte, size))
		return err == nil
	})
	conn := r.dial()
	_, _ = io.WriteString(conn, post("/gateway/v1?model=m", goodKey, "{}"))
	if _, err := io.ReadFull(conn, make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if record := r.record(); record.StatusCode != 499 || record.EndedBy != calls.ClientAbort || record.ResponseBytes >= size {
		t.Errorf("record %+v", record)
	}
}

func TestCallerThatLeavesInTheMiddleOfItsBodyIsAnInterruption(t *testing.T) {
	for _, sent := range []int{1, 10_000, 100_000} {
		t.Run(fmt.Sprint(sent), func(t *testing.T) {
			r := newRig(t, answers(okAnswer))
			conn := r.dial()
			raw := post("/gateway/v1?model=m", goodKey, strings.Repeat("x", 200_000))
			_, _ = io.WriteString(conn, raw[:len(raw)-200_000+sent])
			_ = conn.Close()
			record := r.record()
			if record.StatusCode != 499 || record.EndedBy != calls.ClientAbort || record.RequestBytes != int64(sent) ||
				record.Failure.BodyNote != calls.NotFullyRead {
				t.Errorf("record %+v %+v", record, record.Failure)
			}
		})
	}
}
