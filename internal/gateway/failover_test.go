package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"callgate/internal/access"
	"callgate/internal/calls"
)

// pair is a gateway whose capabilities have two upstreams, first and second.
type pair struct {
	*rig          // its upstream is the first
	second *rig   // only its upstream is of use
	dead   []int  // members that stand at an address where nobody listens
	first  string // where the first one is, if that is not the rig's upstream
}

func newPair(t *testing.T, first, second script, changes ...func(*Config)) *pair {
	t.Helper()
	p := &pair{second: newRig(t, second)}
	address := func(i int) string {
		for _, dead := range p.dead {
			if dead == i {
				return "127.0.0.1:1"
			}
		}
		if i == 0 && p.first != "" {
			return p.first
		}
		return []string{p.upstream, p.second.upstream}[i]
	}
	changes = append([]func(*Config){func(c *Config) {
		c.Capability = func(id string) *access.Capability {
			members := []access.Member{member("first", address(0), 0, 1), member("second", address(1)+"/base", 1, 1)}
			members[1].Auth = "x-api-key"
			return &access.Capability{ID: id, Enabled: true, UpstreamAuth: "bearer", Upstreams: members}
		}
		c.OpenUpstreamKey = func(u *access.Upstream) ([]byte, error) { return []byte("sk-key-of-" + u.ID), nil }
	}}, changes...)
	p.rig = newRig(t, first, changes...)
	return p
}

func TestACallGoesToAnotherUpstreamWhenNoConnectionComesAbout(t *testing.T) {
	for name, raw := range map[string]string{
		"small body": post("/gateway/v1/chat?x=1&model=m", goodKey, `{"a":1}`, "X-Mine: yes"),
		"large body": post("/gateway/v1/chat?x=1&model=m", goodKey, strings.Repeat("x", 200_000), "X-Mine: yes"),
		"chunks": "POST /gateway/v1/chat?x=1&model=m HTTP/1.1\r\nHost: g\r\nX-Mine: yes\r\nAuthorization: Bearer " + goodKey +
			"\r\nTransfer-Encoding: chunked\r\n\r\n" + inChunks(noise(100_000), 50_000),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, answers(okAnswer), answers(okAnswer))
			p.dead = []int{0}
			if a := p.ask(raw); a.StatusCode != 200 || a.err != nil {
				t.Fatalf("answer %d %s %v", a.StatusCode, a.body, a.err)
			}
			record := p.record()
			if !record.Success || record.UpstreamID != "second" || record.Attempts != 2 || record.UpstreamCode != 200 {
				t.Errorf("record %+v", record)
			}
			if f := record.FailedAttempt; f.UpstreamID != "first" || f.Status != 0 || f.Reason != calls.UpstreamUnreachable || f.Duration <= 0 || f.Duration > record.Duration {
				t.Errorf("failed attempt %+v", f)
			}
			got := p.second.next()
			if got.line != "POST /base/v1/chat?x=1 HTTP/1.1" || fmt.Sprint(got.header("Host"), got.header("X-Mine"), got.header("X-Api-Key")) !=
				fmt.Sprint([]string{p.second.upstream}, []string{"yes"}, []string{"sk-key-of-second"}) || got.header("Authorization") != nil {
				t.Errorf("sent %q %q", got.line, got.headers)
			}
			if int64(len(got.body)) != record.RequestBytes {
				t.Errorf("%d bytes of body arrived of %d", len(got.body), record.RequestBytes)
			}
		})
	}
}

func TestARefusedRequestGoesToAnotherUpstreamOnlyIfItsWholeBodyIsKept(t *testing.T) {
	answered := "HTTP/1.1 %d Status\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
	for status, moves := range map[int]bool{429: true, 503: true, 400: false, 401: false, 408: false, 500: false, 502: false, 504: false, 520: false, 521: true, 522: false, 523: true, 524: false, 529: true} {
		for _, size := range []int{0, 10, keptBody - 1, 100_000, 1 << 20, 1<<20 + 1} {
			t.Run(fmt.Sprint(status, size), func(t *testing.T) {
				p := newPair(t, answers(fmt.Sprintf(answered, status)), answers(okAnswer))
				a := p.ask(post("/gateway/v1?model=m", goodKey, strings.Repeat("x", size)))
				record := p.record()
				if moves && size <= 1<<20 {
					if a.StatusCode != 200 || record.Attempts != 2 || record.UpstreamID != "second" || len(p.second.next().body) != size {
						t.Errorf("answer %d, record %+v", a.StatusCode, record)
					}
					if f := record.FailedAttempt; f.UpstreamID != "first" || f.Status != status || f.Reason != calls.UpstreamStatus || f.Duration <= 0 || f.Duration > record.FirstByte {
						t.Errorf("failed attempt %+v", f)
					}
					return
				}
				if s := p.gateway.Upstreams()["first"]; s.Failures != int64(status/500) {
					t.Errorf("its breaker counts %d failures", s.Failures)
				}
				if a.StatusCode != status || record.Attempts != 1 || record.UpstreamID != "first" || record.FailedAttempt != (calls.FailedAttempt{}) || len(p.second.asked) > 0 {
					t.Errorf("answer %d, record %+v", a.StatusCode, record)
				}
			})
		}
	}
}

// TestAKeptBodyIsSentAgainByteForByte: as chunks of its caller's too, and to an upstream that answers before it has read
// anything.
func TestAKeptBodyIsSentAgainByteForByte(t *testing.T) {
	const size = 900_000
	text := noise(size)
	sized := post("/gateway/v1?model=m", goodKey, text)
	chunked := "POST /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer " + goodKey + "\r\nTransfer-Encoding: chunked\r\n\r\n" + inChunks(text, 7_000)
	busy := "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
	for name, raw := range map[string]string{"sized": sized, "chunked": chunked} {
		for _, unread := range []bool{false, true} {
			t.Run(fmt.Sprint(name, unread), func(t *testing.T) {
				p := newPair(t, answers(busy), answers(okAnswer))
				if unread {
					p.redirectFirst(t, busy)
				}
				a := p.ask(raw)
				record := p.record()
				if a.StatusCode != 200 || record.Attempts != 2 || record.UpstreamID != "second" || record.RequestBytes != size {
					t.Fatalf("answer %d %v, record %+v", a.StatusCode, a.err, record)
				}
				if got := p.second.next(); string(got.body) != text {
					t.Errorf("%d bytes arrived that are not those sent", len(got.body))
				}
				waitFor(t, func() bool { return p.gateway.supervisor.len() == 0 })
				if n := p.gateway.shares.bytes.used.Load(); n != 0 {
					t.Errorf("%d bytes were not given back", n)
				}
			})
		}
	}
}

// redirectFirst puts a server in the place of the first upstream that answers once it has a head, and reads no more.
func (p *pair) redirectFirst(t *testing.T, answer string) {
	t.Helper()
	listener := listen(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = conn.Read(make([]byte, 100))
		_, _ = io.WriteString(conn, answer)
		<-t.Context().Done()
		_ = conn.Close()
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-ended
	})
	p.first = listener.Addr().String()
}

// TestABodyIsKeptOnlyWhileItMayBeNeeded: memory is taken for what came, and given back when an answer begins. Without
// memory, or with one upstream, the body goes on as it comes.
func TestABodyIsKeptOnlyWhileItMayBeNeeded(t *testing.T) {
	const size = 900_000
	began, finish := make(chan struct{}), make(chan struct{})
	streams := func(conn net.Conn, _ asked) bool {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{")
		began <- struct{}{}
		<-finish
		_, _ = io.WriteString(conn, "}")
		return true
	}
	p := newPair(t, streams, answers(okAnswer), func(c *Config) { c.OwnerShare = 1 })
	used := &p.gateway.shares.bytes.used
	raw := post("/gateway/v1?model=m", goodKey, strings.Repeat("x", size))
	conn := p.dial()
	_, _ = io.WriteString(conn, raw[:len(raw)-size+30_000])
	waitFor(t, func() bool { return used.Load() > keptBody })
	if n := used.Load(); n > 150_000 {
		t.Errorf("%d bytes are held for 30,000", n)
	}
	_, _ = io.WriteString(conn, raw[len(raw)-size+30_000:])
	<-began
	waitFor(t, func() bool { return used.Load() <= keptBody })
	finish <- struct{}{}
	if a := p.read(bufio.NewReader(conn), "POST"); a.StatusCode != 200 || !p.record().Success {
		t.Errorf("answer %d %v", a.StatusCode, a.err)
	}

	waitFor(t, func() bool { return used.Load() == 0 })
	hold := p.gateway.shares.bytes.limit - 100_000
	if err := p.gateway.reserve(nil, hold); err != nil {
		t.Fatal(err)
	}
	go func() {
		<-began
		finish <- struct{}{}
	}()
	if a := p.ask(raw); a.StatusCode != 200 || !p.record().Success {
		t.Errorf("without memory: answer %d %v", a.StatusCode, a.err)
	}
	_ = p.gateway.reserve(nil, -hold)
}

// TestARequestThatAnUpstreamMayHaveActedOnIsNeverSentToAnother goes through what can happen once a head was sent.
func TestARequestThatAnUpstreamMayHaveActedOnIsNeverSentToAnother(t *testing.T) {
	for name, first := range map[string]script{
		"closed unanswered": func(net.Conn, asked) bool { return false },
		"reset": func(conn net.Conn, _ asked) bool {
			_ = conn.(*net.TCPConn).SetLinger(0)
			return false
		},
		"half a head": func(conn net.Conn, _ asked) bool {
			_, _ = io.WriteString(conn, "HTTP/1.1 503 Serv")
			return false
		},
		"cut answer": func(conn net.Conn, _ asked) bool {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhal")
			return false
		},
		"nonsense": answers("hello, this is no HTTP\r\n\r\n"),
		"silence": func(conn net.Conn, _ asked) bool {
			_, _ = io.Copy(io.Discard, conn)
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, first, answers(okAnswer), func(c *Config) { c.HeaderTimeout = 300 * time.Millisecond })
			p.ask(post("/gateway/v1?model=m", goodKey, "{}"))
			if record := p.record(); record.Success || record.Attempts != 1 || record.UpstreamID != "first" {
				t.Errorf("record %+v", record)
			}
			if len(p.asked) != 1 || len(p.second.asked) != 0 {
				t.Errorf("sent %d times, and %d times to the second", len(p.asked), len(p.second.asked))
			}
			if s := p.gateway.Upstreams()["first"]; s.Failures != 1 || s.LastError == "" {
				t.Errorf("state %+v", s)
			}
			for len(p.hungUp) > 0 {
				<-p.hungUp
			}
		})
	}
}

func TestACallTriesTwoUpstreamsAtMost(t *testing.T) {
	p := newPair(t, answers(okAnswer), answers(okAnswer))
	p.dead = []int{0, 1}
	if a := p.ask(post("/gateway/v1?model=m", goodKey, "{}")); a.StatusCode != 502 {
		t.Errorf("answer %d", a.StatusCode)
	}
	if record := p.record(); record.Attempts != 2 || record.ReasonCode != calls.UpstreamUnreachable || record.UpstreamCode != 0 {
		t.Errorf("record %+v", record)
	}
}

func TestAnOpenUpstreamIsSparedAndTriedByOneCall(t *testing.T) {
	failing := make(chan struct{})
	p := newPair(t, func(conn net.Conn, _ asked) bool {
		select {
		case <-failing:
			_, _ = io.WriteString(conn, okAnswer)
		default:
			_, _ = io.WriteString(conn, "HTTP/1.1 500 Oops\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n")
		}
		return true
	}, answers(okAnswer))
	once := func() *calls.Record {
		p.ask(post("/gateway/v1?model=m", goodKey, "{}"))
		return p.record()
	}
	for i := range breakerLeast {
		if record := once(); record.UpstreamID != "first" || record.Success {
			t.Fatalf("call %d: %+v", i, record)
		}
	}
	state := p.gateway.Upstreams()["first"]
	if state.State != "open" || state.OpenedAt.IsZero() {
		t.Fatalf("state %+v", state)
	}
	e := p.gateway.endpoints.of("first")
	if length := time.Duration(e.breaker.until.Load() - e.breaker.opened.Load()); length < 29*time.Second || length > 31*time.Second {
		t.Errorf("open for %v although the upstream asked for 30 s", length)
	}
	for range 10 {
		if record := once(); record.UpstreamID != "second" || !record.Success || record.Attempts != 1 {
			t.Fatalf("while open: %+v", record)
		}
	}
	e.breaker.until.Store(1) // its time is over
	if record := once(); record.UpstreamID != "first" || record.Success {
		t.Fatalf("the call that tries: %+v", record)
	}
	if s := p.gateway.Upstreams()["first"]; s.State != "open" {
		t.Fatalf("after a failed try: %+v", s)
	}
	close(failing)
	e.breaker.until.Store(1)
	for range 3 {
		if record := once(); record.UpstreamID != "first" || !record.Success {
			t.Fatalf("after it recovered: %+v", record)
		}
	}
	if s := p.gateway.Upstreams()["first"]; s.State != "closed" || !s.OpenedAt.IsZero() {
		t.Errorf("after a good try: %+v", s)
	}
}

// TestATryThatCameToNothingLeavesTheNextCallToTry: the caller leaves before the upstream says anything.
func TestATryThatCameToNothingLeavesTheNextCallToTry(t *testing.T) {
	p := newPair(t, func(conn net.Conn, _ asked) bool {
		_, _ = io.Copy(io.Discard, conn)
		return false
	}, answers(okAnswer))
	e := p.gateway.endpoints.of("first")
	e.breaker.open(1, 1)
	conn := p.dial()
	_, _ = io.WriteString(conn, post("/gateway/v1?model=m", goodKey, "{}"))
	p.next()
	if s := e.breaker.state(); s != "probing" {
		t.Errorf("state %s", s)
	}
	_ = conn.Close()
	if record := p.record(); record.EndedBy != calls.ClientAbort || record.UpstreamID != "first" {
		t.Errorf("record %+v", record)
	}
	if e.breaker.probing.Load() != 0 || e.breaker.closed() {
		t.Errorf("state %s", e.breaker.state())
	}
	for len(p.hungUp) > 0 {
		<-p.hungUp
	}
}

// TestASlowCallerDoesNotHoldTheTryOfARecoveredUpstream: neither with a body that is kept, nor with a longer one.
func TestASlowCallerDoesNotHoldTheTryOfARecoveredUpstream(t *testing.T) {
	for _, size := range []int{100, 100_000, 3 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			p := newPair(t, answers(okAnswer), answers(okAnswer))
			e := p.gateway.endpoints.of("first")
			e.breaker.open(1, 1)
			slow := p.dial()
			raw := post("/gateway/v1?model=m", goodKey, strings.Repeat("x", size))
			_, _ = io.WriteString(slow, raw[:len(raw)-1])
			waitFor(t, func() bool { // it has come to where it waits for its caller
				waits := false
				p.gateway.supervisor.each(func(c *call) { waits = waits || c.request.size.Load() == int64(size-1) })
				return waits
			})
			p.ask(post("/gateway/v1?model=m", goodKey, "{}"))
			if record := p.record(); record.UpstreamID != "first" || !e.breaker.closed() {
				t.Errorf("beside a slow caller: %+v, %s", record, e.breaker.state())
			}
			_, _ = io.WriteString(slow, "x")
			if a := p.read(bufio.NewReader(slow), "POST"); a.StatusCode != 200 || !p.record().Success {
				t.Errorf("the slow call: %d %v", a.StatusCode, a.err)
			}
			if n := e.breaker.probing.Load(); n != 0 {
				t.Errorf("claim %d is left", n)
			}
		})
	}
}

// TestATryThatFoundNoPlaceIsGivenBack: the call goes to another upstream.
func TestATryThatFoundNoPlaceIsGivenBack(t *testing.T) {
	p := newPair(t, answers(okAnswer), answers(okAnswer), func(c *Config) { c.MaxUpstreamConns = 1 })
	p.ask(post("/gateway/v1?model=m", goodKey, "{}")) // so that there is a pool
	p.record()
	e := p.gateway.endpoints.of("first")
	e.breaker.open(1, 1)
	first, err := p.gateway.upstreams.target("http://" + p.upstream)
	if err != nil {
		t.Fatal(err)
	}
	taken := &stake{of: &first.pool.places}
	if err := taken.take(new(holding), 1); err != nil {
		t.Fatal(err)
	}
	p.ask(post("/gateway/v1?model=m", goodKey, "{}"))
	if record := p.record(); record.UpstreamID != "second" || e.breaker.probing.Load() != 0 || e.breaker.closed() {
		t.Errorf("record %+v, %s", record, e.breaker.state())
	}
	taken.give(1)
	p.ask(post("/gateway/v1?model=m", goodKey, "{}"))
	if record := p.record(); record.UpstreamID != "first" || !e.breaker.closed() {
		t.Errorf("later: %+v, %s", record, e.breaker.state())
	}
}

// TestTheDetailOfACallNamesNoneOfItsUpstreams: nor a key of theirs.
func TestTheDetailOfACallNamesNoneOfItsUpstreams(t *testing.T) {
	var p *pair
	p = newPair(t, answers("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), func(conn net.Conn, _ asked) bool {
		body := `{"error":{"message":"sk-key-of-first sk-key-of-second ` + p.upstream + ` ` + p.second.upstream + `"}}`
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		return true
	})
	p.ask(post("/gateway/v1?model=m", goodKey, "{}"))
	record := p.record()
	if record.Failure == nil || record.Failure.Message == "" || record.Attempts != 2 {
		t.Fatalf("record %+v", record)
	}
	for _, secret := range []string{"sk-key-of", p.upstream, p.second.upstream} {
		if strings.Contains(record.Failure.Message, secret) {
			t.Errorf("the detail says %q", record.Failure.Message)
		}
	}
}
