package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestForeignApplicationsAnswerAsAbsentOnes compares the two answers byte for byte, but for the
// request id.
func TestForeignApplicationsAnswerAsAbsentOnes(t *testing.T) {
	p := startDev(t, map[string]string{})
	owner, other := p.developer("owner@example.com"), p.developer("other@example.com")
	app, _ := owner.application("Private", "demo-chat")
	const absent = "01920000-0000-7000-8000-000000000000"
	for _, route := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/api/applications/ID", nil},
		{"PATCH", "/api/applications/ID", object{"name": "Mine now"}},
		{"DELETE", "/api/applications/ID", nil},
		{"GET", "/api/applications/ID/access-key", nil},
		{"POST", "/api/applications/ID/access-key/rotate", nil},
		{"PATCH", "/api/applications/ID/status", object{"status": "disabled"}},
		{"PATCH", "/api/applications/ID/capabilities/demo-chat", nil},
		{"GET", "/api/statistics/applications/ID", nil},
		{"GET", "/api/statistics/applications/ID/calls", nil},
		{"GET", "/api/statistics/applications/ID/calls/" + absent, nil},
	} {
		foreignStatus, foreign := other.try(route.method, strings.Replace(route.path, "ID", app, 1), route.body)
		absentStatus, none := other.try(route.method, strings.Replace(route.path, "ID", absent, 1), route.body)
		if foreign.RequestID == "" || foreign.RequestID == none.RequestID {
			t.Errorf("%s %s: request ids %q and %q", route.method, route.path, foreign.RequestID, none.RequestID)
		}
		foreign.RequestID, none.RequestID = "", ""
		if foreignStatus != 404 || absentStatus != 404 || foreign.Code != 40401 || foreign.Msg != none.Msg || string(foreign.Data) != string(none.Data) {
			t.Errorf("%s %s: foreign %d %+v, absent %d %+v", route.method, route.path, foreignStatus, foreign, absentStatus, none)
		}
	}
	kept := do[struct{ Name, Status string }](owner, "GET", "/api/applications/"+app, nil)
	if kept.Name != "Private" || kept.Status != "active" {
		t.Errorf("the application was changed by somebody else: %+v", kept)
	}
}

// raw sends bytes as they are and returns the answer until the connection is closed.
func (p *process) raw(request string) string {
	p.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		p.t.Fatal(err)
	}
	_, _ = io.WriteString(conn, request)
	answer, _ := io.ReadAll(conn)
	return string(answer)
}

// TestTextThatNoStoreTakesAndAmbiguousHeadsAreRefused: neither may become an internal error, or be
// read in two ways by a proxy and by us.
func TestTextThatNoStoreTakesAndAmbiguousHeadsAreRefused(t *testing.T) {
	p := startDev(t, map[string]string{})
	admin := p.administrator()
	for _, target := range []string{"/api/admin/capabilities?q=%FF", "/api/admin/capabilities?q=%00", "/api/admin/capabilities/%FF", "/api/admin/groups/a%00b"} {
		if status, e := admin.try("GET", target, nil); status != 400 && status != 404 {
			t.Errorf("%s: %d %s", target, status, e.Msg)
		}
	}
	for _, head := range []string{
		"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
		"X-A: 1\r\n folded\r\n", "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n",
	} {
		answer := p.raw("POST /api/auth/logout HTTP/1.1\r\nHost: x\r\n" + head + "\r\n0\r\n\r\nGET /api/config HTTP/1.1\r\nHost: x\r\n\r\n")
		if !strings.HasPrefix(answer, "HTTP/1.1 400") || strings.Contains(answer, "publicBaseUrl") {
			t.Errorf("%q: %q", head, answer)
		}
	}
}

func TestEveryAnswerOfTheConsoleHasADate(t *testing.T) {
	p := startDev(t, map[string]string{})
	for _, path := range []string{"/api/config", "/api/none", "/", "/health/live"} {
		resp, err := http.Get(p.base + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if date := resp.Header.Values("Date"); len(date) != 1 {
			t.Errorf("%s: Date %q", path, date)
		}
	}
}

// TestUnreadBodiesAreNeverTakenForTheNextRequest hides a request in a body that no handler reads.
func TestUnreadBodiesAreNeverTakenForTheNextRequest(t *testing.T) {
	p := startDev(t, map[string]string{})
	hidden := "GET /api/config HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, target := range []string{"/api/applications", "/api/auth/logout", "/api/none", "/", "/health/ready", "/nowhere"} {
		for _, size := range []int{len(hidden), 100_000, 2 << 20} {
			body := strings.Repeat("x", size-len(hidden)) + hidden
			conn, err := net.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			go func() {
				_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%sGET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", target, size, body)
			}()
			answer, _ := io.ReadAll(conn)
			_ = conn.Close()
			if strings.Contains(string(answer), "publicBaseUrl") {
				t.Errorf("POST %s with %d bytes: the hidden request was answered", target, size)
			}
			if n := strings.Count(string(answer), "HTTP/1.1 "); n < 1 && size < 2<<20 || n > 2 {
				t.Errorf("POST %s with %d bytes: %d answers", target, size, n)
			}
		}
	}
}
