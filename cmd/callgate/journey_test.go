package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
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
		"MAX_BODY_BYTES": "100000", "MAX_UPSTREAM_CONNS": "3", "DRAIN_TIMEOUT": "1s",
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
	eventually(p.t, 2*time.Second, "the catalog on the gateway", func() error {
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
	j.expect(500, "internal_error", "POST", "/v1/json?model=broken", "application/json", []byte(chatBody), expected{
		name: "unsealing", model: "broken", status: 500, endedBy: "denied", reasonType: "internal", reasonCode: "internal", message: "*",
		body: redactedChatBody, query: map[string]any{"model": "broken"},
	})
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
	eventually(j.t, 2*time.Second, "the application is disabled on the gateway", func() error {
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

// callRow is one item of the call flow.
type callRow struct {
	CallID, StartTime, Model, EndedBy string
	Success, Streamed                 bool
	StatusCode                        int
	DurationMs                        int
	FirstByteMs                       *int
}

type metrics struct {
	Calls, Successes, Failures int
	SuccessRate, AvgDurationMs *float64
	P50Ms, P95Ms, P99Ms        *float64
}

// checkStatistics compares every statistics endpoint with the calls that were made by the account's
// only application; enabled is how many of its applications are.
func (c client) checkStatistics(app string, record []expected, enabled int) {
	t := c.t
	t.Helper()
	page := func(n int) (answer struct {
		Items []callRow
		Total int
	}) {
		return do[struct {
			Items []callRow
			Total int
		}](c, "GET", fmt.Sprintf("/api/statistics/applications/%s/calls?page=%d", app, n), nil)
	}
	eventually(t, 5*time.Second, "every call is in the statistics", func() error {
		if total := page(1).Total; total != len(record) {
			return fmt.Errorf("total %d, want %d", total, len(record))
		}
		return nil
	})
	var rows []callRow
	for n := 1; len(rows) < len(record); n++ {
		items := page(n).Items
		if len(items) == 0 {
			t.Fatalf("page %d is empty, %d of %d calls seen", n, len(rows), len(record))
		}
		rows = append(rows, items...)
	}
	var successes int
	models := map[string]metrics{}
	for i, row := range rows {
		e := record[len(record)-1-i] // newest first
		m := models[e.model]
		m.Calls++
		if e.success {
			successes++
			m.Successes++
		}
		models[e.model] = m
		if e.callID != "" && row.CallID != e.callID || row.Model != e.model || row.StatusCode != e.status || row.Success != e.success ||
			row.Streamed != e.streamed || row.EndedBy != e.endedBy {
			t.Errorf("%s: recorded %+v, want %+v", e.name, row, e)
		}
	}
	c.awaitCalls(app, 2*time.Second, len(record)) // rollups commit a moment after the rows
	c.checkTotals(app, enabled, len(record), successes, models)
}

func (c client) checkTotals(app string, enabled, calls, successes int, models map[string]metrics) {
	t := c.t
	t.Helper()
	check := func(what string, m metrics) {
		t.Helper()
		if m.Calls != calls || m.Successes != successes || m.Failures != calls-successes {
			t.Errorf("%s: %+v, want %d calls, %d successes", what, m, calls, successes)
		}
		rate := float64(successes*10000/calls) / 10000
		if m.SuccessRate == nil || *m.SuccessRate != rate || m.AvgDurationMs == nil || *m.AvgDurationMs <= 0 || m.P99Ms == nil {
			t.Errorf("%s: rate %v, average %v, want rate %v", what, m.SuccessRate, m.AvgDurationMs, rate)
		}
	}
	type modelRow struct {
		Model string
		metrics
	}
	type dayRow struct {
		Date string
		metrics
	}
	one := do[struct {
		Application   struct{ ID, Name, Status string }
		Summary       metrics
		Daily         []dayRow
		Models        []modelRow
		Missed        int
		DataThrough   string
		RetainedFrom  string
		CollectedFrom string
	}](c, "GET", "/api/statistics/applications/"+app, nil)
	check("application", one.Summary)
	if len(one.Daily) != 7 || one.Daily[6].Calls+one.Daily[5].Calls != calls || one.Missed != 0 || one.DataThrough == "" || one.Application.ID != app {
		t.Errorf("application: %+v", one)
	}
	got := map[string]metrics{}
	for _, m := range one.Models {
		got[m.Model] = metrics{Calls: m.Calls, Successes: m.Successes}
	}
	if !reflect.DeepEqual(got, models) {
		t.Errorf("models: %+v, want %+v", got, models)
	}
	overview := do[struct {
		ApplicationCount, EnabledCount int
		metrics
		Daily  []dayRow
		Models []modelRow
	}](c, "GET", "/api/statistics/applications/overview", nil)
	check("overview", overview.metrics)
	if overview.ApplicationCount != 1 || overview.EnabledCount != enabled || len(overview.Daily) != 7 {
		t.Errorf("overview: %+v", overview)
	}
	list := do[struct {
		Items []struct {
			ID, Name, Status, MaskedAccessKey string
			metrics
		}
		Total, Size int
	}](c, "GET", "/api/statistics/applications", nil)
	status := map[int]string{0: "disabled", 1: "active"}[enabled]
	if list.Total != 1 || list.Size != 10 || list.Items[0].ID != app || list.Items[0].Status != status || !strings.Contains(list.Items[0].MaskedAccessKey, "…") {
		t.Errorf("list: %+v", list)
	}
	check("list", list.Items[0].metrics)
}

// checkDetail compares the failure detail of one call field by field.
func (c client) checkDetail(app string, e expected) {
	t := c.t
	t.Helper()
	path := "/api/statistics/applications/" + app + "/calls/" + e.callID
	if e.success {
		if status, envelope := c.try("GET", path, nil); status != 404 || envelope.Code != 40402 {
			t.Errorf("%s: detail of a success answers %d %d", e.name, status, envelope.Code)
		}
		return
	}
	d := do[struct {
		callRow
		Failure struct {
			Collected bool
			Reason    struct {
				Type, Code, Message string
				UpstreamStatus      *int
			}
			Request     struct{ Method, Path string }
			RequestBody json.RawMessage
			BodyNote    *string
			Query       map[string]any
		}
	}](c, "GET", path, nil)
	f := d.Failure
	if !f.Collected || f.Reason.Type != e.reasonType || f.Reason.Code != e.reasonCode {
		t.Errorf("%s: reason %+v, want %s/%s", e.name, f.Reason, e.reasonType, e.reasonCode)
	}
	if e.message == "*" && f.Reason.Message == "" || e.message != "*" && f.Reason.Message != e.message {
		t.Errorf("%s: message %q, want %q", e.name, f.Reason.Message, e.message)
	}
	if got := value(f.Reason.UpstreamStatus); got != e.upstream {
		t.Errorf("%s: upstream status %d, want %d", e.name, got, e.upstream)
	}
	if f.Request.Method != e.method || f.Request.Path != e.path && !strings.Contains(e.path, "..") {
		t.Errorf("%s: request %+v, want %s %s", e.name, f.Request, e.method, e.path)
	}
	if got := value(f.BodyNote); got != e.note {
		t.Errorf("%s: body note %q, want %q", e.name, got, e.note)
	}
	if !sameJSON(f.RequestBody, e.body) {
		t.Errorf("%s: body %s, want %s", e.name, f.RequestBody, e.body)
	}
	if e.query != nil && !reflect.DeepEqual(f.Query, e.query) {
		t.Errorf("%s: query %v, want %v", e.name, f.Query, e.query)
	}
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func sameJSON(got json.RawMessage, want string) bool {
	if want == "" {
		return len(got) == 0 || string(got) == "null"
	}
	var a, b any
	return json.Unmarshal(got, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(a, b)
}

func TestCallsCutByAShutdownAreRecordedAsSuch(t *testing.T) {
	up := newScripted(t)
	data := t.TempDir()
	environment := map[string]string{"DATA_DIR": data, "DRAIN_TIMEOUT": "1s"}
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
