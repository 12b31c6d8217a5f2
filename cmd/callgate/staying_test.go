package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Tests that the process stays up, and leaves as it should.

func (p *process) address() string { return strings.TrimPrefix(p.base, "http://") }

// dial connects; the connection lives until the test ends.
func (p *process) dial() net.Conn {
	p.t.Helper()
	conn, err := net.Dial("tcp", p.address())
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

const toldToClose = "Connection: close"

// callOnce makes one call on a connection of its own and returns the status, 0 when there was no answer.
func (p *process) callOnce(key, target string) (status int, told string) {
	conn, err := net.DialTimeout("tcp", p.address(), 5*time.Second)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer %s\r\nContent-Length: 2\r\n\r\n{}", target, key)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err.Error()
	}
	body, _ := io.ReadAll(resp.Body)
	if resp.Close {
		return resp.StatusCode, toldToClose
	}
	return resp.StatusCode, fmt.Sprint(resp.Header, string(body))
}

// metric reads one figure of the private listener.
func metric(t *testing.T, address, name string) (value float64) {
	t.Helper()
	resp, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			_, _ = fmt.Sscan(text, &value)
			return value
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// flooded opens connections, says something on each, and keeps them for as long as it may.
func (p *process) flooded(connections int, says string) {
	var made atomic.Int64
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for made.Add(1) <= int64(connections) {
				conn, err := net.DialTimeout("tcp", p.address(), 5*time.Second)
				if err != nil {
					continue
				}
				_, _ = io.WriteString(conn, says)
				p.t.Cleanup(func() { _ = conn.Close() })
				go func() {
					_, _ = io.Copy(io.Discard, conn)
					_ = conn.Close()
				}()
			}
		})
	}
	all.Wait()
}

// TestConnectionsBeyondTheOpenFilesLeaveTheProcessServing floods a process that may open few files
// with connections, silent ones and half requests. FLOOD_CONNECTIONS and FLOOD_FILES set how many
// (make chaos: 20,000 against 4,096).
func TestConnectionsBeyondTheOpenFilesLeaveTheProcessServing(t *testing.T) {
	files, connections := fromEnvironment("FLOOD_FILES", 512), fromEnvironment("FLOOD_CONNECTIONS", 1_500)
	h := newInstallation(t)
	private := freeAddress(t)
	h.environment["METRICS_LISTEN"] = private
	gate := startWithFiles(t, files, h.environment, "serve", "--role", "gateway")
	if status, told := gate.callOnce(h.key, "/gateway/v1/json?model=chat"); status != 200 {
		t.Fatalf("before: %d %s", status, told)
	}
	for _, says := range []string{"", "POST /gateway/v1/json?model=chat HTTP/1.1\r\nHo"} {
		stop, during := make(chan struct{}), map[int]int{}
		var caller sync.WaitGroup
		caller.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					status, _ := gate.callOnce(h.key, "/gateway/v1/json?model=chat")
					during[status]++
				}
			}
		})
		began := time.Now()
		gate.flooded(connections, says)
		took := time.Since(began)
		close(stop)
		caller.Wait()
		eventually(t, time.Minute, "calls work again", func() error {
			select {
			case <-gate.ended:
				t.Fatalf("the process ended after %d connections: %s", connections, gate.errors())
			default:
			}
			if status, told := gate.callOnce(h.key, "/gateway/v1/json?model=chat"); status != 200 {
				return fmt.Errorf("%d %s", status, told)
			}
			return nil
		})
		counted := map[string]float64{}
		for _, name := range []string{"callgate_connections", "callgate_connections_limit", "callgate_connections_refused_total",
			"callgate_connections_gave_way_total", "callgate_accept_failures_total"} {
			counted[name] = metric(t, private, name)
		}
		t.Logf("%d connections saying %q against %d open files in %v: answers to a caller meanwhile %v; calls work %v after the last; %v",
			connections, says, files, took.Round(time.Millisecond), during, (time.Since(began) - took).Round(time.Millisecond), counted)
		if counted["callgate_connections_refused_total"]+counted["callgate_connections_gave_way_total"]+counted["callgate_accept_failures_total"] == 0 {
			t.Error("nothing was counted")
		}
		if counted["callgate_connections"] > counted["callgate_connections_limit"] {
			t.Error("more connections than MAX_CONNS")
		}
	}
	if lines := strings.Count(gate.errors(), "connections"); lines > 40 {
		t.Errorf("%d lines in the log", lines)
	}
}

// TestCallsAreServedAndRecordedWhileALeavingGatewayLeadsThemElsewhere sends calls without a pause from
// SIGTERM until nobody listens any more.
func TestCallsAreServedAndRecordedWhileALeavingGatewayLeadsThemElsewhere(t *testing.T) {
	const delay = 1500 * time.Millisecond
	h := newInstallation(t)
	h.environment["DRAIN_DELAY"] = delay.String()
	gate := start(t, h.environment, "serve", "--role", "gateway")
	const target = "/gateway/v1/json?model=chat"
	if status, told := gate.callOnce(h.key, target); status != 200 {
		t.Fatalf("before: %d %s", status, told)
	}
	kept := gate.dial()
	answers := bufio.NewReader(kept)
	_, _ = fmt.Fprintf(kept, "GET /health/ready HTTP/1.1\r\nHost: g\r\n\r\n")
	if resp, err := http.ReadResponse(answers, nil); err != nil || resp.StatusCode != 200 {
		t.Fatal(err)
	} else {
		_, _ = io.Copy(io.Discard, resp.Body)
	}
	term := time.Now()
	_ = gate.cmd.Process.Signal(syscall.SIGTERM)
	eventually(t, time.Minute, "readiness fails", func() error {
		resp, err := http.Get(gate.base + "/health/ready")
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != 503 {
			return fmt.Errorf("ready answers %d", resp.StatusCode)
		}
		return nil
	})
	unready := time.Since(term)
	_, _ = fmt.Fprintf(kept, "POST %s HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer %s\r\nContent-Length: 2\r\n\r\n{}", target, h.key)
	if resp, err := http.ReadResponse(answers, nil); err != nil || resp.StatusCode != 200 || !resp.Close {
		t.Errorf("a kept connection while the gateway leaves: %v %+v", err, resp)
	}
	served, refused := 2, map[string]int{}
	var last time.Duration
	for len(refused) == 0 {
		switch status, told := gate.callOnce(h.key, target); {
		case status == 200 && told == toldToClose:
			served++
			last = time.Since(term)
		case status == 0:
			refused[told]++
		default:
			t.Fatalf("%d %s", status, told)
		}
	}
	<-gate.ended
	t.Logf("not ready after %v; %d calls served, the last %v after SIGTERM; then %v; ended after %v with %d", unready, served, last, refused,
		time.Since(term), gate.cmd.ProcessState.ExitCode())
	if last < delay-200*time.Millisecond || gate.cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("served for %v, exit %d", last, gate.cmd.ProcessState.ExitCode())
	}
	h.dev.awaitCalls(h.app, 10*time.Second, served)
}

// TestSocketsWithoutACallHoldNobodyUp keeps connections open that say nothing, half a request, or
// that never read what they asked for, of the gateway and of the console.
func TestSocketsWithoutACallHoldNobodyUp(t *testing.T) {
	p := startDev(t, map[string]string{"CLIENT_WRITE_TIMEOUT": "1s", "DRAIN_TIMEOUT": "20s"})
	unread := func(request string) (cut func() bool) {
		conn := p.dial()
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		cutoff := make(chan struct{})
		go func() { // until the server's buffers are full, and then until it ends the connection
			defer close(cutoff)
			for {
				if _, err := io.WriteString(conn, strings.Repeat(request, 50)); err != nil {
					return
				}
			}
		}()
		return func() bool {
			select {
			case <-cutoff:
				return true
			default:
				return false
			}
		}
	}
	requests := []string{
		"GET /openapi.yaml HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /gateway/v1?model=demo-chat HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer none\r\n\r\n",
	}
	var cuts []func() bool
	for _, request := range requests {
		cuts = append(cuts, unread(request))
	}
	began := time.Now()
	eventually(t, time.Minute, "sockets that never read are cut", func() error {
		for i, cut := range cuts {
			if !cut() {
				return fmt.Errorf("%q is not", requests[i])
			}
		}
		return nil
	})
	t.Logf("sockets that never read were cut within %v", time.Since(began).Round(time.Millisecond))
	p.dial()
	_, _ = io.WriteString(p.dial(), "GET / HTTP/1.1\r\nHo")
	for _, request := range requests {
		unread(request)
	}
	if resp, err := http.Get(p.base + "/health/live"); err != nil {
		t.Fatal(err)
	} else {
		_ = resp.Body.Close() // and a connection that is idle
	}
	term := time.Now()
	p.stop(syscall.SIGTERM)
	code := p.cmd.ProcessState.ExitCode()
	t.Logf("ended %v after SIGTERM with %d", time.Since(term).Round(time.Millisecond), code)
	if took := time.Since(term); took > 10*time.Second || code != 0 {
		t.Errorf("ended %v after SIGTERM with %d:\n%s", took, code, p.errors())
	}
}
