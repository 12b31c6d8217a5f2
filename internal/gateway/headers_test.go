package gateway

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"callgate/internal/access"
	"callgate/internal/calls"
)

func TestRequestReachesTheUpstreamWithoutTheCallersCredentialsAndHops(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	a := r.ask(post("/gateway/v1/Chat%20x//?b=2&model=path&a=%7e", goodKey, "{}",
		"x-api-key: caller", "API-KEY: caller", "Cookie: a=b", "Proxy-Authorization: x", "X-Forwarded-For: 1.2.3.4", "x-forwarded-anything: x",
		"Forwarded: for=x", "Connection: keep-alive, X-Hop", "X-Hop: secret", "Keep-Alive: 5", "TE: trailers", "Upgrade: h2c", "Trailer: x",
		"x-CASE-kept: Value, with  spaces ", "Accept: text/event-stream", "anthropic-version: 2023-06-01", "X-Dup: 1", "X-Dup: 2", "Accept-Encoding: br"))
	if a.StatusCode != 200 {
		t.Fatalf("answer %d %s", a.StatusCode, a.body)
	}
	r.record()
	got := r.next()
	if got.line != "POST /base%2Fpath/v1/Chat%20x//?b=2&a=%7e HTTP/1.1" {
		t.Errorf("line %q", got.line)
	}
	want := []string{
		"Host: " + r.upstream, "x-CASE-kept: Value, with  spaces ", "Accept: text/event-stream", "anthropic-version: 2023-06-01", "X-Dup: 1", "X-Dup: 2",
		"Accept-Encoding: br", "Content-Type: application/json", "Authorization: Bearer " + upstreamKey, "Content-Length: 2",
	}
	if !slices.Equal(got.headers, want) {
		t.Errorf("headers\n%s\nwant\n%s", strings.Join(got.headers, "\n"), strings.Join(want, "\n"))
	}
}

func TestNothingIsAddedThatTheCallerDidNotSend(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	for method, extra := range map[string][]string{"GET": nil, "DELETE": nil, "OPTIONS": nil, "QUERY": nil, "POST": {"Content-Length: 0"}, "PUT": {"Content-Length: 0"}} {
		a := r.ask(method + " /gateway?model=x-key HTTP/1.1\r\nHost: g\r\nAuthorization: bearer  " + goodKey + "\r\n\r\n")
		r.record()
		got := r.next()
		want := append([]string{"Host: " + r.upstream, "X-Api-Key: " + upstreamKey}, extra...)
		if a.StatusCode != 200 || got.line != method+" / HTTP/1.1" || !slices.Equal(got.headers, want) {
			t.Errorf("%s: %d, %q %q", method, a.StatusCode, got.line, got.headers)
		}
	}
}

func TestResponseHeadersComeThroughWithoutHopsAndCookies(t *testing.T) {
	r := newRig(t, answers("HTTP/1.1 201 Very Created\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nServer: up/1\r\nLink: a\r\nX-Hop: 1\r\nLink: b\r\n"+
		"Connection: X-Hop, content-type\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nClear-Site-Data: *\r\nKeep-Alive: x\r\nContent-Type: Text/Odd\r\n"+
		"Content-Encoding: gzip\r\nX-Request-Id: up-1\r\nX-Call-Id: forged\r\nTrailer: X-T\r\nX-T: kept\r\nLink: c\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-T: dropped\r\n\r\n"))
	a := r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
	record := r.record()
	want := http.Header{"Date": {"Thu, 01 Jan 1970 00:00:00 GMT"}, "Server": {"up/1"}, "Link": {"a", "b", "c"}, "Content-Type": {"Text/Odd"},
		"Content-Encoding": {"gzip"}, "X-Request-Id": {"up-1"}, "X-Call-Id": {record.CallID.String()}, "X-T": {"kept"},
		"Vary": {"Authorization"}, "Cache-Control": {"private"}, "X-Content-Type-Options": {"nosniff"}}
	if a.Status != "201 Very Created" || string(a.body) != "x" {
		t.Errorf("answer %q %q", a.Status, a.body)
	}
	for name := range a.Header {
		if !slices.Equal(a.Header[name], want[name]) {
			t.Errorf("%s: %q, want %q", name, a.Header[name], want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

func TestAnswerWithoutContentTypeGetsNone(t *testing.T) {
	r := newRig(t, answers("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"))
	conn := r.dial()
	_, _ = io.WriteString(conn, post("/gateway/v1?model=m", goodKey, "{}", "Connection: close"))
	all, _ := io.ReadAll(conn)
	head, _, _ := strings.Cut(string(all), "\r\n\r\n")
	want := "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nVary: Authorization\r\nCache-Control: private\r\nX-Content-Type-Options: nosniff\r\nX-Call-Id: " + r.record().CallID.String() + "\r\nConnection: close"
	if head != want {
		t.Errorf("head %q\nwant %q", head, want)
	}
}

func TestPipelinedCallsAreAnsweredInOrder(t *testing.T) {
	r := newRig(t, func(conn net.Conn, a asked) bool {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+inChunks(string(a.body), 3))
		return true
	})
	conn := r.dial()
	_, _ = io.WriteString(conn, post("/gateway/v1?model=m", goodKey, "first")+post("/gateway/v1?model=none", goodKey, "{}")+post("/gateway/v1?model=m", goodKey, "third"))
	var got []string
	all := readAll(r, conn, 3)
	for _, a := range all {
		got = append(got, a.Status)
		r.record()
	}
	if string(all[0].body) != "first" || all[1].StatusCode != 403 || string(all[2].body) != "third" {
		t.Errorf("answers %q", got)
	}
}

func TestUpstreamCertificateIsVerified(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		_, _ = w.Write(body)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	var seen atomic.Int32
	r := newRig(t, answers(okAnswer), func(c *Config) {
		c.Capability = func(id string) *access.Capability {
			return &access.Capability{ID: id, Enabled: true, UpstreamBaseURL: server.URL, UpstreamAuth: "bearer"}
		}
		c.WatchTLS = func(c *tls.Config) {
			c.VerifyConnection = func(tls.ConnectionState) error { seen.Add(1); return nil }
		}
	})
	if a := r.ask(post("/gateway/v1?model=m", goodKey, "{}")); a.StatusCode != 502 || seen.Load() != 0 {
		t.Fatalf("an unknown authority: %d", a.StatusCode)
	}
	r.record()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	r.gateway.upstreams.each(func(p *connPool) { p.tls.RootCAs, p.tls.ServerName = roots, "example.com" })
	body := noise(300_000)
	for range 3 {
		r.rested()
		if a := r.ask(post("/gateway/v1?model=m", goodKey, body)); a.StatusCode != 200 || string(a.body) != body {
			t.Fatalf("answer %d, %d bytes, %v", a.StatusCode, len(a.body), a.err)
		}
		r.record()
	}
	r.gateway.upstreams.each(func(p *connPool) {
		if open, _ := p.count(); open != 1 {
			t.Errorf("%d connections for calls in turn", open)
		}
	})
	if n := seen.Load(); n != 1 {
		t.Errorf("who watches certificates saw %d of one connection", n)
	}
}

func TestPrivateUpstreamsAreRefusedWhenDialled(t *testing.T) {
	r := newRig(t, answers(okAnswer), func(c *Config) { c.AllowPrivate = false })
	a := r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
	record := r.record()
	if a.StatusCode != 502 || len(r.asked) != 0 || record.ReasonType != calls.ConnectionFailed {
		t.Errorf("answer %d, record %+v", a.StatusCode, record)
	}
	for _, text := range []string{string(a.body), record.Failure.Message} {
		if strings.Contains(text, "127.0.0.1") {
			t.Errorf("the upstream's address is shown: %q", text)
		}
	}
}

func TestRedirectsAreRelayedNotFollowed(t *testing.T) {
	r := newRig(t, answers("HTTP/1.1 307 Temporary Redirect\r\nLocation: /v2\r\nContent-Length: 0\r\n\r\n"))
	a := r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
	if record := r.record(); a.StatusCode != 307 || a.Header.Get("Location") != "/gateway/v2?model=m" || record.StatusCode != 307 || record.Success {
		t.Errorf("answer %d %v, record %+v", a.StatusCode, a.Header, record)
	}
}

func TestOutcomesAreCountedByReason(t *testing.T) {
	registry := prometheus.NewRegistry()
	r := newRig(t, answers(okAnswer), func(c *Config) { c.Registry = registry })
	r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
	r.record()
	r.ask(post("/gateway/v1?model=none", goodKey, "{}"))
	r.record()
	r.ask(post("/gateway/v1?model=m", "cg-made-up", "{}"))
	m := r.gateway.metrics
	if testutil.ToFloat64(m.outcomes[""]) != 1 || testutil.ToFloat64(m.outcomes[calls.CapabilityUnknown]) != 1 ||
		testutil.ToFloat64(m.refused.WithLabelValues("invalid_api_key")) != 1 {
		t.Error("wrong counts")
	}
	if families, err := registry.Gather(); err != nil || len(families) < 9 {
		t.Errorf("%d families, %v", len(families), err)
	}
}

func TestFailureShowsNoSecret(t *testing.T) {
	answer := `{"error":{"message":"key ` + upstreamKey + ` is bad"}}`
	r := newRig(t, func(conn net.Conn, _ asked) bool {
		_, _ = io.WriteString(conn, "HTTP/1.1 401 No\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"+answer)
		return false
	})
	r.ask(post("/gateway/v1/"+goodKey+"?model=m&k="+goodKey, goodKey, `{"a":"`+upstreamKey+`"}`))
	f := r.record().Failure
	for _, text := range []string{f.Message, f.Path, string(f.Query), string(f.RequestBody)} {
		if strings.Contains(text, upstreamKey) || strings.Contains(text, goodKey) {
			t.Errorf("a secret is shown: %q", text)
		}
	}
	if !strings.Contains(f.Message, "is bad") {
		t.Errorf("message %q", f.Message)
	}
}

func TestRepeatedResponseLinesAllComeThrough(t *testing.T) {
	r := newRig(t, answers("HTTP/1.1 200 OK\r\nServer: a\r\nContent-Type: text/a\r\nContent-Encoding: gzip\r\ncontent-encoding: br\r\nServer: b\r\n"+
		"content-type: text/b\r\nCONTENT-TYPE: text/c\r\nContent-Length: 1\r\n\r\nx"))
	conn := r.dial()
	br := bufio.NewReader(conn)
	for range 2 { // the second on the same connections
		_, _ = io.WriteString(conn, post("/gateway/v1?model=m", goodKey, "{}"))
		a := r.read(br, "POST")
		r.record()
		for name, want := range map[string][]string{"Server": {"a", "b"}, "Content-Type": {"text/a", "text/b", "text/c"}, "Content-Encoding": {"gzip", "br"}} {
			if got := a.Header[name]; !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if string(a.body) != "x" || len(a.Header) != 8 {
			t.Errorf("%q, headers %v", a.body, a.Header)
		}
		r.rested()
	}
}
