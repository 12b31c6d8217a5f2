package gateway

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"callgate/internal/access"
)

const page = "https://app.example.com"

// TestPagesOfConfiguredOriginsMayCall: their preflights are answered without a key, and what they call they may read.
func TestPagesOfConfiguredOriginsMayCall(t *testing.T) {
	const upstreams = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nAccess-Control-Allow-Origin: https://elsewhere.example\r\n" +
		"access-control-allow-credentials: true\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\n{}"
	for name, test := range map[string]struct {
		origins       []string
		from, allowed string // Access-Control-Allow-Origin
		silent        bool   // OPTIONS is a method as any other
	}{
		"one of the list":     {origins: []string{"http://localhost:3000", page}, from: page, allowed: page},
		"any":                 {origins: []string{"*"}, from: page, allowed: "*"},
		"a file":              {origins: []string{"*"}, from: "null", allowed: "*"},
		"another":             {origins: []string{"http://localhost:3000"}, from: page},
		"another port":        {origins: []string{page}, from: page + ":8443"},
		"another scheme":      {origins: []string{page}, from: "http://app.example.com"},
		"a name it ends with": {origins: []string{page}, from: "https://not-app.example.com"},
		"none configured":     {from: page, silent: true},
	} {
		t.Run(name, func(t *testing.T) {
			var granted atomic.Int32
			r := newRig(t, answers(upstreams), func(c *Config) {
				c.Origins = test.origins
				grant := c.Grant
				c.Grant = func(ctx context.Context, recent *access.Recent, key []byte) (*access.Grant, error) {
					granted.Add(1)
					return grant(ctx, recent, key)
				}
			})
			conn := r.dial()
			br := bufio.NewReader(conn)
			origin := "Origin: " + test.from + "\r\n"
			for _, target := range []string{"/via/m/v1/chat/completions", "/gateway/v1/chat/completions?model=m", "/gateway/v1/models", "/via/none/x"} {
				if test.silent {
					break
				}
				_, _ = io.WriteString(conn, "OPTIONS "+target+" HTTP/1.1\r\nHost: g\r\n"+origin+"Access-Control-Request-Method: POST\r\n"+
					"Access-Control-Request-Headers: authorization,content-type,x-stainless-os\r\nSec-Fetch-Mode: cors\r\n\r\n")
				a := r.read(br, "OPTIONS")
				methods, headers := strings.Join(methods[:], ", "), "authorization,content-type,x-stainless-os"
				if test.allowed == "" {
					methods, headers = "", ""
				}
				if a.StatusCode != 204 || a.Close || a.Header.Get("Access-Control-Allow-Origin") != test.allowed || a.Header.Get("X-Call-Id") != "" ||
					a.Header.Get("Access-Control-Allow-Methods") != methods || a.Header.Get("Access-Control-Allow-Headers") != headers ||
					a.Header.Get("Access-Control-Allow-Credentials") != "" {
					t.Errorf("%s: %d %v", target, a.StatusCode, a.Header)
				}
			}
			if granted.Load() != 0 || len(r.records) != 0 || len(r.asked) != 0 {
				t.Errorf("%d keys looked up, %d records, %d asked upstream by preflights", granted.Load(), len(r.records), len(r.asked))
			}
			for _, call := range []struct {
				raw    string
				status int
				called bool
			}{
				{post("/via/m/v1/x", goodKey, "{}", strings.TrimSpace(origin), "Sec-Fetch-Mode: cors"), 200, true},
				{post("/via/unbound/v1/x", goodKey, "{}", strings.TrimSpace(origin)), 403, true},
				{post("/via/m/v1/x", "cg-made-up", "{}", strings.TrimSpace(origin)), 401, false},
				{"GET /gateway/v1/models HTTP/1.1\r\nHost: g\r\n" + origin + "Authorization: Bearer " + goodKey + "\r\n\r\n", 200, false},
				{"GET /gateway/v1/models/none HTTP/1.1\r\nHost: g\r\n" + origin + "Authorization: Bearer " + goodKey + "\r\n\r\n", 404, false},
			} {
				_, _ = io.WriteString(conn, call.raw)
				a := r.read(br, "POST")
				expose := ""
				if test.allowed != "" {
					expose = "*"
				}
				if a.StatusCode != call.status || !slices.Equal(a.Header.Values("Access-Control-Allow-Origin"), slices.DeleteFunc([]string{test.allowed}, func(o string) bool { return o == "" })) ||
					a.Header.Get("Access-Control-Expose-Headers") != expose || a.Header.Get("Access-Control-Allow-Credentials") != "" {
					t.Errorf("%.40q: %d %v", call.raw, a.StatusCode, a.Header)
				}
				if named := slices.Contains(a.Header.Values("Vary"), "Origin"); named != (test.allowed == page) {
					t.Errorf("%.40q: Vary %q", call.raw, a.Header.Values("Vary"))
				}
				if call.called {
					r.record()
				}
			}
			sent := r.next()
			if kept := slices.Contains(sent.headers, strings.TrimSpace(origin)); kept != (test.allowed == "") {
				t.Errorf("the upstream is told %q", sent.headers)
			}
		})
	}
}

// TestOptionsThatIsNoPreflightIsACall, and so is every OPTIONS where no origin is configured.
func TestOptionsThatIsNoPreflightIsACall(t *testing.T) {
	const preflight = "Origin: " + page + "\r\nAccess-Control-Request-Method: POST\r\n"
	for _, test := range []struct {
		origins []string
		lines   string
		status  int
	}{
		{[]string{page}, "Authorization: Bearer " + goodKey + "\r\nOrigin: " + page + "\r\n", 200},
		{[]string{page}, "Authorization: Bearer " + goodKey + "\r\nAccess-Control-Request-Method: POST\r\n", 200},
		{nil, "Authorization: Bearer " + goodKey + "\r\n" + preflight, 200},
		{nil, preflight, 401},
	} {
		r := newRig(t, answers(okAnswer), func(c *Config) { c.Origins = test.origins })
		if a := r.ask("OPTIONS /via/m/v1/x HTTP/1.1\r\nHost: g\r\n" + test.lines + "\r\n"); a.StatusCode != test.status {
			t.Errorf("%v, %q: %d", test.origins, test.lines, a.StatusCode)
		}
		if test.status == http.StatusOK {
			r.record()
		}
	}
}
