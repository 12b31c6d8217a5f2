package demo_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"callgate/internal/demo"
	"callgate/internal/embedded"
)

// ask sends a request with the key and returns the answer's status, header, body and the error its end gave.
func ask(t *testing.T, upstream *demo.Upstream, method, path, body string) (*http.Response, string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, upstream.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+upstream.Key())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	got, err := io.ReadAll(response.Body)
	return response, string(got), err
}

func TestTheDemoUpstreamAnswersInBothProvidersShapes(t *testing.T) {
	upstream := embedded.DemoUpstream(t)
	const question = `{"model":"demo-chat","messages":[{"role":"user","content":"hi there"}]`
	for path, wants := range map[string][2][]string{
		"/v1/chat/completions": {
			{`"object":"chat.completion"`, `"content":"You said: hi there"`, `"prompt_tokens":2`, `"finish_reason":"stop"`},
			{`"object":"chat.completion.chunk"`, `"content":"hi "`, `"total_tokens":6`, "data: [DONE]\n\n"},
		},
		"/v1/messages": {
			{`"type":"message"`, `"text":"You said: hi there"`, `"output_tokens":4`, `"stop_reason":"end_turn"`},
			{"event: message_start\n", "event: content_block_delta\n", `"text":"hi "`, "event: message_stop\n"},
		},
	} {
		for i, body := range []string{question + "}", question + `,"stream":true,"stream_options":{"include_usage":true}}`} {
			response, got, err := ask(t, upstream, "POST", path, body)
			if err != nil || response.StatusCode != http.StatusOK {
				t.Errorf("%s: %d, %v", path, response.StatusCode, err)
			}
			kind := []string{"application/json", "text/event-stream"}[i]
			if response.Header.Get("Content-Type") != kind {
				t.Errorf("%s is %s, not %s", path, response.Header.Get("Content-Type"), kind)
			}
			for _, want := range wants[i] {
				if !strings.Contains(got, want) {
					t.Errorf("%s lacks %q: %s", path, want, got)
				}
			}
		}
	}
	if _, got, _ := ask(t, upstream, "POST", "/v1/embeddings", `{"model":"demo-embedding","input":["a","bc"]}`); strings.Count(got, `"embedding":[`) != 2 {
		t.Errorf("embeddings: %s", got)
	}
	if _, got, _ := ask(t, upstream, "GET", "/v1/models", ""); !strings.Contains(got, `"id":"demo-chat"`) {
		t.Errorf("models: %s", got)
	}
}

func TestTheDemoUpstreamFailsOnRequest(t *testing.T) {
	upstream := embedded.DemoUpstream(t)
	response, got, _ := ask(t, upstream, "POST", "/v1/chat/completions", `{"model":"demo-error-429"}`)
	if response.StatusCode != http.StatusTooManyRequests || !strings.Contains(got, `"code":"demo_error_429"`) || response.Header.Get("Retry-After") != "1" {
		t.Errorf("%d %s", response.StatusCode, got)
	}
	for _, body := range []string{`{"model":"demo-cut"}`, `{"model":"demo-cut","stream":true}`} {
		if _, got, err := ask(t, upstream, "POST", "/v1/chat/completions", body); !errors.Is(err, io.ErrUnexpectedEOF) || got == "" {
			t.Errorf("not cut in the middle: %q, %v", got, err)
		}
	}
	began := time.Now()
	if _, _, err := ask(t, upstream, "POST", "/v1/messages?delay=30ms", `{"model":"demo-chat"}`); err != nil || time.Since(began) < 30*time.Millisecond {
		t.Errorf("answered after %v, %v", time.Since(began), err)
	}
	bare, err := http.Get(upstream.URL() + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bare.Body.Close() }()
	if bare.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a key: %d", bare.StatusCode)
	}
}

func TestTheDemoUpstreamEchoesAndSendsTheSameBytesAgain(t *testing.T) {
	upstream := embedded.DemoUpstream(t)
	_, got, _ := ask(t, upstream, "PUT", "/echo/a%2Fb?x=1&x=%20", "\xff\x00")
	var echo demo.Echo
	if err := json.Unmarshal([]byte(got), &echo); err != nil {
		t.Fatal(err)
	}
	if echo.Method != "PUT" || echo.Path != "/echo/a%2Fb" || echo.Query != "x=1&x=%20" || !echo.Base64 || echo.Body != "/wA=" || echo.Length != 2 ||
		echo.Header.Get("Authorization") != "Bearer "+upstream.Key() {
		t.Errorf("%+v", echo)
	}
	_, first, _ := ask(t, upstream, "GET", "/bytes/100000", "")
	_, second, _ := ask(t, upstream, "GET", "/bytes/100000", "")
	want, _ := io.ReadAll(io.LimitReader(demo.Bytes(100000), 100000))
	if first != second || !bytes.Equal([]byte(first), want) {
		t.Errorf("%d and %d bytes differ", len(first), len(second))
	}
}
