package demo_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"callgate/internal/demo"
	"callgate/internal/embedded"
	"callgate/internal/meter"
)

// formats are one question in the words of each provider: four words for the system, three and two of a user's.
var formats = map[string]struct {
	path, streamed string // the path that streams, where it is another
	body           string
	absent         bool // its stream reports no usage
	want           said
}{
	"chat": {path: "/v1/chat/completions", body: `{"model":"demo","stream_options":{"include_usage":true},"reasoning_effort":"low","messages":[
		{"role":"system","content":"be kind and brief"},{"role":"user","content":"one two three"},{"role":"user","content":[{"type":"text","text":"four five"}]}]}`,
		want: report(9, 9, 4, -1, 5)},
	"chat that does not ask": {path: "/v1/chat/completions", body: `{"model":"demo","messages":[
		{"role":"system","content":"be kind and brief"},{"role":"user","content":"one two three"},{"role":"user","content":[{"type":"text","text":"four five"}]}]}`,
		absent: true, want: report(9, 4, 4, -1, 0)},
	"responses": {path: "/v1/responses", body: `{"model":"demo","reasoning":{"effort":"low"},"instructions":"be kind and brief","input":[
		{"role":"user","content":"one two three"},{"role":"user","content":[{"type":"input_text","text":"four five"}]}]}`, want: report(9, 9, 4, -1, 5)},
	"messages": {path: "/v1/messages", body: `{"model":"demo","max_tokens":9,"system":[{"type":"text","text":"be kind and brief"}],"messages":[
		{"role":"user","content":[{"type":"text","text":"one two three","cache_control":{"type":"ephemeral"}}]},{"role":"user","content":"four five"}]}`,
		want: report(9, 4, 4, 3, -1)},
	"generateContent": {path: "/v1beta/models/demo:generateContent", streamed: "/v1beta/models/demo:streamGenerateContent?alt=sse",
		body: google, want: report(9, 9, 4, -1, 5)},
	"generateContent in an array": {path: "/v1beta/models/demo:generateContent", streamed: "/v1beta/models/demo:streamGenerateContent",
		body: google, want: report(9, 9, 4, -1, 5)},
	"cohere": {path: "/v2/chat", body: `{"model":"demo","messages":[{"role":"system","content":"be kind and brief"},
		{"role":"user","content":"one two three"},{"role":"user","content":"four five"}]}`, want: report(9, 4, -1, -1, -1)},
}

const google = `{"systemInstruction":{"parts":[{"text":"be kind and brief"}]},"generationConfig":{"thinkingConfig":{"thinkingBudget":9}},
	"contents":[{"role":"user","parts":[{"text":"one two three"}]},{"role":"user","parts":[{"text":"four five"}]}]}`

// said is what a report says in the five numbers that every call has, as far as they are known and not 0.
type said struct {
	state meter.State
	model string
	five  [5]uint32
}

// report is what an answer says; -1 is what it does not.
func report(numbers ...int) said {
	r := said{state: meter.Reported, model: "demo"}
	for i, n := range numbers {
		r.five[i] = uint32(max(n, 0))
	}
	return r
}

func TestTheDemoUpstreamReportsItsUsageInEveryFormatStreamedAndNot(t *testing.T) {
	upstream := embedded.DemoUpstream(t)
	for name, format := range formats {
		for _, inStream := range []bool{false, true} {
			path, body, want := format.path, format.body, format.want
			switch {
			case inStream && format.streamed != "":
				path = format.streamed
			case inStream:
				body = `{"stream":true,` + body[1:]
			}
			if inStream && format.absent {
				want = said{state: meter.Absent, model: "demo"}
			}
			if path == "/v2/chat" { // Cohere's answers do not name their model
				want.model = ""
			}
			got, text := reported(t, upstream, path, body)
			if got != want {
				t.Errorf("%s, streamed %v: %+v, want %+v: %s", name, inStream, got, want, text)
			}
			if inStream == (strings.Count(text, "You") == strings.Count(text, "You said: four five")) {
				t.Errorf("%s, streamed %v: %s", name, inStream, text)
			}
		}
	}
	if got, text := reported(t, upstream, "/v1/embeddings", `{"model":"demo","input":["one two","three"]}`); got.five[meter.Input] != 3 || got.state != meter.Reported {
		t.Errorf("embeddings: %+v: %s", got, text)
	}
}

// reported is what the gateway would read of an answer.
func reported(t *testing.T, upstream *demo.Upstream, path, body string) (said, string) {
	t.Helper()
	response, text, err := ask(t, upstream, "POST", path, body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", path, response.StatusCode, text, err)
	}
	var reader meter.Reader
	reader.Begin(meter.Head{ContentType: []byte(response.Header.Get("Content-Type"))}, func(int64) bool { return true })
	reader.Write([]byte(text))
	r := reader.End(true)
	got, sum := said{state: r.State, model: r.Model()}, r.Sum()
	for m := range meter.Meter(len(got.five)) {
		got.five[m], _ = sum.Count(m)
	}
	return got, text
}

func TestTheDemoUpstreamWordsErrorsAsTheProviderDoes(t *testing.T) {
	upstream := embedded.DemoUpstream(t)
	for path, want := range map[string]map[int]string{
		"/v1/chat/completions": {429: `{"error":{"code":"demo_error_429","message":"*","param":null,"type":"rate_limit_error"}}`,
			400: `{"error":{"code":"demo_error_400","message":"*","param":null,"type":"invalid_request_error"}}`},
		"/v1/responses": {500: `{"error":{"code":"demo_error_500","message":"*","param":null,"type":"server_error"}}`},
		"/v1/messages": {429: `{"error":{"message":"*","type":"rate_limit_error"},"request_id":"req_demo","type":"error"}`,
			529: `{"error":{"message":"*","type":"overloaded_error"},"request_id":"req_demo","type":"error"}`},
		"/v1beta/models/MODEL:generateContent":               {429: `{"error":{"code":429,"message":"*","status":"RESOURCE_EXHAUSTED"}}`},
		"/v1beta/models/MODEL:streamGenerateContent?alt=sse": {400: `{"error":{"code":400,"message":"*","status":"INVALID_ARGUMENT"}}`},
		"/v1beta/models/MODEL:streamGenerateContent":         {503: `[{"error":{"code":503,"message":"*","status":"UNAVAILABLE"}}]`},
		"/v2/chat": {429: `{"id":"demo","message":"*"}`},
	} {
		for status, want := range want {
			model := "demo-error-" + strconv.Itoa(status)
			response, text, err := ask(t, upstream, "POST", strings.Replace(path, "MODEL", model, 1), `{"model":"`+model+`"}`)
			if err != nil || response.StatusCode != status || strings.Replace(text, "This model always answers "+model[len("demo-error-"):]+".", "*", 1) != want {
				t.Errorf("%s: %d %s, want %d %s", path, response.StatusCode, text, status, want)
			}
		}
	}
	for path, want := range map[string]string{
		"/v1/chat/completions": `"code":"invalid_api_key"`, "/v1/messages": `"type":"authentication_error"`,
		"/v1beta/models/demo:generateContent": `"status":"UNAUTHENTICATED"`, "/v2/chat": `{"id":`,
	} {
		response, err := http.Post(upstream.URL()+path, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized || !strings.Contains(string(text), want) {
			t.Errorf("%s without a key: %d %s", path, response.StatusCode, text)
		}
		if response, text, _ := ask(t, upstream, "POST", path, `{`); response.StatusCode != http.StatusBadRequest || !strings.Contains(text, "parse the JSON") {
			t.Errorf("%s with malformed JSON: %d %s", path, response.StatusCode, text)
		}
	}
}
