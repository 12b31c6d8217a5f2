package gateway

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"callgate/internal/calls"
)

func TestUpstreamThatAnswersGarbageIsABadGatewayAtOnce(t *testing.T) {
	for name, garbage := range map[string]string{
		"bare line feeds":            "HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 2\n\nok",
		"a bare line feed":           "HTTP/1.1 200 OK\r\nX: a\nY: b\r\n",
		"another protocol":           "SSH-2.0-OpenSSH_9.6\r\n",
		"HTTP/0.9":                   "<html>",
		"another version":            "HTTP/2.0 200 OK\r\n\r\n",
		"a chunk without a size":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n",
		"a chunk that has not ended": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nok",
		"a negative chunk":           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
		"a chunk beyond 64 bits":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(conn net.Conn, _ asked) bool {
				_, _ = io.WriteString(conn, garbage)
				_, _ = io.Copy(io.Discard, conn)
				return false
			}, func(c *Config) { c.HeaderTimeout = 3 * time.Second })
			a := r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
			record := r.record()
			if a.StatusCode != 502 || errorCode(a.body) != "upstream_unreachable" || !strings.Contains(string(a.body), "malformed") {
				t.Errorf("answered %d %v %s (%v)", a.StatusCode, a.Header, a.body, a.err)
			}
			if record.StatusCode != 502 || record.ReasonType != calls.ConnectionFailed || record.ReasonCode != calls.UpstreamUnreachable || record.Duration > 2*time.Second {
				t.Errorf("record %+v", record)
			}
		})
	}
}

func TestNobodyIsToldToContinueBeforeTheCallIsAdmitted(t *testing.T) {
	r := newRig(t, answers(okAnswer), func(c *Config) { c.MaxBodyBytes = 1000 })
	for name, test := range map[string]struct {
		target, key, length string
		status              int
	}{
		"unknown key":      {"/gateway/v1?model=m", "cg-made-up", "Content-Length: 5", 401},
		"no key":           {"/gateway/v1?model=m", "", "Content-Length: 5", 401},
		"no store":         {"/gateway/v1?model=m", "cg-unsure", "Content-Length: 5", 503},
		"disabled":         {"/gateway/v1?model=m", "cg-disabled", "Content-Length: 5", 403},
		"unbound, chunked": {"/gateway/v1?model=unbound", goodKey, "Transfer-Encoding: chunked", 403},
		"too large":        {"/gateway/v1?model=m", goodKey, "Content-Length: 1001", 413},
		"a path":           {"/gateway/../v1?model=m", goodKey, "Content-Length: 5", 400},
		"admitted":         {"/gateway/v1?model=m", goodKey, "Content-Length: 5", 100},
		"admitted chunks":  {"/gateway/v1?model=m", goodKey, "Transfer-Encoding: chunked", 100},
	} {
		t.Run(name, func(t *testing.T) {
			conn := r.dial()
			_, _ = io.WriteString(conn, "POST "+test.target+" HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer "+test.key+"\r\nExpect: 100-continue\r\n"+test.length+"\r\n\r\n")
			br := bufio.NewReader(conn)
			if test.status == 100 {
				if line, _ := br.ReadString('\n'); line != "HTTP/1.1 100 Continue\r\n" {
					t.Fatalf("got %q", line)
				}
				_, _ = br.ReadString('\n')
				body := "hello"
				if test.length[0] == 'T' {
					body = "5\r\nhello\r\n0\r\n\r\n"
				}
				_, _ = io.WriteString(conn, body)
				a := r.read(br, "POST")
				if record := r.record(); a.StatusCode != 200 || !record.Success || record.RequestBytes != 5 || string(r.next().body) != "hello" {
					t.Errorf("answered %d, recorded %+v", a.StatusCode, record)
				}
				return
			}
			a := r.read(br, "POST")
			if a.StatusCode != test.status || a.Header.Get("X-Callgate-Error") == "" || !a.Close || len(a.body) == 0 {
				t.Errorf("answered %d %v %s (%v)", a.StatusCode, a.Header, a.body, a.err)
			}
			if test.status == 401 || test.status == 503 {
				return
			}
			record := r.record()
			if record.StatusCode != test.status || record.Failure.BodyNote != calls.NotFullyRead || record.CallID.String() != a.Header.Get("X-Call-Id") || record.RequestBytes != 0 {
				t.Errorf("record %+v %+v", record, record.Failure)
			}
		})
	}
}

func TestHeadNobodyCanReadIsAnsweredInTheShapeOfItsPath(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	long := "X-Long: " + strings.Repeat("a", 20_000) + "\r\n\r\n"
	for _, before := range []string{"", post("/gateway/v1?model=unbound", goodKey, "{}"), "GET /health HTTP/1.1\r\nHost: g\r\n\r\n"} {
		for head, want := range map[string]struct {
			status int
			code   string
		}{
			"GET /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\n" + long:                  {431, "invalid_request"},
			"DELETE /gateway?model=m HTTP/1.1\r\nHost: g\r\n" + key1 + long:           {431, "invalid_request"},
			"POST /gateway/" + strings.Repeat("a", 20_000) + " HTTP/1.1\r\n\r\n":      {431, "invalid_request"},
			"GET /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\nBad\x00Name: a\r\n\r\n":   {400, "invalid_request"},
			"GET /gatewayed HTTP/1.1\r\nHost: g\r\n" + long:                           {431, ""},
			"GET /api/applications HTTP/1.1\r\nHost: g\r\n" + long:                    {431, ""},
			"GET /api?next=/gateway/v1 HTTP/1.1\r\nHost: g\r\nBad\x00Name: a\r\n\r\n": {400, ""},
		} {
			conn := r.dial()
			br := bufio.NewReader(conn)
			if before != "" {
				_, _ = io.WriteString(conn, before)
				r.read(br, "GET")
				for len(r.records) > 0 {
					<-r.records
				}
			}
			go func() { _, _ = io.WriteString(conn, head) }()
			a := r.read(br, "GET")
			var own struct {
				Error struct{ Code, Message string }
			}
			_ = json.Unmarshal(a.body, &own)
			if a.StatusCode != want.status || own.Error.Code != want.code || a.Header.Get("X-Callgate-Error") != want.code || !a.Close {
				t.Errorf("%.40s: answered %d %s, want %d %s", head, a.StatusCode, a.body, want.status, want.code)
			}
			if rest, err := io.ReadAll(br); len(rest) > 0 || err != nil {
				t.Errorf("%.40s: %q after the answer (%v)", head, rest, err)
			}
			_ = conn.Close()
		}
	}
}
