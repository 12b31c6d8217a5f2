package main

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestOneApplicationsSilentCallsLeaveTheOthersServed lets one application hold more silent calls than
// the upstream has connections. SILENT_CALLS sets how many (make chaos: 4,150, against the default of 4,096).
func TestOneApplicationsSilentCallsLeaveTheOthersServed(t *testing.T) {
	silent := fromEnvironment("SILENT_CALLS", 300)
	up := newScripted(t)
	environment := map[string]string{"DRAIN_TIMEOUT": "1s"}
	if silent < 4_096 {
		environment["MAX_UPSTREAM_CONNS"] = fmt.Sprint(silent - 50)
	}
	p := startDev(t, environment)
	p.administrator().capability("chat", up.URL, upstreamKey)
	_, greedy := p.developer("greedy@example.com").application("Greedy", "chat")
	_, modest := p.developer("modest@example.com").application("Modest", "chat")
	if status, told := p.callOnce(modest, "/gateway/v1/json?model=chat"); status != 200 {
		t.Fatalf("before: %d %s", status, told)
	}
	var refused atomic.Int64
	var made atomic.Int64
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for made.Add(1) <= int64(silent) {
				conn, err := net.DialTimeout("tcp", p.address(), 5*time.Second)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = fmt.Fprintf(conn, "POST /gateway/v1/silent?model=chat HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer %s\r\nContent-Length: 2\r\n\r\n{}", greedy)
				t.Cleanup(func() { _ = conn.Close() })
				_ = conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
				if line, err := bufio.NewReader(conn).ReadString('\n'); err == nil && strings.Contains(line, "503") {
					refused.Add(1)
				}
			}
		})
	}
	all.Wait()
	statuses := map[int]int{}
	var took []time.Duration
	for range 200 {
		began := time.Now()
		status, _ := p.callOnce(modest, "/gateway/v1/json?model=chat")
		statuses[status]++
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	t.Logf("%d silent calls of one application, %d answered 503; 200 calls of another one: %v, median %v", silent, refused.Load(), statuses, took[100])
	if statuses[200] != 200 || refused.Load() == 0 {
		t.Errorf("another application's calls: %v; %d of the greedy one's were refused", statuses, refused.Load())
	}
}

// TestDevShowsNobodysMailUnderAForeignHostName: a page may make its own name lead to a loopback
// address, and would be of one origin with whatever answers there.
func TestDevShowsNobodysMailUnderAForeignHostName(t *testing.T) {
	p := startDev(t, map[string]string{})
	p.developer("victim@example.com")
	for _, path := range []string{"/dev/mails?to=victim@example.com", "/", "/api/config", "/openapi.yaml", "/health/ready"} {
		answer := p.raw("GET " + path + " HTTP/1.1\r\nHost: evil.example:8080\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(answer, "HTTP/1.1 421 ") || !strings.Contains(answer, "PUBLIC_BASE_URL") || strings.Contains(answer, "victim") {
			t.Errorf("%s: %s", path, answer)
		}
		if answer = p.raw("GET " + path + " HTTP/1.1\r\nHost: localhost:1\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
			t.Errorf("%s as localhost: %s", path, answer)
		}
	}
}
