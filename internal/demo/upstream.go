// Package demo is what `callgate dev` and tests have in the place of the world: a model provider that answers in the shapes of
// several, and a mail catcher, both on loopback.
package demo

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	slowDelay   = 2 * time.Second
	longestWait = time.Minute
	largestBody = 64 << 20 // bytes of a request
	mostBytes   = 1 << 30  // of /bytes/N
)

// Upstream is a model provider for trying things out: the shapes of OpenAI (chat, responses and
// embeddings), Anthropic, Google and Cohere, streamed or not, each with its usage, and on request
// errors, delays and broken connections. What it answers is fixed by what it is asked.
//
// The request's model, which Google's has in its path, chooses the behaviour: demo-error-<status>
// answers that status with an error as the provider words it, demo-slow waits two seconds, demo-cut
// breaks the connection in the middle of the body; anything else is answered well. The query
// parameters delay (a Go duration up to a minute, before the answer) and gap (between two events of
// a stream) work with every model.
//
// A word is a token. What the system is told counts as read from a cache, what carries a
// cache_control as written to one, and a model that is told to think spends five tokens on it.
// OpenAI's chat reports its usage in a stream only where stream_options.include_usage asks for it.
type Upstream struct {
	key    string
	at     string
	server *http.Server
	done   chan struct{}
}

// StartUpstream listens on a loopback address such as "127.0.0.1:0" and admits callers that show
// key as bearer token, x-api-key, api-key or x-goog-api-key.
func StartUpstream(listen, key string) (*Upstream, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("start demo upstream: %w", err)
	}
	u := &Upstream{key: key, at: listener.Addr().String(), done: make(chan struct{})}
	u.server = &http.Server{Handler: u.handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(u.done)
		_ = u.server.Serve(listener) // it ends by Close only
	}()
	return u, nil
}

// URL is the base URL for a capability; callers add /v1/….
func (u *Upstream) URL() string { return "http://" + u.at }

// Key is the credential it asks for.
func (u *Upstream) Key() string { return u.key }

// Close stops it, breaking open connections.
func (u *Upstream) Close() error {
	err := u.server.Close()
	<-u.done
	return err
}

func (u *Upstream) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", asked(readOpenAI, chatCompletion))
	mux.HandleFunc("POST /v1/responses", asked(readOpenAI, response))
	mux.HandleFunc("POST /v1/embeddings", asked(readOpenAI, embeddings))
	mux.HandleFunc("POST /v1/messages", asked(readAnthropic, anthropicMessage))
	mux.HandleFunc("POST /v1beta/models/{call}", asked(readGoogle, generateContent))
	mux.HandleFunc("POST /v2/chat", asked(readOpenAI, cohereChat)) // which asks as OpenAI's chat does
	mux.HandleFunc("GET /v1/models", listModels)
	mux.HandleFunc("GET /v1beta/models", listGoogleModels)
	mux.HandleFunc("/bytes/{n}", deterministicBytes)
	mux.HandleFunc("/echo", echo)
	mux.HandleFunc("/echo/", echo)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, r, http.StatusNotFound, "unknown_url", "Unknown request URL: "+r.Method+" "+r.URL.Path)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !u.admits(r.Header) {
			fail(w, r, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided.")
			return
		}
		if !wait(r.Context(), r.URL.Query().Get("delay")) {
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (u *Upstream) admits(header http.Header) bool {
	bearer, _ := strings.CutPrefix(header.Get("Authorization"), "Bearer ")
	for _, shown := range []string{bearer, header.Get("X-Api-Key"), header.Get("Api-Key"), header.Get("X-Goog-Api-Key")} {
		if subtle.ConstantTimeCompare([]byte(shown), []byte(u.key)) == 1 {
			return true
		}
	}
	return false
}

// wait pauses for a duration given as text and reports false if the caller left meanwhile.
func wait(ctx context.Context, duration string) bool {
	pause, err := time.ParseDuration(duration)
	if err != nil || pause <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(min(pause, longestWait))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

// answerJSON sends a whole answer, or half of the promised length when it is to be cut.
func answerJSON(w http.ResponseWriter, p prompt, body any) {
	if !p.cut {
		writeJSON(w, http.StatusOK, body)
		return
	}
	raw, err := json.Marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	_, _ = w.Write(raw[:len(raw)/2])
	breakOff(w)
}

// breakOff sends what was written and breaks the connection.
func breakOff(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// deterministicBytes answers N bytes that are the same at every request for N.
func deterministicBytes(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.ParseInt(r.PathValue("n"), 10, 64)
	if err != nil || n < 0 || n > mostBytes {
		fail(w, r, http.StatusBadRequest, "invalid_size", "The size must be between 0 and 1073741824.")
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(n, 10))
	_, _ = io.CopyN(w, Bytes(n), n)
}

// Bytes is the endless content of which /bytes/N sends the first N bytes.
func Bytes(n int64) io.Reader {
	var seed [32]byte
	copy(seed[:], strconv.FormatInt(n, 10))
	return rand.NewChaCha8(seed)
}

// Echo is the answer of /echo: the request as it arrived.
type Echo struct {
	Method string      `json:"method"`
	Path   string      `json:"path"`
	Query  string      `json:"query"` // raw
	Header http.Header `json:"headers"`
	Body   string      `json:"body"`           // text, or base64 if Base64
	Base64 bool        `json:"base64"`         // the body is not UTF-8
	Length int64       `json:"content_length"` // as announced; -1 when chunked
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, largestBody))
	if err != nil && !errors.Is(err, io.EOF) {
		return // the caller left
	}
	answer := Echo{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Header: r.Header, Body: string(body), Length: r.ContentLength}
	answer.Header.Set("Host", r.Host)
	if !utf8.Valid(body) {
		answer.Body, answer.Base64 = base64.StdEncoding.EncodeToString(body), true
	}
	writeJSON(w, http.StatusOK, answer)
}
