package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// expected is what must be known of one call afterwards.
type expected struct {
	name       string
	model      string
	status     int // recorded
	success    bool
	streamed   bool
	endedBy    string
	reasonType string
	reasonCode string
	upstream   int
	message    string // exact; "*" for any readable one
	method     string
	path       string
	body       string // redacted JSON, or empty
	note       string
	query      map[string]any
	callID     string // when the caller saw it
}

// journey makes calls one after another and keeps what must be recorded of each.
type journey struct {
	*process
	key    string
	record []expected
}

// send makes one call and returns status, header and body.
func (j *journey) send(method, target, contentType string, body []byte) (int, http.Header, []byte) {
	j.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, j.base+"/gateway"+target, bytes.NewReader(body))
	if err != nil {
		j.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+j.key)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		j.t.Fatalf("%s %s: %v", method, target, err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		answer = append(answer, []byte("<cut: "+err.Error()+">")...)
	}
	return resp.StatusCode, resp.Header, answer
}

// expect makes a call whose answer must have the given status and, for our own errors, code.
func (j *journey) expect(status int, code string, method, target, contentType string, body []byte, e expected) []byte {
	j.t.Helper()
	got, header, answer := j.send(method, target, contentType, body)
	if got != status {
		j.t.Errorf("%s: the caller got %d %s, want %d", e.name, got, answer, status)
	}
	if code != "" {
		var own struct {
			Error struct{ Message, Type, Code string }
		}
		if err := json.Unmarshal(answer, &own); err != nil || own.Error.Code != code || own.Error.Message == "" || own.Error.Type == "" {
			j.t.Errorf("%s: error %s, want code %q in OpenAI shape", e.name, answer, code)
		}
	}
	if e.callID = header.Get("X-Call-Id"); e.callID == "" {
		j.t.Errorf("%s: no X-Call-Id", e.name)
	}
	j.keep(e, method, target)
	return answer
}

func (j *journey) keep(e expected, method, target string) {
	parsed, err := url.Parse(target)
	if err != nil {
		j.t.Fatal(err)
	}
	e.method, e.path = method, parsed.Path
	j.record = append(j.record, e)
	time.Sleep(3 * time.Millisecond) // start times must differ for the order to be told
}

const chatBody = `{"model":"m","messages":[{"role":"user","content":"hi"}],"api_key":"sk-abcdefghijklmnop1234567890"}`
const redactedChatBody = `{"model":"m","messages":[{"role":"user","content":"hi"}],"api_key":"[REDACTED]"}`

func TestEveryCallIsAnsweredAndRecordedExactlyAsItEnded(t *testing.T) {
	up := newScripted(t)
	data := t.TempDir()
	p := startDev(t, map[string]string{
		"DATA_DIR": data, "UPSTREAM_HEADER_TIMEOUT": "700ms", "UPSTREAM_IDLE_TIMEOUT": "700ms",
		"MAX_BODY_BYTES": "100000", "MAX_UPSTREAM_CONNS": "3", "MAX_APPLICATION_SHARE": "1", "DRAIN_TIMEOUT": "1s",
	})
	admin, dev := p.administrator(), p.developer("dev@example.com")
	for _, id := range []string{"chat", "off", "unbound", "broken"} {
		admin.capability(id, up.URL, upstreamKey)
	}
	admin.capability("nowhere", "http://"+freeAddress(t), upstreamKey)
	app, key := dev.application("Journey", "chat", "off", "broken", "nowhere")
	spoilKey(t, connections(t, data)["DATABASE_URL"], "broken")
	do[any](admin, "PATCH", "/api/admin/capabilities/off/status", object{"status": "disabled"})
	awaitCatalog(p)
	j := &journey{process: p, key: key}

	succeed(j, up)
	fail(j)
	upstreamFails(j)
	breakOff(j, up)
	refusedUnrecorded(t, j)
	disabled(j, dev, app)

	dev.checkStatistics(app, j.record, 0)
	for _, e := range j.record {
		if e.callID != "" {
			dev.checkDetail(app, e)
		}
	}
}

// spoilKey damages a stored key, so that unsealing fails: the platform's own fault.
func spoilKey(t *testing.T, databaseURL, capability string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(t.Context(), `UPDATE capabilities SET upstream_key = '\x00' WHERE id = $1`, capability); err != nil {
		t.Fatal(err)
	}
}

// awaitCatalog waits until the gateway knows the last change of the catalog, by the calls of
// somebody else: they must not show up in the journey's account.
func awaitCatalog(p *process) {
	p.t.Helper()
	_, key := p.developer("probe@example.com").application("Probe", "demo-chat")
	probe := &journey{process: p, key: key}
	eventually(p.t, time.Minute, "the catalog on the gateway", func() error {
		// off exists and is not bound here: unknown until the gateway has the catalog of now.
		if _, _, answer := probe.send("POST", "/v1/json?model=off", "", nil); !bytes.Contains(answer, []byte("disabled")) {
			return fmt.Errorf("answers %s", answer)
		}
		return nil
	})
}

func succeed(j *journey, up *scripted) {
	t := j.t
	answer := j.expect(200, "", "POST", "/v1/json?b=2&model=chat&a=%20x&a=1", "application/json", []byte(chatBody),
		expected{name: "json", model: "chat", status: 200, success: true, endedBy: "complete", upstream: 200})
	got := up.received()
	if string(answer) != jsonAnswer {
		t.Errorf("json: the answer is %s", answer)
	}
	if got.body != chatBody || got.method != "POST" || got.uri != "/v1/json?b=2&a=%20x&a=1" {
		t.Errorf("json: the upstream received %s %s %s", got.method, got.uri, got.body)
	}
	if strings.Contains(fmt.Sprint(got.header), j.key) {
		t.Errorf("json: the Access Key reached the upstream")
	}

	_, header, _ := j.send("POST", "/v1/json?model=chat", "application/json", []byte(`{}`))
	if header.Get("Set-Cookie") != "" || header.Get("X-Upstream") != "kept" {
		t.Errorf("response headers: %v", header)
	}
	j.keep(expected{name: "headers", model: "chat", status: 200, success: true, endedBy: "complete", upstream: 200, callID: header.Get("X-Call-Id")}, "POST", "/v1/json")

	answer = j.expect(200, "", "POST", "/v1/sse?model=chat", "application/json", []byte(`{"stream":true}`),
		expected{name: "sse", model: "chat", status: 200, success: true, streamed: true, endedBy: "complete", upstream: 200})
	if !strings.HasSuffix(string(answer), "data: [DONE]\n\n") || strings.Count(string(answer), "data: ") != 6 {
		t.Errorf("sse: %q", answer)
	}

	blob := make([]byte, 65_537)
	_, _ = rand.Read(blob)
	answer = j.expect(200, "", "PUT", "/v1/binary?model=chat", "application/octet-stream", blob,
		expected{name: "binary", model: "chat", status: 200, success: true, endedBy: "complete", upstream: 200})
	if !bytes.Equal(answer, blob) {
		t.Errorf("binary: %d bytes came back changed", len(answer))
	}
}

func fail(j *journey) {
	denied := func(code string) expected {
		return expected{name: code, status: 403, endedBy: "denied", reasonType: "permission_denied", reasonCode: code, message: "*", body: redactedChatBody}
	}
	e := denied("capability_disabled")
	e.model, e.query = "off", map[string]any{"model": "off"}
	j.expect(403, "capability_not_allowed", "POST", "/v1/json?model=off", "application/json", []byte(chatBody), e)
	e = denied("capability_not_bound")
	e.model, e.query = "unbound", map[string]any{"model": "unbound", "key": "[REDACTED]"}
	j.expect(403, "capability_not_allowed", "POST", "/v1/json?model=unbound&key=sk-abcdefghijklmnop1234567890", "application/json", []byte(chatBody), e)
	e = denied("capability_unknown")
	e.query = map[string]any{"model": "no such"}
	j.expect(403, "capability_not_allowed", "POST", "/v1/json?model=no%20such", "application/json", []byte(chatBody), e)

	invalid := func(code string, status int) expected {
		return expected{name: code, status: status, endedBy: "denied", reasonType: "invalid_request", reasonCode: code, message: "*", body: redactedChatBody, query: map[string]any{}}
	}
	j.expect(400, "model_required", "POST", "/v1/json", "application/json", []byte(chatBody), invalid("model_required", 400))
	e = invalid("model_required", 400)
	e.name, e.query = "two models", nil
	j.expect(400, "model_required", "POST", "/v1/json?model=chat&model=off", "application/json", []byte(chatBody), e)
	e = invalid("invalid_path", 400)
	e.model, e.query = "chat", map[string]any{"model": "chat"}
	j.expect(400, "invalid_path", "POST", "/v1/%2e%2e/admin?model=chat", "application/json", []byte(chatBody), e)
	e = invalid("request_too_large", 413)
	e.model, e.query, e.body, e.note = "chat", map[string]any{"model": "chat"}, "", "not_fully_read"
	j.expect(413, "request_too_large", "POST", "/v1/json?model=chat", "application/json", bytes.Repeat([]byte("x"), 100_001), e)
	e = invalid("invalid_request", 400)
	e.model, e.query, e.body, e.note = "chat", map[string]any{"model": "chat"}, "", "not_fully_read"
	j.malformed("/v1/json?model=chat", e)
	j.expect(500, "internal_error", "POST", "/v1/json?model=broken", "application/json", []byte(chatBody), expected{
		name: "unsealing", model: "broken", status: 500, endedBy: "denied", reasonType: "internal", reasonCode: "internal", message: "*",
		body: redactedChatBody, query: map[string]any{"model": "broken"},
	})
}

// malformed sends a chunked body that is none, which no client of Go's does.
func (j *journey) malformed(path string, e expected) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(j.base, "http://"))
	if err != nil {
		j.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "POST /gateway%s HTTP/1.1\r\nHost: gate\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n", path, j.key)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		j.t.Fatal(err)
	}
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != e.status || !bytes.Contains(answer, []byte(`"code":"`+e.reasonCode+`"`)) {
		j.t.Errorf("%s: %d %s %v", e.name, resp.StatusCode, answer, err)
	}
	e.callID = resp.Header.Get("X-Call-Id")
	j.keep(e, "POST", path)
}

func upstreamFails(j *journey) {
	chat := map[string]any{"model": "chat"}
	j.expect(429, "", "POST", "/v1/429?model=chat", "application/json", []byte(chatBody), expected{
		name: "429", model: "chat", status: 429, endedBy: "complete", reasonType: "upstream_http_error", reasonCode: "upstream_status",
		upstream: 429, message: "the model is overloaded", body: redactedChatBody, query: chat,
	})
	j.expect(500, "", "POST", "/v1/500-text?model=chat", "text/plain", []byte("plain"), expected{
		name: "500 text", model: "chat", status: 500, endedBy: "complete", reasonType: "upstream_http_error", reasonCode: "upstream_status",
		upstream: 500, note: "not_json", query: chat,
	})
	j.expect(502, "upstream_unreachable", "POST", "/v1/json?model=nowhere", "application/json", []byte(`{bad json`), expected{
		name: "refused", model: "nowhere", status: 502, endedBy: "upstream_abort", reasonType: "connection_failed", reasonCode: "upstream_unreachable",
		message: "*", note: "invalid_json", query: map[string]any{"model": "nowhere"},
	})
	j.expect(502, "upstream_unreachable", "POST", "/v1/reset?model=chat", "application/json", nil, expected{
		name: "reset", model: "chat", status: 502, endedBy: "upstream_abort", reasonType: "connection_failed", reasonCode: "upstream_unreachable",
		message: "*", note: "empty", query: chat,
	})
	large := []byte(`{"text":"` + strings.Repeat("y", 20_000) + `"}`)
	j.expect(504, "upstream_timeout", "POST", "/v1/silent?model=chat", "application/json", large, expected{
		name: "no header in time", model: "chat", status: 504, endedBy: "timeout", reasonType: "timeout", reasonCode: "upstream_timeout",
		message: "*", note: "too_large", query: chat,
	})
	answer := j.expect(200, "", "POST", "/v1/stall?model=chat", "application/json", []byte(`{}`), expected{
		name: "no next byte in time", model: "chat", status: 499, streamed: true, endedBy: "timeout", reasonType: "timeout", reasonCode: "upstream_timeout",
		upstream: 200, message: "*", body: `{}`, query: chat,
	})
	if !strings.Contains(string(answer), "<cut:") {
		j.t.Errorf("a stalled stream ended cleanly for the caller: %q", answer)
	}
	answer = j.expect(200, "", "POST", "/v1/cut?model=chat", "application/json", []byte(`{}`), expected{
		name: "upstream broke", model: "chat", status: 499, endedBy: "upstream_abort", reasonType: "interrupted", reasonCode: "upstream_closed",
		upstream: 200, message: "*", body: `{}`, query: chat,
	})
	if !strings.Contains(string(answer), "<cut:") {
		j.t.Errorf("a broken upstream ended cleanly for the caller: %q", answer)
	}
}

// breakOff leaves in the middle of a stream and while the upstream is silent, and meets a full pool.
func breakOff(j *journey, up *scripted) {
	chat := map[string]any{"model": "chat"}
	leave := func(name, path string, e expected) {
		ctx, cancel := context.WithCancel(context.Background())
		req, err := http.NewRequestWithContext(ctx, "POST", j.base+"/gateway"+path+"?model=chat", strings.NewReader(`{}`))
		if err != nil {
			j.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+j.key)
		req.Header.Set("Content-Type", "application/json")
		time.AfterFunc(200*time.Millisecond, cancel)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			e.callID = resp.Header.Get("X-Call-Id")
			_, _ = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		select {
		case <-up.canceled:
		case <-time.After(400 * time.Millisecond):
			j.t.Errorf("%s: the upstream was not told in 400 ms", name)
		}
		e.name, e.model, e.status, e.endedBy, e.reasonType, e.reasonCode = name, "chat", 499, "client_abort", "interrupted", "client_closed"
		e.message, e.body, e.query = "*", `{}`, chat
		j.keep(e, "POST", path)
	}
	for len(up.canceled) > 0 {
		<-up.canceled // of the timeouts before
	}
	leave("left while silent", "/v1/silent", expected{})
	leave("left mid-stream", "/v1/hold", expected{streamed: true, upstream: 200})
	overload(j, up, chat)
}

// overload holds every connection the pool may have, so that one more call is refused.
func overload(j *journey, up *scripted, chat map[string]any) {
	ctx, cancel := context.WithCancel(context.Background())
	defer func() {
		cancel()
		for range 3 {
			<-up.canceled
		}
	}()
	for range 3 {
		req, err := http.NewRequestWithContext(ctx, "POST", j.base+"/gateway/v1/hold?model=chat", strings.NewReader(`{}`))
		if err != nil {
			j.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+j.key)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			j.t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		j.keep(expected{
			name: "held", model: "chat", status: 499, streamed: true, endedBy: "client_abort", reasonType: "interrupted", reasonCode: "client_closed",
			upstream: 200, message: "*", body: `{}`, query: chat, callID: resp.Header.Get("X-Call-Id"),
		}, "POST", "/v1/hold")
	}
	j.expect(503, "overloaded", "POST", "/v1/json?model=chat", "application/json", []byte(`{}`), expected{
		name: "pool exhausted", model: "chat", status: 503, endedBy: "denied", reasonType: "overloaded", reasonCode: "overloaded", message: "*", body: `{}`, query: chat,
	})
}

// refusedUnrecorded makes calls that cannot be attributed: they must not be recorded.
func refusedUnrecorded(t *testing.T, j *journey) {
	good := j.key
	defer func() { j.key = good }()
	for _, key := range []string{"", "sk-foreign", good[:len(good)-1] + "!", "cg-" + strings.Repeat("a", len(good)-3)} {
		j.key = key
		status, header, answer := j.send("POST", "/v1/json?model=chat", "application/json", []byte(`{}`))
		if status != 401 || !bytes.Contains(answer, []byte(`"invalid_api_key"`)) || header.Get("X-Call-Id") != "" {
			t.Errorf("key %q: %d %s", key, status, answer)
		}
	}
}

func disabled(j *journey, dev client, app string) {
	do[any](dev, "PATCH", "/api/applications/"+app+"/status", object{"status": "disabled"})
	eventually(j.t, time.Minute, "the application is disabled on the gateway", func() error {
		status, header, answer := j.send("POST", "/v1/json?model=chat", "application/json", []byte(chatBody))
		e := expected{name: "disabled application", model: "chat", status: status, callID: header.Get("X-Call-Id")}
		if status == 200 {
			e.success, e.endedBy, e.upstream = true, "complete", 200
			j.keep(e, "POST", "/v1/json?model=chat")
			return fmt.Errorf("still answers %d", status)
		}
		if status != 403 || !bytes.Contains(answer, []byte(`"application_disabled"`)) {
			j.t.Errorf("disabled application: %d %s", status, answer)
		}
		e.endedBy, e.reasonType, e.reasonCode, e.message = "denied", "permission_denied", "application_disabled", "*"
		e.body, e.query = redactedChatBody, map[string]any{"model": "chat"}
		j.keep(e, "POST", "/v1/json?model=chat")
		return nil
	})
}

func TestCallsCutByAShutdownAreRecordedAsSuch(t *testing.T) {
	up := newScripted(t)
	data := t.TempDir()
	environment := map[string]string{"DATA_DIR": data, "DRAIN_DELAY": "1s", "DRAIN_TIMEOUT": "1s"}
	p := startDev(t, environment)
	p.administrator().capability("chat", up.URL, upstreamKey)
	dev := p.developer("dev@example.com")
	app, key := dev.application("Shutdown", "chat")
	req, err := http.NewRequestWithContext(t.Context(), "POST", p.base+"/gateway/v1/hold?model=chat", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	id := resp.Header.Get("X-Call-Id")
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	eventually(t, time.Minute, "readiness says that it drains", func() error {
		probe, err := http.Get(p.base + "/health/ready")
		if err != nil {
			return err
		}
		defer func() { _ = probe.Body.Close() }()
		if told, _ := io.ReadAll(probe.Body); probe.StatusCode != 503 || !bytes.Contains(told, []byte("draining")) {
			return fmt.Errorf("%d %s", probe.StatusCode, told)
		}
		return nil
	})
	p.stop(syscall.SIGTERM)
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the stream ended cleanly for the caller")
	}
	_ = resp.Body.Close()

	began := time.Now()
	p = startDev(t, environment)
	t.Logf("second start: %v", time.Since(began).Round(time.Millisecond))
	dev = client{p, dev.token} // the session survived, and so did the secrets
	d := do[struct {
		StatusCode int
		EndedBy    string
		Failure    struct{ Reason struct{ Type, Code string } }
	}](dev, "GET", "/api/statistics/applications/"+app+"/calls/"+id, nil)
	if d.StatusCode != 499 || d.EndedBy != "shutdown" || d.Failure.Reason.Type != "interrupted" || d.Failure.Reason.Code != "shutdown" {
		t.Errorf("recorded %+v", d)
	}
}
