package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestWhatStandsBesideTheAPIAnswersAsDocumented asks the real binary for the operations that the
// console's tests cannot reach: the gateway, the probes, the document and its page.
func TestWhatStandsBesideTheAPIAnswersAsDocumented(t *testing.T) {
	up := newScripted(t)
	p := startDev(t, map[string]string{})
	p.administrator().capability("chat", up.URL, upstreamKey)
	_, key := p.developer("dev@example.com").application("Documented", "chat")
	j := &journey{process: p, key: key}
	_, header, _ := j.send("POST", "/v1/json?model=chat", "application/json", []byte(`{}`))
	called := header.Get("X-Call-Id")
	eventually(t, time.Minute, "the call can be looked up", func() error {
		if status, body := p.lookUp(key, called); status != http.StatusOK {
			time.Sleep(300 * time.Millisecond) // a key may ask five times a second
			return fmt.Errorf("%d %s", status, body)
		}
		return nil
	})
	for _, op := range documented.Operations("/") {
		if strings.HasPrefix(op.Path, "/api/") {
			continue
		}
		path, query := strings.NewReplacer("{path}", "v1/json", "{capability}", "chat", "/calls/{id}", "/calls/"+called, "{id}", "chat").Replace(op.Path), ""
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

// lookUp asks a gateway about a call.
func (p *process) lookUp(key, call string) (status int, body string) {
	p.t.Helper()
	request, _ := http.NewRequestWithContext(p.t.Context(), "GET", p.base+"/gateway/v1/calls/"+call, nil)
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text)
}
