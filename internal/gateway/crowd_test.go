package gateway

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"callgate/internal/calls"
)

// The upstream of the crowd does what the body says, with pauses around the silence that arms the watch.
func crowdUpstream(conn net.Conn, a asked) bool {
	pause := func() { time.Sleep(time.Duration(rand.IntN(70)) * time.Millisecond) }
	switch {
	case bytes.HasPrefix(a.body, []byte("late")):
		pause()
		_, err := io.WriteString(conn, okAnswer)
		return err == nil
	case bytes.HasPrefix(a.body, []byte("stream")):
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
		for range 3 {
			pause()
			if _, err := io.WriteString(conn, "9\r\ndata: x\n\n\r\n"); err != nil {
				return false
			}
		}
		_, err := io.WriteString(conn, "0\r\n\r\n")
		return err == nil
	case bytes.HasPrefix(a.body, []byte("cut")):
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx")
		return false
	}
	_, err := io.WriteString(conn, okAnswer)
	return err == nil
}

func TestEveryCallOfACrowdIsRecordedOnceAndLeavesNothingBehind(t *testing.T) {
	const callers, each = 24, 15
	r := newRig(t, crowdUpstream)
	kinds := []string{"plain", "late", "stream", "cut", "plain" + strings.Repeat("x", 100_000)}
	var all sync.WaitGroup
	var mu sync.Mutex
	complete := 0
	for range callers {
		all.Go(func() {
			for i := range each {
				conn, err := net.Dial("tcp", r.address)
				if err != nil {
					t.Error(err)
					return
				}
				kind := kinds[rand.IntN(len(kinds))]
				if _, err := io.WriteString(conn, post("/gateway/v1?model=m", goodKey, kind)); err != nil {
					t.Error(err)
				}
				if i%3 == 0 { // leaves, at some moment
					time.Sleep(time.Duration(rand.IntN(90)) * time.Millisecond)
				} else if a := r.read(bufio.NewReader(conn), "POST"); a.err == nil && a.StatusCode == 200 {
					mu.Lock()
					complete++
					mu.Unlock()
				} else if kind != "cut" {
					t.Errorf("%.10s: %d %v", kind, a.StatusCode, a.err)
				}
				_ = conn.Close()
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	successes := 0
	for range callers * each {
		record := r.record()
		if seen[record.CallID.String()] {
			t.Errorf("recorded twice: %+v", record)
		}
		seen[record.CallID.String()] = true
		if record.Success {
			successes++
		} else if record.StatusCode != 499 || record.EndedBy != calls.ClientAbort && record.EndedBy != calls.UpstreamAbort {
			t.Errorf("record %+v", record)
		}
	}
	if successes < complete {
		t.Errorf("%d successes recorded, %d seen", successes, complete)
	}
	waitFor(t, func() bool { return r.gateway.supervisor.len() == 0 })
	if n := r.gateway.shares.bytes.used.Load(); n != 0 {
		t.Errorf("%d bytes of the budget are still taken", n)
	}
	if n := r.gateway.supervisor.watcher.count(); n != 0 {
		t.Errorf("%d sockets are still watched", n)
	}
	r.gateway.upstreams.each(func(p *connPool) {
		if open, idle := p.count(); open != idle {
			t.Errorf("%d connections open, %d idle", open, idle)
		}
	})
}
