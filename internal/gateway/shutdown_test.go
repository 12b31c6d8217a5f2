package gateway

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"callgate/internal/access"
	"callgate/internal/calls"
)

func TestShutdownServesAndLetsFinishThenCutsAndRecordsTheRest(t *testing.T) {
	finish := make(chan struct{})
	var r *rig
	r = newRig(t, func(conn net.Conn, a asked) bool {
		if string(a.body) == `"stuck"` {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1")
			r.hangsUp(conn)
			return false
		}
		if string(a.body) == `"silent"` {
			r.hangsUp(conn)
			return false
		}
		<-finish
		_, _ = io.WriteString(conn, okAnswer)
		return true
	})
	answers := make(chan answer, 3)
	for _, body := range []string{`"fine"`, `"stuck"`, `"silent"`} {
		go func() { answers <- r.ask(post("/gateway/v1?model=m", goodKey, body)) }()
		r.next()
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		if err := r.gateway.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		close(done)
	}()
	close(finish)
	if record := r.record(); !record.Success {
		t.Errorf("the call that could finish: %+v", record)
	}
	if a := r.ask(post("/gateway/v1?model=m", goodKey, "{}")); a.StatusCode != 200 || !r.record().Success {
		t.Errorf("a new call: %d", a.StatusCode)
	}
	cancel()
	<-done
	if len(r.records) != 2 {
		t.Fatalf("%d records when Shutdown returned", len(r.records))
	}
	for range 2 {
		if record := r.record(); record.StatusCode != 499 || record.EndedBy != calls.Shutdown || record.ReasonCode != calls.CodeShutdown ||
			record.ReasonType != calls.Interrupted {
			t.Errorf("record %+v", record)
		}
	}
	clean := 0
	for range 3 {
		if a := <-answers; a.err == nil {
			clean++
		}
	}
	if clean != 1 {
		t.Errorf("%d calls got a clean end", clean)
	}
}

func TestShutdownWithoutALimitWaitsForEveryCall(t *testing.T) {
	finish := make(chan struct{})
	r := newRig(t, func(conn net.Conn, _ asked) bool {
		<-finish
		_, _ = io.WriteString(conn, okAnswer)
		return true
	})
	answered := make(chan answer, 1)
	go func() { answered <- r.ask(post("/gateway/v1?model=m", goodKey, "{}")) }()
	r.next()
	done := make(chan error, 1)
	go func() { done <- r.gateway.Shutdown(context.Background()) }()
	select {
	case err := <-done:
		t.Errorf("Shutdown returned during a call: %v", err)
	case <-time.After(20 * shutdownLook):
	}
	close(finish)
	if a := <-answered; a.StatusCode != 200 {
		t.Errorf("the call: %d %v", a.StatusCode, a.err)
	}
	if record := r.record(); !record.Success {
		t.Errorf("record %+v", record)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestShutdownGivesUpOnACallThatIsStuck(t *testing.T) {
	stuck := make(chan struct{})
	r := newRig(t, answers(okAnswer), func(c *Config) {
		c.OpenKey = func(*access.Capability) ([]byte, error) { <-stuck; return []byte(upstreamKey), nil }
	})
	answered := make(chan answer, 1)
	go func() { answered <- r.ask(post("/gateway/v1?model=m", goodKey, "{}")) }()
	waitFor(t, func() bool { return r.gateway.supervisor.len() == 1 })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	began := time.Now()
	if err := r.gateway.Shutdown(ctx); err == nil || time.Since(began) > 2*cutTime {
		t.Errorf("Shutdown: %v after %v", err, time.Since(began))
	}
	close(stuck)
	<-answered
	r.record()
}
