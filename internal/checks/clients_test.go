package checks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"callgate/internal/openapi"
)

// What the upstream of this test says.
const upstreamAnswers, upstreamFails = "Hello from upstream.", "The upstream has a bad day."

// shown is what every client shows in a case of clients/clients.mjs: the status, and in its message this sentence.
var shown = map[string]struct {
	status   int
	sentence string
}{
	"stranger": {401, "The Access Key is missing or not valid. Send it as a Bearer credential"},
	"unknown":  {403, "No capability has the identifier given as model."},
	"unbound":  {403, "The capability is not bound to the application."},
	"spent":    {429, "The application may make 1 calls a day, and has."},
	"broke":    {429, "The application's budget of 0.000001 USD a month is used up. It begins anew on "},
	"failed":   {500, upstreamFails},
}

// habits are the clients' own: how many calls they make of one where the day or the budget is used up and where the upstream
// fails, and what they show of a stream that breaks off.
var habits = map[string]struct {
	spent, failed int
	cut           string
}{
	"openai":            {1, 3, "terminated"},
	"anthropic":         {1, 3, "terminated"},
	"google":            {1, 1, "terminated"},
	"mistral":           {1, 1, "terminated"},
	"cohere":            {3, 3, "terminated"},
	"groq":              {1, 3, "terminated"},
	"ollama":            {1, 1, "terminated"},
	"AI SDK, openai":    {3, 3, "Failed to process successful response"},
	"AI SDK, anthropic": {3, 3, "Failed to process successful response"},
	"AI SDK, google":    {3, 3, "Failed to process successful response"},
	"langchain":         {1, 3, "terminated"}, // with two retries; its default of six takes minutes
	"bedrock":           {3, 3, "aborted"},
}

// TestStockClientsShowWhatWentWrong asks with each in its newest version, and its defaults. A refusal that is final is asked
// for once, but by those that take no notice of X-Should-Retry.
func TestStockClientsShowWhatWentWrong(t *testing.T) {
	upstream, asked := startProviders(t)
	d := startDev(t)
	admin := dev{base: d.base, token: d.administrator(t)}
	send[any](t, admin, "POST", "/api/admin/capabilities", object{"id": "stock", "name": "Stock", "groupId": "demo", "status": "enabled",
		"upstreamBaseUrl": upstream, "upstreamKey": "k", "upstreamModel": "m", "defaultPath": "/v1/chat/completions"})
	bound := object{"name": "Stock clients", "capabilityIds": []string{"stock"}}
	send[any](t, admin, "PUT", "/api/admin/prices", object{"capabilityId": "stock", "from": "2026-01-01", "currency": "USD", "input": "1", "output": "1"})
	var apps [3]openapi.NewApplication
	for i := range apps {
		apps[i] = send[openapi.NewApplication](t, d, "POST", "/api/applications", bound)
	}
	app, spent, broke := apps[0], apps[1], apps[2]
	send[any](t, d, "PATCH", "/api/applications/"+spent.ID.String()+"/limits", object{"callsPerDay": 1})
	send[any](t, d, "PUT", "/api/applications/"+broke.ID.String()+"/budgets", object{"budgets": []object{{"period": "month", "amount": "0.000001", "currency": "USD", "action": "block"}}})
	for _, used := range []string{spent.AccessKey, broke.AccessKey} {
		eventually(t, time.Minute, "day and budget are used up", func() error {
			status, _ := post[any](t, dev{d.base, "", used}, "POST", "/via/stock/v1/chat/completions", object{"model": "good"})
			if status != http.StatusTooManyRequests {
				return fmt.Errorf("status %d", status)
			}
			return nil
		})
	}
	asked.Store(0)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	script := exec.CommandContext(ctx, "node", "clients.mjs")
	script.Dir = "clients"
	script.Env = append(os.Environ(), "BASE="+d.base, "KEY="+app.AccessKey, "SPENT="+spent.AccessKey, "BROKE="+broke.AccessKey, "UPSTREAM="+upstream)
	var stderr bytes.Buffer
	script.Stderr = &stderr
	out, err := script.Output()
	if err != nil {
		t.Fatalf("%v (make test installs what it needs)\n%s%s", err, out, stderr.String())
	}
	done, forwarded := 0, 0
	for lines := json.NewDecoder(bytes.NewReader(out)); lines.More(); done++ {
		var got struct {
			Client, Case, Said, Error string
			Calls, Status             int
		}
		if err := lines.Decode(&got); err != nil {
			t.Fatal(err)
		}
		habit, known := habits[got.Client]
		calls, want := 1, shown[got.Case]
		fits := known && got.Status == want.status && got.Said == "" && strings.Contains(got.Error, cmp.Or(want.sentence, "no sentence"))
		switch got.Case {
		case "good":
			fits = known && got.Said == upstreamAnswers && got.Error == ""
		case "cut":
			fits = known && got.Said == "Hel" && got.Error == habit.cut
		case "spent", "broke":
			calls = habit.spent
		case "failed":
			calls = habit.failed
		}
		if !fits || got.Calls != calls {
			t.Errorf("%+v", got)
		}
		if got.Case == "good" || got.Case == "cut" || got.Case == "failed" {
			forwarded += got.Calls
		}
	}
	if want := len(habits) * (len(shown) + 2); done != want || int(asked.Load()) != forwarded {
		t.Errorf("%d of %d cases, %d calls at the upstream instead of %d", done, want, asked.Load(), forwarded)
	}
}

// providers are the paths that an upstream answers, each in its provider's words: an answer, the first piece of a stream,
// and how it says that it failed.
var providers = []struct{ path, answer, piece, failure string }{
	{"/v1/messages",
		`{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":%q}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`,
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hel\"}}\n\n",
		`{"type":"error","error":{"type":"api_error","message":%q}}`},
	{"enerateContent",
		`{"candidates":[{"content":{"role":"model","parts":[{"text":%q}]},"finishReason":"STOP"}]}`,
		"data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Hel\"}]}}]}\n\n",
		`{"error":{"code":500,"message":%q,"status":"INTERNAL"}}`},
	{"/v2/chat",
		`{"id":"c","finish_reason":"COMPLETE","message":{"role":"assistant","content":[{"type":"text","text":%q}]}}`,
		"data: {\"type\":\"content-delta\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"text\":\"Hel\"}}}}\n\n",
		`{"id":"c","message":%q}`},
	{"/api/chat",
		`{"model":"m","message":{"role":"assistant","content":%q},"done":true}`,
		"{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"Hel\"},\"done\":false}\n",
		`{"error":%q}`},
	{"/converse",
		`{"output":{"message":{"role":"assistant","content":[{"text":%q}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}`,
		"\x00\x00\x00\x95\x00\x00\x00W\x89\xcb\xb3^\x0b:event-type\x07\x00\x11contentBlockDelta\r:content-type\x07\x00\x10application/json\r:message-type\x07\x00\x05event" +
			"{\"contentBlockIndex\":0,\"delta\":{\"text\":\"Hel\"}}d\x13\xa7v", // with its lengths and checksums
		`{"message":%q}`},
	{"/chat/completions",
		`{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
		"data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"},\"finish_reason\":null}]}\n\n",
		`{"error":{"message":%q,"type":"server_error","param":null,"code":null}}`},
}

// startProviders is an upstream that does what its model is named after, and counts what it is asked. A stream is cut
// once its reader asks for /cut.
func startProviders(t *testing.T) (base string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	cut := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/cut" {
			cut <- struct{}{}
			return
		}
		asked.Add(1)
		body, _ := io.ReadAll(r.Body)
		model := func(name string) bool { return strings.Contains(r.URL.Path+string(body), name) }
		for _, p := range providers {
			if !strings.Contains(r.URL.Path, p.path) {
				continue
			}
			switch {
			case model("failed"):
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = fmt.Fprintf(w, p.failure, upstreamFails)
			case model("cut"):
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, p.piece)
				_ = http.NewResponseController(w).Flush()
				select {
				case <-cut:
				case <-r.Context().Done():
				}
				panic(http.ErrAbortHandler)
			default:
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, p.answer, upstreamAnswers)
			}
			return
		}
		t.Errorf("the upstream is asked for %s", r.URL.Path)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

// object is a JSON object whose fields a test picks.
type object = map[string]any

// post sends JSON with d's token and reads the answer's data, or its items.
func post[T any](t *testing.T, d dev, method, path string, body object) (status int, data T) {
	t.Helper()
	sent, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, d.base+path, bytes.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + d.token}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer := struct{ Data, Items *T }{&data, &data}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatalf("%s %s: %d, %v", method, path, response.StatusCode, err)
	}
	return response.StatusCode, data
}

// send demands a success.
func send[T any](t *testing.T, d dev, method, path string, body object) T {
	t.Helper()
	status, data := post[T](t, d, method, path, body)
	if status/100 != 2 {
		t.Fatalf("%s %s: %d", method, path, status)
	}
	return data
}

// administrator signs in with the code of the mail, as a person would.
func (d dev) administrator(t *testing.T) (token string) {
	t.Helper()
	const email = "admin@callgate.local"
	send[any](t, d, "POST", "/api/admin/auth/code", object{"email": email})
	var mails []struct{ Code string }
	eventually(t, time.Minute, "the sign-in mail", func() error {
		if _, mails = post[[]struct{ Code string }](t, d, "GET", "/dev/mails?to="+email, nil); len(mails) == 0 {
			return errors.New("no mail")
		}
		return nil
	})
	return send[openapi.UserToken](t, d, "POST", "/api/admin/auth/login", object{"email": email, "code": mails[0].Code}).Token
}
