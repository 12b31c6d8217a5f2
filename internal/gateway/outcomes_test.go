package gateway

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"callgate/internal/access"
	"callgate/internal/calls"
)

func TestEveryRefusalHasItsStatusItsCodeAndItsRecord(t *testing.T) {
	r := newRig(t, answers(okAnswer), func(c *Config) {
		c.MaxBodyBytes = 30_000
		open := c.OpenKey
		c.OpenKey = func(capability *access.Capability) ([]byte, error) {
			if capability.ID == "x-key" {
				return nil, errors.New("sealed")
			}
			if capability.ID == "path" {
				panic("open")
			}
			return open(capability)
		}
	})
	body := `{"prompt":"hello"}`
	for name, test := range map[string]struct {
		raw     string
		status  int
		code    string
		model   string
		reason  calls.ReasonType
		exact   calls.ReasonCode
		endedBy calls.EndedBy
		note    calls.BodyNote
		sent    int // upstreams it was sent to
	}{
		"no key":          {raw: post("/gateway/v1?model=m", "", body), status: 401, code: "invalid_api_key"},
		"unknown key":     {raw: post("/gateway/v1?model=m", "cg-made-up", body), status: 401, code: "invalid_api_key"},
		"another scheme":  {raw: post("/gateway/v1?model=m", "", body, "Authorization: Basic Y2c6Z29vZA=="), status: 401, code: "invalid_api_key"},
		"two keys":        {raw: post("/gateway/v1?model=m", goodKey, body, "x-api-key: cg-other"), status: 401, code: "invalid_api_key"},
		"no store":        {raw: post("/gateway/v1?model=m", "cg-unsure", body), status: 503, code: "access_unavailable"},
		"panic in access": {raw: post("/gateway/v1?model=m", "cg-panic", body), status: 503, code: "access_unavailable"},
		"disabled": {raw: post("/gateway/v1?model=m", "cg-disabled", body), status: 403, code: "application_disabled", model: "m",
			reason: calls.PermissionDenied, exact: calls.ApplicationDisabled},
		"disabled before model": {raw: post("/gateway/v1", "cg-disabled", body), status: 403, code: "application_disabled",
			reason: calls.PermissionDenied, exact: calls.ApplicationDisabled},
		"no model": {raw: post("/gateway/v1?a=b", goodKey, body), status: 400, code: "model_required",
			reason: calls.InvalidRequest, exact: calls.ModelRequired},
		"empty model": {raw: post("/gateway/v1?model=", goodKey, body), status: 400, code: "model_required",
			reason: calls.InvalidRequest, exact: calls.ModelRequired},
		"two models": {raw: post("/gateway/v1?model=m&model=m", goodKey, body), status: 400, code: "model_required",
			reason: calls.InvalidRequest, exact: calls.ModelRequired},
		"two models, one encoded": {raw: post("/gateway/v1?model=m&mod%65l=other", goodKey, body), status: 400, code: "model_required",
			reason: calls.InvalidRequest, exact: calls.ModelRequired},
		"two capabilities": {raw: post("/via/m/v1?model=path", goodKey, body), status: 400, code: "model_required",
			reason: calls.InvalidRequest, exact: calls.ModelRequired},
		"no capability in the path": {raw: post("/via//v1", goodKey, body), status: 400, code: "model_required",
			reason: calls.InvalidRequest, exact: calls.ModelRequired},
		"empty model beside the path": {raw: post("/via/m/v1?model=", goodKey, body), status: 400, code: "model_required",
			reason: calls.InvalidRequest, exact: calls.ModelRequired},
		"two models beside the path": {raw: post("/via/m/v1?model=m&model=m", goodKey, body), status: 400, code: "model_required",
			reason: calls.InvalidRequest, exact: calls.ModelRequired},
		"unknown": {raw: post("/gateway/v1?model=none", goodKey, body), status: 403, code: "capability_not_allowed",
			reason: calls.PermissionDenied, exact: calls.CapabilityUnknown},
		"disabled capability": {raw: post("/gateway/v1?model=off", goodKey, body), status: 403, code: "capability_not_allowed", model: "off",
			reason: calls.PermissionDenied, exact: calls.CapabilityDisabled},
		"unbound": {raw: post("/gateway/v1?model=unbound", goodKey, body), status: 403, code: "capability_not_allowed", model: "unbound",
			reason: calls.PermissionDenied, exact: calls.CapabilityNotBound},
		"dot segment": {raw: post("/gateway/v1/%2e%2E/x?model=m", goodKey, body), status: 400, code: "invalid_path", model: "m",
			reason: calls.InvalidRequest, exact: calls.InvalidPath},
		"too large": {raw: post("/gateway/v1?model=m", goodKey, strings.Repeat("x", 30_001)), status: 413, code: "request_too_large", model: "m",
			reason: calls.InvalidRequest, exact: calls.RequestTooLarge, note: calls.NotFullyRead},
		"too large, in chunks": {raw: "POST /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer " + goodKey +
			"\r\nTransfer-Encoding: chunked\r\n\r\n7531\r\n" + strings.Repeat("x", 30_001) + "\r\n0\r\n\r\n", status: 413, code: "request_too_large", model: "m",
			reason: calls.InvalidRequest, exact: calls.RequestTooLarge, note: calls.NotFullyRead, sent: 1},
		"upgrade":              {raw: post("/gateway/v1?model=m", goodKey, body, "Connection: Upgrade", "Upgrade: websocket"), status: 426, code: "invalid_request"},
		"upgrade among offers": {raw: post("/gateway/v1?model=m", goodKey, body, "Connection: Upgrade", "Upgrade: h2c, websocket"), status: 426, code: "invalid_request"},
		"sealed": {raw: post("/gateway/v1?model=x-key", goodKey, body), status: 500, code: "internal_error", model: "x-key",
			reason: calls.InternalFault, exact: calls.CodeInternal},
		"panic": {raw: post("/gateway/v1?model=path", goodKey, body), status: 500, code: "internal_error", model: "path",
			reason: calls.InternalFault, exact: calls.CodeInternal},
		"unreachable": {raw: post("/gateway/v1?model=dead", goodKey, body), status: 502, code: "upstream_unreachable", model: "dead",
			reason: calls.ConnectionFailed, exact: calls.UpstreamUnreachable, endedBy: calls.UpstreamAbort, sent: 1},
		"unbound, long body": {raw: post("/gateway/v1?model=unbound", goodKey, strings.Repeat("x", 20_000)), status: 403, code: "capability_not_allowed",
			model: "unbound", reason: calls.PermissionDenied, exact: calls.CapabilityNotBound, note: calls.TooLarge},
	} {
		for root, raw := range map[string]string{"": test.raw, ", under the other root": underVia(test.raw)} {
			if root != "" && raw == test.raw {
				continue // it names no capability, or two
			}
			t.Run(name+root, func(t *testing.T) {
				began := time.Now()
				a := r.ask(raw)
				var answer struct {
					Error struct {
						Message, Type, Code string
						Param               *string
					}
					Type, Message string
				}
				if err := json.Unmarshal(a.body, &answer); err != nil || a.StatusCode != test.status || answer.Error.Code != test.code ||
					answer.Error.Message == "" || answer.Error.Type == "" || a.Header.Get("Content-Type") != "application/json" {
					t.Fatalf("answer %d %q (%v), want %d %s", a.StatusCode, a.body, errors.Join(err, a.err), test.status, test.code)
				}
				if answer.Type != "error" || answer.Message != answer.Error.Message {
					t.Errorf("at the top: type %q, message %q", answer.Type, answer.Message)
				}
				final := slices.Contains([]int{400, 401, 403, 404, 405, 413}, test.status)
				if should := a.Header.Values("X-Should-Retry"); final != slices.Equal(should, []string{"false"}) || !final && should != nil {
					t.Errorf("x-should-retry: %q", should)
				}
				if test.status == 503 && a.Header.Get("Retry-After") == "" {
					t.Error("no Retry-After")
				}
				if test.reason == "" {
					if a.Header.Get("X-Call-Id") != "" {
						t.Error("a call that is attributed to nobody has an id")
					}
					return
				}
				record := r.record()
				if a.Header.Get("X-Call-Id") != record.CallID.String() {
					t.Errorf("X-Call-Id %q, recorded %s", a.Header.Get("X-Call-Id"), record.CallID)
				}
				want := calls.Record{ApplicationID: application, UserID: owner, CallID: record.CallID, Model: test.model,
					Start: record.Start, Duration: record.Duration, StatusCode: test.status, FirstByte: -1, EndedBy: cmp.Or(test.endedBy, calls.Denied),
					ReasonType: test.reason, ReasonCode: test.exact, RequestBytes: record.RequestBytes, Failure: record.Failure, Attempts: test.sent}
				if !reflect.DeepEqual(*record, want) {
					t.Errorf("record %+v\nwant   %+v", *record, want)
				}
				if record.Start.Before(began.Add(-time.Second)) || record.Duration < 0 || record.Duration > 5*time.Second {
					t.Errorf("started %v for %v", record.Start, record.Duration)
				}
				f := record.Failure
				if f == nil || f.Message != answer.Error.Message || f.Method != "POST" || !strings.HasPrefix(f.Path, "/v1") || f.BodyNote != test.note {
					t.Fatalf("failure %+v", f)
				}
				if test.note == "" && string(f.RequestBody) != body {
					t.Errorf("kept body %s", f.RequestBody)
				}
			})
		}
	}
}

func TestRefusedRequestLeavesItsConnectionUsable(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	conn := r.dial()
	br := bufio.NewReader(conn)
	for range 3 {
		_, _ = io.WriteString(conn, post("/gateway/v1?model=unbound", goodKey, strings.Repeat("x", 100_000)))
		if a := r.read(br, "POST"); a.StatusCode != 403 || a.err != nil {
			t.Fatalf("refusal: %d, %v", a.StatusCode, a.err)
		}
		r.record()
		_, _ = io.WriteString(conn, post("/gateway/v1?model=m", goodKey, "{}"))
		if a := r.read(br, "POST"); a.StatusCode != 200 || string(a.body) != "{}" {
			t.Fatalf("call after it: %d %q %v", a.StatusCode, a.body, a.err)
		}
		r.record()
	}
}

func TestUpstreamErrorIsRelayedAsItIsAndItsMessageKept(t *testing.T) {
	text := `{"error":{"message":"no such model","type":"x"}}`
	r := newRig(t, answers("HTTP/1.1 404 Not There\r\nContent-Type: application/json\r\nContent-Length: 48\r\n\r\n"+text))
	a := r.ask(post("/gateway/v1/chat?model=m&x=1", goodKey, `{"a":1}`))
	if a.Status != "404 Not There" || string(a.body) != text || a.err != nil {
		t.Fatalf("answer %s %q %v", a.Status, a.body, a.err)
	}
	record := r.record()
	if record.StatusCode != 404 || record.Success || record.UpstreamCode != 404 || record.EndedBy != calls.Complete ||
		record.ReasonType != calls.UpstreamHTTPError || record.ReasonCode != calls.UpstreamStatus || record.FirstByte < 0 ||
		record.RequestBytes != 7 || record.ResponseBytes != 48 {
		t.Errorf("record %+v", record)
	}
	if f := record.Failure; f.Message != "no such model" || string(f.RequestBody) != `{"a":1}` || f.Path != "/v1/chat" {
		t.Errorf("failure %+v", f)
	}
}

func TestWordsOfAnUpstreamAreKeptWhateverTheyAreCalled(t *testing.T) {
	text := `{"error":{"message":"no such model"}}`
	for name, c := range map[string]struct{ head, body, want string }{
		"events":          {"Content-Type: text/event-stream\r\n", "event: error\ndata: " + text + "\n\n", "no such model"},
		"AWS":             {"Content-Type: application/x-amz-json-1.1\r\n", text, "no such model"},
		"no type":         {"", text, "no such model"},
		"text":            {"Content-Type: text/plain\r\n", text, "no such model"},
		"byte order mark": {"Content-Type: text/html\r\n", "\uFEFF" + text, "no such model"},
		"HTML":            {"Content-Type: application/json\r\n", "<h1>no such model</h1>" + text, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, answers(fmt.Sprintf("HTTP/1.1 404 Not There\r\n%sContent-Length: %d\r\n\r\n%s", c.head, len(c.body), c.body)))
			if a := r.ask(post("/gateway/v1/chat?model=m", goodKey, `{}`)); a.StatusCode != 404 || string(a.body) != c.body {
				t.Fatalf("answer %s %q %v", a.Status, a.body, a.err)
			}
			if f := r.record().Failure; f.Message != c.want {
				t.Errorf("message %q, want %q", f.Message, c.want)
			}
		})
	}
}

// Hosts and keys of the upstreams are in no detail, in whatever spelling an upstream repeats them.
func TestAnUpstreamThatTellsOnItselfIsRedacted(t *testing.T) {
	var r *rig
	r = newRig(t, func(conn net.Conn, _ asked) bool {
		encoded := base64.StdEncoding.EncodeToString([]byte("user:" + upstreamKey))
		text := fmt.Sprintf(`{"error":{"message":"%s refused %s, 127%%2E0.0.1"}}`, r.upstream, encoded)
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 400 Bad\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
		return true
	})
	r.ask(post("/gateway/v1/chat?model=m", goodKey, `{"note":"`+base64.StdEncoding.EncodeToString([]byte("key "+upstreamKey))+`"}`))
	if f := r.record().Failure; f.Message != "[REDACTED] refused [REDACTED], [REDACTED]" || string(f.RequestBody) != `{"note":"[REDACTED]"}` {
		t.Errorf("failure %+v, body %s", f, f.RequestBody)
	}
}

func TestSuccessIsRecordedWithoutABody(t *testing.T) {
	r := newRig(t, answers(okAnswer))
	r.ask(post("/gateway/v1?model=m", goodKey, `{"a":1}`))
	record := r.record()
	want := calls.Record{ApplicationID: application, UserID: owner, CallID: record.CallID, Model: "m", Start: record.Start,
		Duration: record.Duration, StatusCode: 200, Success: true, FirstByte: record.FirstByte, EndedBy: calls.Complete,
		UpstreamCode: 200, RequestBytes: 7, ResponseBytes: 2, Attempts: 1}
	if !reflect.DeepEqual(*record, want) || record.FirstByte < 0 || record.FirstByte > record.Duration {
		t.Errorf("record %+v\nwant   %+v", *record, want)
	}
}

func TestUpstreamThatBreaksBeforeItsHeadIsUnreachable(t *testing.T) {
	for name, answer := range map[string]string{
		"nothing":         "",
		"half a head":     "HTTP/1.1 200 OK\r\nContent-Le",
		"no HTTP":         "SSH-2.0-x\r\n\r\n",
		"bad status":      "HTTP/1.1 2x0 OK\r\n\r\n",
		"two lengths":     "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
		"folded":          "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
		"unknown coding":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
		"switched":        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
		"endless head":    "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxAnswerHead) + "\r\n\r\n",
		"endless interim": strings.Repeat("HTTP/1.1 103 Early\r\n\r\n", maxInterim+1),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(conn net.Conn, _ asked) bool {
				_, _ = io.WriteString(conn, answer)
				return false
			})
			a := r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
			if a.StatusCode != 502 || !strings.Contains(string(a.body), "upstream_unreachable") {
				t.Fatalf("answer %d %q", a.StatusCode, a.body)
			}
			record := r.record()
			if record.StatusCode != 502 || record.ReasonType != calls.ConnectionFailed || record.UpstreamCode != 0 || record.FirstByte >= 0 {
				t.Errorf("record %+v", record)
			}
			if n := len(r.asked); n != 1 {
				t.Errorf("the request was sent %d times", n)
			}
		})
	}
}

func TestUpstreamThatIsSilentTooLongIsATimeout(t *testing.T) {
	quick := func(c *Config) { c.HeaderTimeout, c.IdleTimeout = 150*time.Millisecond, 150*time.Millisecond }
	t.Run("before the head", func(t *testing.T) {
		var r *rig
		r = newRig(t, func(conn net.Conn, _ asked) bool { r.hangsUp(conn); return false }, quick)
		a := r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
		record := r.record()
		if a.StatusCode != 504 || record.StatusCode != 504 || record.ReasonType != calls.Timeout ||
			record.ReasonCode != calls.UpstreamTimeout || record.EndedBy != calls.TimedOut {
			t.Errorf("answer %d, record %+v", a.StatusCode, record)
		}
		<-r.hungUp
	})
	t.Run("in the body", func(t *testing.T) {
		var r *rig
		r = newRig(t, func(conn net.Conn, _ asked) bool {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
			r.hangsUp(conn)
			return false
		}, quick)
		a := r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
		record := r.record()
		if a.StatusCode != 200 || a.err == nil || record.StatusCode != 499 || record.ReasonType != calls.Timeout ||
			record.EndedBy != calls.TimedOut || record.UpstreamCode != 200 || record.ResponseBytes != 1 {
			t.Errorf("answer %d %v, record %+v", a.StatusCode, a.err, record)
		}
		<-r.hungUp
	})
	t.Run("the whole call", func(t *testing.T) {
		r := newRig(t, func(conn net.Conn, _ asked) bool {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
			for { // never silent, never done
				if _, err := io.WriteString(conn, "1\r\nx\r\n"); err != nil {
					return false
				}
				time.Sleep(time.Millisecond)
			}
		}, func(c *Config) { c.CallTimeout = 150 * time.Millisecond })
		a := r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
		if record := r.record(); a.err == nil || record.EndedBy != calls.TimedOut || record.StatusCode != 499 {
			t.Errorf("%v, record %+v", a.err, record)
		}
	})
}

func TestOverloadIsRefusedWithRetryAfter(t *testing.T) {
	hold := make(chan struct{})
	script := func(conn net.Conn, _ asked) bool {
		<-hold
		_, _ = io.WriteString(conn, okAnswer)
		return true
	}
	for name, limit := range map[string]func(*Config){
		"bytes":       func(c *Config) { c.MaxInflightBytes, c.OwnerShare = 3, 1 },
		"connections": func(c *Config) { c.MaxUpstreamConns, c.OwnerShare = 1, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, script, limit)
			first := make(chan answer, 1)
			go func() { first <- r.ask(post("/gateway/v1?model=m", goodKey, "{}")) }()
			r.next()
			a := r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
			record := r.record()
			if a.StatusCode != 503 || a.Header.Get("Retry-After") == "" || record.ReasonType != calls.Overloaded || record.StatusCode != 503 {
				t.Errorf("answer %d %q, record %+v", a.StatusCode, a.body, record)
			}
			hold <- struct{}{}
			if a := <-first; a.StatusCode != 200 {
				t.Errorf("the first call: %d %v", a.StatusCode, a.err)
			}
			r.record()
		})
	}
}
