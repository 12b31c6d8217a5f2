package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// upstreamKey is what the platform must send and nobody else may ever see.
const upstreamKey = "sk-e2eUpstreamCanary0123456789abcdef"

const (
	jsonAnswer  = `{"id":"1","choices":[{"message":{"role":"assistant","content":"你好"}}]}`
	toldAnswer  = `{"model":"m","choices":[],"usage":{"prompt_tokens":400,"completion_tokens":400}}`
	errorAnswer = `{"error":{"message":"the model is overloaded","type":"server_error"}}`
)

// seen is what the upstream received of one request.
type seen struct {
	method, uri, body string
	header            http.Header
}

// scripted is an upstream whose path decides what it does.
type scripted struct {
	*httptest.Server
	mu       sync.Mutex
	last     seen
	release  chan struct{} // ends /hold
	canceled chan struct{} // one value for every request that was cancelled while silent
}

func newScripted(t *testing.T) *scripted {
	t.Helper()
	s := &scripted{release: make(chan struct{}), canceled: make(chan struct{}, 16)}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		close(s.release)
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *scripted) received() seen { s.mu.Lock(); defer s.mu.Unlock(); return s.last }

func (s *scripted) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.last = seen{r.Method, r.RequestURI, string(body), r.Header.Clone()}
	s.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+upstreamKey {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	switch path := strings.TrimPrefix(r.URL.Path, "/v1"); path {
	case "/json":
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "upstream=1")
		w.Header().Set("X-Upstream", "kept")
		_, _ = io.WriteString(w, jsonAnswer)
	case "/told":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, toldAnswer)
	case "/named": // by the model that the request names
		var asked struct{ Model string }
		_ = json.Unmarshal(body, &asked)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"model":%q,"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`, asked.Model)
	case "/sse":
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 5 {
			_, _ = fmt.Fprintf(w, "data: {\"n\":%d}\n\n", i)
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	case "/binary":
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(body)
	case "/429":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, errorAnswer)
	case "/500-text":
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, "a stack trace with "+upstreamKey)
	case "/silent":
		s.waitUntilGone(r)
	case "/stall", "/hold":
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		s.waitUntilGone(r)
		if path == "/hold" {
			_, _ = io.WriteString(w, "data: [DONE]\n\n")
		}
	case "/cut":
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"half":`)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case "/reset":
		panic(http.ErrAbortHandler)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// waitUntilGone blocks until the platform cancels the request or the test releases it.
func (s *scripted) waitUntilGone(r *http.Request) {
	select {
	case <-r.Context().Done():
		select {
		case s.canceled <- struct{}{}:
		default:
		}
	case <-s.release:
	case <-time.After(30 * time.Second):
	}
}
