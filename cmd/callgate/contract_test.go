package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestWhatStandsBesideTheAPIAnswersAsDocumented asks the real binary for the operations that the
// console's tests cannot reach: the gateway, the probes, the document and its page.
func TestWhatStandsBesideTheAPIAnswersAsDocumented(t *testing.T) {
	up := newScripted(t)
	p := startDev(t, map[string]string{})
	p.administrator().capability("chat", up.URL, upstreamKey)
	_, key := p.developer("dev@example.com").application("Documented", "chat")
	for _, op := range documented.Operations("/") {
		if strings.HasPrefix(op.Path, "/api/") {
			continue
		}
		path, query := strings.NewReplacer("{path}", "v1/json", "{capability}", "chat", "{id}", "chat").Replace(op.Path), ""
		if op.Path == "/gateway/{path}" {
			query = "?model=chat"
		}
		before := documented.Seen(op.ID)
		request, err := http.NewRequestWithContext(t.Context(), op.Method, p.base+path+query, strings.NewReader(`{"messages":[]}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+key)
		status := http.StatusOK
		if op.Method == http.MethodOptions { // a page's question, which callgate dev answers
			request.Header.Del("Authorization")
			request.Header.Set("Origin", "http://localhost:5173")
			request.Header.Set("Access-Control-Request-Method", http.MethodPost)
			status = http.StatusNoContent
		}
		response, err := http.DefaultClient.Do(request) // held against the document on the way
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != status || (len(body) == 0) != (status == http.StatusNoContent) || documented.Seen(op.ID) == before {
			t.Errorf("%s %s: %d %.200s, %v", op.Method, path, response.StatusCode, body, err)
		}
	}
}
