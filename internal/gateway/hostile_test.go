package gateway

import (
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"callgate/internal/access"
	"callgate/internal/calls"
	"callgate/internal/http1"
)

func TestOurOwnAnswersAndOnlyTheyNameTheirError(t *testing.T) {
	r := newRig(t, answers("HTTP/1.1 401 No\r\nX-Callgate-Error: invalid_api_key\r\nx-callgate-anything: x\r\nContent-Length: 0\r\n\r\n"))
	for key, want := range map[string]string{"cg-made-up": "invalid_api_key", goodKey: "", "cg-disabled": "application_disabled", "cg-unsure": "access_unavailable"} {
		a := r.ask(post("/gateway/v1?model=m", key, "{}"))
		if got := a.Header["X-Callgate-Error"]; len(got) > 1 || a.Header.Get("X-Callgate-Error") != want {
			t.Errorf("%s: %d names %q, want %q", key, a.StatusCode, got, want)
		}
		if key == goodKey && a.Header.Get("X-Callgate-Anything") != "" {
			t.Errorf("the upstream speaks for us: %v", a.Header)
		}
		if key == goodKey || key == "cg-disabled" {
			r.record()
		}
	}
	if a := r.ask("GET /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\nX: a\r\n b\r\n\r\n"); a.Header.Get("X-Callgate-Error") != "invalid_request" {
		t.Errorf("malformed: %v", a.Header)
	}
}

// hostileNames are response headers that act on an origin, on a page or on a proxy in front of us.
var hostileNames = strings.Fields(`NEL Report-To Reporting-Endpoints Strict-Transport-Security Alt-Svc Service-Worker-Allowed Accept-CH
	Accept-CH-Lifetime Critical-CH WWW-Authenticate Content-Security-Policy Content-Security-Policy-Report-Only Public-Key-Pins
	Public-Key-Pins-Report-Only Expect-CT Origin-Agent-Cluster Refresh SourceMap X-SourceMap Sec-Session-Registration Sec-Session-Challenge
	Secure-Session-Registration Set-Cookie Clear-Site-Data Set-Login Use-As-Dictionary Origin-Trial Speculation-Rules Permissions-Policy
	Cross-Origin-Opener-Policy-Report-Only Attribution-Reporting-Register-Source X-Callgate-Error
	X-Accel-Redirect X-Accel-Expires X-Accel-Limit-Rate X-Accel-Charset x_accel_redirect X-Sendfile X-SENDFILE2 X-LIGHTTPD-send-file
	X-Lighttpd-Anything X-LiteSpeed-Location X-Reproxy-URL Surrogate-Control CDN-Cache-Control X-Envoy-Immediate-Health-Check-Fail`)

func TestNothingThatActsOnAnOriginOrAProxyComesThrough(t *testing.T) {
	var head strings.Builder
	for _, name := range hostileNames {
		head.WriteString(name + ": evil\r\n")
	}
	r := newRig(t, answers("HTTP/1.1 200 OK\r\n"+head.String()+"X-Accel-Buffering: no\r\nX-RateLimit-Remaining: 3\r\nContent-Length: 0\r\n\r\n"))
	a := r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
	r.record()
	for name, values := range a.Header {
		if slices.Contains(values, "evil") {
			t.Errorf("%s came through", name)
		}
	}
	if a.Header.Get("X-Accel-Buffering") != "no" || a.Header.Get("X-RateLimit-Remaining") != "3" {
		t.Errorf("headers %v", a.Header)
	}
}

func TestAnswersAreForTheirCallerAloneAndRunNothing(t *testing.T) {
	for sent, want := range map[string]struct{ vary, cache, policy string }{
		"":                                     {"Authorization", "private", ""},
		"Vary: Accept-Encoding\r\n":            {"Accept-Encoding|Authorization", "private", ""},
		"Vary: Origin, authorization\r\n":      {"Origin, authorization", "private", ""},
		"Vary: *\r\n":                          {"*", "private", ""},
		"Cache-Control: public, max-age=9\r\n": {"Authorization", "public, max-age=9|private", ""},
		"Cache-Control: No-Store\r\n":          {"Authorization", "No-Store", ""},
		"Cache-Control: a, private\r\n":        {"Authorization", "a, private", ""},
		"Cache-Control: private=\"x\"\r\n":     {"Authorization", "private=\"x\"|private", ""},
		"Content-Type: text/HTML\r\n":          {"Authorization", "private", "sandbox"},
		"Content-Type: image/svg+xml\r\n":      {"Authorization", "private", "sandbox"},
		"X-Content-Type-Options: none\r\n":     {"Authorization", "private", ""},
	} {
		r := newRig(t, answers("HTTP/1.1 200 OK\r\n"+sent+"Content-Length: 0\r\n\r\n"))
		a := r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
		r.record()
		for name, want := range map[string]string{"Vary": want.vary, "Cache-Control": want.cache, "Content-Security-Policy": want.policy, "X-Content-Type-Options": "nosniff"} {
			if got := strings.Join(a.Header[name], "|"); got != want {
				t.Errorf("%q: %s: %q, want %q", sent, name, got, want)
			}
		}
	}
}

func TestWhatABrowserWouldShowOrRunIsRefused(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	for line, refused := range map[string]bool{
		"Sec-Fetch-Mode: navigate": true, "sec-fetch-mode: Navigate": true, "Sec-Fetch-Dest: document": true, "Sec-Fetch-Dest: iframe": true,
		"Sec-Fetch-Dest: frame": true, "Sec-Fetch-Dest: script": true, "Sec-Fetch-Dest: style": true, "Sec-Fetch-Dest: worker": true,
		"Sec-Fetch-Dest: serviceworker": true, "Sec-Fetch-Dest: sharedworker": true, "Sec-Fetch-Dest: embed": true, "Sec-Fetch-Dest: object": true,
		"Sec-Fetch-Dest: manifest": true, "Sec-Fetch-Dest: not-yet-invented": true,
		"Sec-Fetch-Mode: cors": false, "Sec-Fetch-Dest: empty": false, "Sec-Fetch-Dest: image": false, "Sec-Fetch-Dest: audio": false,
	} {
		for _, target := range bothRoots {
			a := r.ask(post(target, goodKey, "{}", line))
			record := r.record()
			if refused != (a.StatusCode == 400 && a.Header.Get("X-Callgate-Error") == "invalid_request" && record.ReasonType == calls.InvalidRequest) ||
				!refused && (a.StatusCode != 200 || !record.Success) {
				t.Errorf("%s %s: answered %d %s, recorded %+v", target, line, a.StatusCode, a.body, record)
			}
			for _, keys := range [][]string{nil, {"X-Api-Key: a", "Api-Key: b"}} {
				if a := r.ask(post(target, "", "{}", append(keys, line)...)); refused != (a.StatusCode == 400) || !refused && a.StatusCode != 401 {
					t.Errorf("%s %s without a key: answered %d %s", target, line, a.StatusCode, a.body)
				}
			}
		}
	}
}

func TestMethodsNobodyDefinedForCallsAreRefusedAndRecorded(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	for i, method := range []string{"TRACE", "TRACK", "CONNECT", "PROPFIND", "INVENTED", "get", "X", "X"} {
		a := r.ask(method + " " + bothRoots[i%2] + " HTTP/1.1\r\nHost: g\r\n" + key1 + "\r\n")
		record := r.record()
		if a.StatusCode != 405 || a.Header.Get("Allow") != "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, QUERY" || errorCode(a.body) != "invalid_request" ||
			record.StatusCode != 405 || record.ReasonType != calls.InvalidRequest || len(r.asked) != 0 {
			t.Errorf("%s: answered %d %v, recorded %+v, upstream asked %d times", method, a.StatusCode, a.Header, record, len(r.asked))
		}
	}
}

// TestUpstreamsAddressStandsInNoHeader: what is under the base URL leads back to the gateway, the rest
// is dropped.
func TestUpstreamsAddressStandsInNoHeader(t *testing.T) {
	const base = "http://UPSTREAM/base%2Fpath"
	for sent, want := range map[string]string{
		"Location: " + base + "/v1/files/1":                   "Location: /gateway/v1/files/1?model=path",
		"Location: " + base + "/v1?b=2&model=other&a=%7e#end": "Location: /gateway/v1?model=path&b=2&a=%7e#end",
		"Location: " + base:                                   "Location: /gateway?model=path",
		"Location: //UPSTREAM/base%2Fpath/v1":                 "Location: /gateway/v1?model=path",
		"Location: HTTP://user:pw@UPSTREAM/base%2Fpath/v1":    "Location: /gateway/v1?model=path",
		"Location: /base%2Fpath/v1/files":                     "Location: /gateway/v1/files?model=path",
		"Location: 2":                                         "Location: /gateway/v1/2?model=path",
		"Location: ?page=2":                                   "Location: /gateway/v1/chat?model=path&page=2",
		"Location: /admin":                                    "",
		"Location: ../../../admin":                            "",
		"Location: http://UPSTREAM/base%2Fpathological":       "",
		"Location: " + base + "/%2e%2e/x":                     "",
		"Location: https://elsewhere/x":                       "",
		"Location: javascript:alert(1)":                       "",
		"Location: http://UPSTREAM:99999999/x":                "",
		"Content-Location: " + base + "/v1/x":                 "Content-Location: /gateway/v1/x?model=path",
		"Operation-Location: " + base + "/v1/op?api=1":        "Operation-Location: /gateway/v1/op?model=path&api=1",
		"X-Served-From: see http://UPSTREAM/status":           "",
		"Link: <" + base + "/v1?p=2>; rel=\"next\", </base%2Fpath/v1?p=9>; rel=\"last\"": `Link: </gateway/v1?model=path&p=2>; rel="next", </gateway/v1?model=path&p=9>; rel="last"`,
		"Link: <https://collector.example>; rel=preconnect":                              "",
	} {
		answer := ""
		r := newRig(t, func(conn net.Conn, _ asked) bool {
			_, _ = io.WriteString(conn, answer)
			return true
		})
		answer = "HTTP/1.1 201 Created\r\n" + strings.ReplaceAll(sent, "UPSTREAM", r.upstream) + "\r\nContent-Length: 0\r\n\r\n"
		a := r.ask(post("/gateway/v1/chat?model=path", goodKey, "{}"))
		r.record()
		name, _, _ := strings.Cut(sent, ":")
		got := strings.Join(a.Header[name], "|")
		if got != "" {
			got = name + ": " + got
		}
		if a.StatusCode != 201 || got != want {
			t.Errorf("%s: %d %q, want %q", sent, a.StatusCode, got, want)
		}
	}
}

func TestUpstreamOfANameIsNamedInNoHeader(t *testing.T) {
	for host, shown := range map[string]bool{
		"api.provider.example": false, "api.provider.example:8443": false, "provider": true, "provider:8080": true, "10.1.2.3": true, "[::1]:80": true,
	} {
		from := origin{target: &target{scheme: "https", host: host, mark: mark(host)}, model: "m"}
		_, changed := from.rewrites([]byte("X-Served-By"), []byte("X-Served-By: node 3 of "+strings.TrimSuffix(host, ":8443")))
		if changed == shown {
			t.Errorf("%s is shown: %v", host, !changed)
		}
		if _, changed := from.rewrites([]byte("X"), []byte("X: http://"+host+"/a b")); !changed {
			t.Errorf("a URL of %s is shown", host)
		}
	}
}

func TestTheAccessKeyGoesNoFurtherWhateverCarriesIt(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	a := r.ask(post("/gateway/v1?a=1&key="+goodKey+"&model=m&b=%63g-good&"+goodKey+"=x&c=2", goodKey, "{}",
		"X-Auth: "+goodKey, "X-Token: bearer "+goodKey+"; v=1", "X_Api_Key: a", "X-Goog-Api-Key: a", "x_goog_api_key: a", "PROXY_AUTHORIZATION: a",
		"X_Forwarded_For: 1", "X-Real-Ip: 1.2.3.4", "x_real_ip: 1.2.3.4", "Via: 1.1 proxy", "CF-Connecting-IP: 1.2.3.4", "X-Callgate-Anything: 1",
		"X-HTTP-Method-Override: TRACE", "X-Original-URL: /admin", "X_Custom: kept"))
	r.record()
	got := r.next()
	want := []string{"Host: " + r.upstream, "X_Custom: kept", "Content-Type: application/json", "Authorization: Bearer " + upstreamKey, "Content-Length: 2"}
	if a.StatusCode != 200 || got.line != "POST /v1?a=1&c=2 HTTP/1.1" || !slices.Equal(got.headers, want) {
		t.Errorf("answered %d, upstream got %q\n%s", a.StatusCode, got.line, strings.Join(got.headers, "\n"))
	}
}

func TestOnlyWhatACapabilityAllowsIsForwarded(t *testing.T) {
	r := newRig(t, answers(okAnswer), func(c *Config) {
		find := c.Capability
		c.Capability = func(id string) *access.Capability {
			capability := find(id)
			if id == "m" {
				capability.AllowedMethods, capability.AllowedPaths = []string{"POST", "QUERY"}, []string{"/v1/chat", "/v1/models/"}
			}
			return capability
		}
	})
	for asked, want := range map[string]struct {
		status int
		code   calls.ReasonCode
	}{
		"POST /gateway/v1/chat?model=m":                 {200, ""},
		"POST /gateway/v1/chat/completions?model=m":     {200, ""},
		"QUERY /gateway/v1/models/?model=m":             {200, ""},
		"POST /gateway/v1/chat/%E4%BD%A0?model=m":       {200, ""},
		"POST /gateway/v1/chatter?model=m":              {400, calls.InvalidPath},
		"POST /gateway/v1/models?model=m":               {400, calls.InvalidPath},
		"POST /gateway?model=m":                         {400, calls.InvalidPath},
		"POST /gateway//v1/chat?model=m":                {400, calls.InvalidPath},
		"POST /gateway/v1/%63hat?model=m":               {400, calls.InvalidPath},
		"POST /gateway/v1/chat/..%2ffiles?model=m":      {400, calls.InvalidPath},
		"POST /gateway/v1/chat/..;/files?model=m":       {400, calls.InvalidPath},
		"POST /gateway/v1/files/abc?x=/v1/chat&model=m": {400, calls.InvalidPath},
		"DELETE /gateway/v1/chat?model=m":               {405, calls.CodeInvalidRequest},
		"GET /gateway/v1/files?model=m":                 {405, calls.CodeInvalidRequest},
		"DELETE /gateway/v1/files/abc?model=path":       {200, ""},
		"POST /via/m/v1/chat/completions":               {200, ""},
		"POST /via/m/v1/files/abc":                      {400, calls.InvalidPath},
		"POST /via/m/v1/chat/..%2ffiles":                {400, calls.InvalidPath},
		"POST /via/v1/chat?model=m":                     {400, calls.ModelRequired},
		"POST /via/m":                                   {400, calls.InvalidPath},
		"DELETE /via/m/v1/chat":                         {405, calls.CodeInvalidRequest},
	} {
		a := r.ask(asked + " HTTP/1.1\r\nHost: g\r\nX-HTTP-Method-Override: DELETE\r\n" + key1 + "\r\n")
		record := r.record()
		if a.StatusCode != want.status || record.StatusCode != want.status || record.ReasonCode != want.code {
			t.Errorf("%s: answered %d %s, recorded %+v", asked, a.StatusCode, a.body, record)
		}
		if want.status == 405 && a.Header.Get("Allow") != "POST, QUERY" {
			t.Errorf("%s: allowed are %q", asked, a.Header.Get("Allow"))
		}
		if want.status != 200 && len(r.asked) != 0 {
			t.Errorf("%s reached the upstream", asked)
		}
		for len(r.asked) > 0 {
			if a := <-r.asked; a.header("X-HTTP-Method-Override") != nil {
				t.Errorf("%s: the upstream is told another method: %q", asked, a.headers)
			}
		}
	}
}

// BenchmarkHeadsOfACall is what the passes over both heads of a usual call cost.
func BenchmarkHeadsOfACall(b *testing.B) {
	request := []byte("POST /gateway/v1/chat/completions?model=m HTTP/1.1\r\nHost: gate\r\nAuthorization: Bearer " + goodKey +
		"\r\nContent-Type: application/json\r\nContent-Length: 2\r\nAccept: application/json\r\n" +
		"User-Agent: OpenAI/Python 1.2.3\r\nX-Stainless-Lang: python\r\nX-Stainless-OS: Linux\r\nX-Stainless-Retry-Count: 0\r\nAccept-Encoding: gzip\r\n\r\n")
	response := []byte("HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Type: application/json\r\nContent-Length: 2\r\nopenai-version: 2020\r\n" +
		"openai-processing-ms: 12\r\nx-ratelimit-limit-requests: 100\r\nx-ratelimit-remaining-requests: 99\r\nx-request-id: req_1\r\nServer: cloudflare\r\n" +
		"CF-RAY: 1\r\nVary: Accept-Encoding\r\nStrict-Transport-Security: max-age=1\r\nalt-svc: h3\r\nSet-Cookie: a=b\r\n\r\n")
	to := &target{scheme: "https", host: "api.openai.com", path: "/v1", mark: mark("api.openai.com")}
	c := takeCall()
	c.status = 200
	c.gateway, c.x, c.target, c.capability, c.secret = new(Gateway), new(http1.Exchange), to, &access.Capability{ID: "m"}, []byte(upstreamKey)
	out := make([]byte, 0, 4<<10)
	b.ReportAllocs()
	for b.Loop() {
		var head requestHead
		c.x.Reset()
		if n, err := c.x.Parse(request, 16<<10); n == 0 || err != nil || !head.read(&c.x.Request) {
			b.Fatal("malformed")
		}
		c.keep(&head)
		out = c.appendForwarded(out[:0], to)
		c.response.Reset()
		if n, err := c.response.Parse(response, maxAnswerHead); n == 0 || err != nil {
			b.Fatal("malformed")
		}
		c.answer.Begin(c.response.Body([]byte(c.method)))
		out = c.appendAnswer(out[:0], true)
	}
}
