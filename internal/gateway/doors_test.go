package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"callgate/internal/access"
	"callgate/internal/calls"
	"callgate/internal/http1"
	"callgate/internal/secret"
)

func TestTheAccessKeyIsTakenFromTheHeadersThatStockClientsSendItIn(t *testing.T) {
	r := newRig(t, answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"))
	for line, vary := range map[string]string{
		"Authorization: Bearer " + goodKey:                               "Authorization",
		"x-api-key: " + goodKey:                                          "Authorization|x-api-key",
		"X-Api-Key:  " + goodKey + " ":                                   "Authorization|x-api-key",
		"api-key: " + goodKey:                                            "Authorization|api-key",
		"x-goog-api-key: " + goodKey:                                     "Authorization|x-goog-api-key",
		"Authorization: Basic dTpw\r\nx-api-key: " + goodKey:             "Authorization|x-api-key",
		"Authorization: Bearer\r\nX-Goog-Api-Key: " + goodKey:            "Authorization|x-goog-api-key",
		"X-Api-Key: \r\nApi-Key: " + goodKey:                             "Authorization|api-key",
		"X-Api-Key: " + goodKey + "\r\nApi-Key: " + goodKey:              "Authorization|x-api-key",
		"Api-Key: " + goodKey + "\r\nAuthorization: Bearer " + goodKey:   "Authorization",
		"Authorization: Bearer " + goodKey + "\r\nX-Api-Key: " + goodKey: "Authorization",
	} {
		for _, target := range bothRoots {
			a := r.ask(post(target, "", "{}", line))
			record, got := r.record(), r.next()
			want := []string{"Host: " + r.upstream, "Content-Type: application/json", "Authorization: Bearer " + upstreamKey, "Content-Length: 2"}
			if a.StatusCode != 200 || !record.Success || record.ApplicationID != application || !slices.Equal(got.headers, want) ||
				strings.Join(a.Header["Vary"], "|") != vary {
				t.Errorf("%q: answered %d %v, recorded %+v, the upstream got\n%s", line, a.StatusCode, a.Header, record, strings.Join(got.headers, "\n"))
			}
		}
	}
}

func TestAnAnswerThatVariesByEverythingSaysItOnce(t *testing.T) {
	r := newRig(t, answers("HTTP/1.1 200 OK\r\nVary: *\r\nContent-Length: 0\r\n\r\n"))
	a := r.ask(post("/via/m/v1", "", "{}", "X-Api-Key: "+goodKey))
	if r.record(); !slices.Equal(a.Header["Vary"], []string{"*"}) {
		t.Errorf("%v", a.Header)
	}
}

func TestTwoAccessKeysThatDifferAreRefusedAndBelongToNobody(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	names := []string{"Authorization: Bearer ", "X-Api-Key: ", "Api-Key: ", "X-Goog-Api-Key: "}
	for i, first := range names {
		for j, second := range names {
			if i == 0 && j == 0 {
				continue // malformed: see the smuggling tests
			}
			for _, keys := range [][2]string{{goodKey, "cg-other"}, {"cg-other", goodKey}, {goodKey, "sk-of-another"}, {"cg-disabled", goodKey}} {
				if strings.HasPrefix(keys[1], "sk-") && (i == 0 || j == 0) {
					continue // see the next test
				}
				a := r.ask(post(bothRoots[(i+j)%2], "", "{}", first+keys[0], second+keys[1]))
				if a.StatusCode != 401 || errorCode(a.body) != "invalid_api_key" || a.Header.Get("X-Callgate-Error") != "invalid_api_key" ||
					!strings.Contains(string(a.body), "Two different") || a.Header.Get("X-Call-Id") != "" {
					t.Errorf("%s and %s: %d %s", first, second, a.StatusCode, a.body)
				}
			}
		}
	}
	if len(r.asked) != 0 {
		t.Errorf("%d of them reached the upstream", len(r.asked))
	}
}

func TestAnotherProvidersKeyBesideABearerCredentialIsLetBeAndGoesNowhere(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	for _, header := range []string{"X-Api-Key: ", "Api-Key: ", "X-Goog-Api-Key: "} {
		for _, lines := range [][]string{{header + "sk-of-another", key1[:len(key1)-2]}, {key1[:len(key1)-2], header + "sk-of-another"}} {
			a := r.ask(post("/via/m/v1", "", "{}", lines...))
			if r.record(); a.StatusCode != 200 || strings.Contains(fmt.Sprint(r.next().headers), "another") {
				t.Errorf("%s: answered %d", header, a.StatusCode)
			}
		}
	}
	if a := r.ask(post("/via/m/v1", "sk-of-another", "{}", "X-Api-Key: "+goodKey)); a.StatusCode != 401 {
		t.Errorf("a Bearer credential that is there decides; answered %d", a.StatusCode)
	}
}

func TestACapabilityInThePathIsTheSameCallAsOneInTheQuery(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	for target, want := range map[string]struct{ model, line, path, query string }{
		"/via/m/v1/chat/completions":   {"m", "POST /v1/chat/completions HTTP/1.1", "/v1/chat/completions", `{"model":"m"}`},
		"/via/m":                       {"m", "POST / HTTP/1.1", "", `{"model":"m"}`},
		"/via/m?a=%7e&b":               {"m", "POST /?a=%7e&b HTTP/1.1", "", `{"model":"m","a":"~","b":""}`},
		"/via/m/v1?model=m&a=1":        {"m", "POST /v1?a=1 HTTP/1.1", "/v1", `{"model":["m","m"],"a":"1"}`},
		"/via/%6D/v1?mod%65l=%6d":      {"m", "POST /v1 HTTP/1.1", "/v1", `{"model":["m","m"]}`},
		"/via/path/v1":                 {"path", "POST /base%2Fpath/v1 HTTP/1.1", "/v1", `{"model":"path"}`},
		"/via/m/via/m/gateway?alt=sse": {"m", "POST /via/m/gateway?alt=sse HTTP/1.1", "/via/m/gateway", `{"model":"m","alt":"sse"}`},
		"http://gate/via/m//v1":        {"m", "POST //v1 HTTP/1.1", "//v1", `{"model":"m"}`},
	} {
		a := r.ask(post(target, goodKey, "{}"))
		record, got := r.record(), r.next()
		if a.StatusCode != 200 || !record.Success || record.Model != want.model || got.line != want.line {
			t.Errorf("%s: %d, recorded %+v, the upstream got %q", target, a.StatusCode, record, got.line)
		}
		// A refusal's record has what was asked for as if the capability stood in the query.
		r.ask(strings.Replace(post(target, goodKey, "{}"), "POST", "TRACE", 1))
		if f := r.record().Failure; f == nil || f.Path != want.path || string(f.Query) != want.query {
			t.Errorf("%s is kept as %+v", target, f)
		}
	}
}

func TestACapabilityInThePathThatNobodyKnowsIsKeptWithTheFailure(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	for target, want := range map[string]string{
		"/via/none/v1":              `{"model":"none"}`,
		"/via/a%26b=c+d%2Fe/v1?x=1": `{"model":"a\u0026b=c+d/e","x":"1"}`,
		"/via/%2e%2e/v1":            `{"model":".."}`,
		"/via/../v1":                `{"model":".."}`,
		"/via/m;v=1/v1":             `{"model":"m;v=1"}`,
		"/via/M/v1":                 `{"model":"M"}`,
		"/via/" + goodKey + "/v1":   `{"model":"[REDACTED]"}`,
		"/via/m%2Fv1":               `{"model":"m/v1"}`,
	} {
		a := r.ask(post(target, goodKey, "{}"))
		record := r.record()
		var got, wanted any
		_ = json.Unmarshal(record.Failure.Query, &got)
		_ = json.Unmarshal([]byte(want), &wanted)
		if a.StatusCode != 403 || record.ReasonCode != calls.CapabilityUnknown || record.Model != "" || fmt.Sprint(got) != fmt.Sprint(wanted) {
			t.Errorf("%s: %d, recorded %+v with %s", target, a.StatusCode, record, record.Failure.Query)
		}
	}
	if len(r.asked) != 0 {
		t.Errorf("%d of them reached the upstream", len(r.asked))
	}
}

func TestAModelThatDiffersFromThePathsIsRefusedAndBothAreKept(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	a := r.ask(post("/via/m/v1?model=path", goodKey, "{}"))
	record := r.record()
	if a.StatusCode != 400 || errorCode(a.body) != "model_required" || record.Model != "" || string(record.Failure.Query) != `{"model":["m","path"]}` {
		t.Errorf("%d %s, recorded %+v with %s", a.StatusCode, a.body, record, record.Failure.Query)
	}
}

func TestALocationLeadsBackThroughTheRootByWhichTheCallCame(t *testing.T) {
	for sent, want := range map[string]string{
		"http://UPSTREAM/base%2Fpath/v1/files/1":               "/via/path/v1/files/1",
		"http://UPSTREAM/base%2Fpath/v1?b=2&model=other&a#end": "/via/path/v1?b=2&a#end",
		"http://UPSTREAM/base%2Fpath":                          "/via/path",
		"2":                                                    "/via/path/v1/2",
		"?page=2":                                              "/via/path/v1/chat?page=2",
		"/admin":                                               "",
		"http://UPSTREAM/base%2Fpath/%2e%2e/x":                 "",
	} {
		answer := ""
		r := newRig(t, func(conn net.Conn, _ asked) bool {
			_, _ = io.WriteString(conn, answer)
			return true
		})
		answer = "HTTP/1.1 201 Created\r\nLocation: " + strings.ReplaceAll(sent, "UPSTREAM", r.upstream) + "\r\nContent-Length: 0\r\n\r\n"
		a := r.ask(post("/via/path/v1/chat", goodKey, "{}"))
		if r.record(); a.StatusCode != 201 || a.Header.Get("Location") != want {
			t.Errorf("%s: %d %q, want %q", sent, a.StatusCode, a.Header.Get("Location"), want)
		}
	}
}

func TestNoKeyOfAnyHeaderIsKeptOrForwarded(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	another := secret.Pepper("another installation's").Mint()
	for _, header := range []string{"X-Api-Key: ", "Api-Key: ", "X-Goog-Api-Key: "} {
		r.ask(post("/via/m/v1/"+goodKey+"?key="+goodKey+"&k="+goodKey+"&a=1&key="+another, "", `{"a":"`+goodKey+`"}`, header+goodKey, "X-Also: "+goodKey))
		r.record()
		if got := r.next(); got.line != "POST /v1/"+goodKey+"?a=1 HTTP/1.1" || got.header("X-Also") != nil { // the path is the caller's own word
			t.Errorf("%s: the upstream got %q %q", header, got.line, got.headers)
		}
		r.ask(post("/via/none/v1/"+goodKey+"?key="+goodKey+"&k="+another, "", `{"a":"`+goodKey+`","b":"`+another+`"}`, header+goodKey))
		kept := fmt.Sprintf("%+v", *r.record().Failure)
		for _, key := range []string{goodKey, another} {
			if strings.Contains(kept, key) {
				t.Errorf("%s: %s is kept in %s", header, key, kept)
			}
		}
	}
	// A key that stands in the query only is none.
	if a := r.ask(post("/via/m/v1?key="+goodKey, "", "{}")); a.StatusCode != 401 {
		t.Errorf("answered %d", a.StatusCode)
	}
}

// TestNoDoorCostsMoreMemoryThanTheFirst: the head of a call is read, checked and forwarded with as many
// allocations whichever root and header it comes by.
func TestNoDoorCostsMoreMemoryThanTheFirst(t *testing.T) {
	m := &access.Capability{ID: "m", Enabled: true}
	g := &Gateway{config: Config{Capability: func(string) *access.Capability { return m }}}
	cost := func(asked, line string) float64 {
		raw := []byte(post(asked, "", "{}", line))
		c := takeCall()
		c.gateway, c.grant, c.secret, c.x = g, access.NewGrant(application, owner, true, 1, "m"), []byte(upstreamKey), new(http1.Exchange)
		to := &target{scheme: "https", host: "api.provider.example", path: "/v1", mark: mark("api.provider.example")}
		out := make([]byte, 0, 4<<10)
		return testing.AllocsPerRun(1000, func() {
			var head requestHead
			c.x.Reset()
			if n, err := c.x.Parse(raw, 16<<10); n == 0 || err != nil || !head.read(&c.x.Request) || head.differ {
				t.Fatal("malformed")
			}
			c.keep(&head)
			if refused := c.check(); refused != nil {
				t.Fatal(refused.message)
			}
			out = c.appendForwarded(out[:0], to)
		})
	}
	first := cost("/gateway/v1/chat?model=m", "Authorization: Bearer "+goodKey)
	t.Logf("%v allocations", first)
	for _, line := range []string{"Authorization: Bearer " + goodKey, "X-Api-Key: " + goodKey, "Api-Key: " + goodKey, "X-Goog-Api-Key: " + goodKey} {
		for _, target := range []string{"/gateway/v1/chat?model=m", "/via/m/v1/chat"} {
			if n := cost(target, line); n > first {
				t.Errorf("%s with %s: %v allocations, %v by the first door", target, line, n, first)
			}
		}
	}
}

// TestAnUpgradeIsRefusedBeforeAnyKeyIsRead: a client that tries WebSocket first goes on by plain HTTP on the same connection.
func TestAnUpgradeIsRefusedBeforeAnyKeyIsRead(t *testing.T) {
	var granted atomic.Int32
	r := newRig(t, answers(okAnswer), func(c *Config) {
		grant := c.Grant
		c.Grant = func(ctx context.Context, recent *access.Recent, key []byte) (*access.Grant, error) {
			granted.Add(1)
			return grant(ctx, recent, key)
		}
	})
	conn := r.dial()
	br := bufio.NewReader(conn)
	for _, target := range []string{"/via/m/v1/responses", "/gateway/v1/responses?model=m", "/gateway/v1/models", "/via/none"} {
		for _, key := range []string{"", "Authorization: Bearer " + goodKey + "\r\n", "Authorization: Bearer cg-made-up\r\n", "Authorization: Bearer cg-disabled\r\n"} {
			_, _ = io.WriteString(conn, "GET "+target+" HTTP/1.1\r\nHost: g\r\n"+key+"Connection: Upgrade\r\nUpgrade: websocket\r\n"+
				"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-Fetch-Mode: websocket\r\n\r\n")
			a := r.read(br, "GET")
			if a.StatusCode != 426 || a.Header.Get("Upgrade") != "HTTP/1.1" || errorCode(a.body) != "invalid_request" || a.Header.Get("X-Call-Id") != "" || a.Close {
				t.Fatalf("%s with %q: %d %v %s", target, key, a.StatusCode, a.Header, a.body)
			}
		}
	}
	if n := granted.Load(); n != 0 || len(r.records) != 0 || len(r.asked) != 0 {
		t.Errorf("%d keys looked up, %d records, %d asked upstream", n, len(r.records), len(r.asked))
	}
	_, _ = io.WriteString(conn, post("/via/m/v1/responses", goodKey, "{}"))
	if a := r.read(br, "POST"); a.StatusCode != 200 || a.Header.Get("Upgrade") != "" {
		t.Errorf("by plain HTTP: %d %s", a.StatusCode, a.body)
	}
	r.record()
}
