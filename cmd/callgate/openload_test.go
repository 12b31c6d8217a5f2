package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

// callKind is one of the calls an openLoad makes, and what its caller has to get.
type callKind struct {
	name, path string
	body       []byte
	status     int
	answer     string // the whole answer; empty: whatever came
	cut        bool   // the answer breaks off, because the upstream's does
	fresh      bool   // on a connection of its own
	chunked    bool   // of no announced length
}

// kindsOfCalls are made in turn: keep-alive and new connections, streams, failures, uploads.
func kindsOfCalls() []callKind {
	upload := make([]byte, 64<<10)
	_, _ = rand.Read(upload)
	ask := []byte(`{"model":"m"}`)
	var events strings.Builder
	for i := range 5 {
		fmt.Fprintf(&events, "data: {\"n\":%d}\n\n", i)
	}
	events.WriteString("data: [DONE]\n\n")
	plain := callKind{name: "plain", path: "/json", body: ask, status: 200, answer: jsonAnswer}
	fresh := callKind{name: "plain on a new connection", path: "/json", body: ask, status: 200, answer: jsonAnswer, fresh: true}
	stream := callKind{name: "stream", path: "/sse", body: ask, status: 200, answer: events.String()}
	return []callKind{
		plain, plain, plain, stream, fresh, plain, plain, plain, stream, plain,
		{name: "429", path: "/429", body: ask, status: 429, answer: errorAnswer},
		plain, fresh, plain, plain, stream,
		{name: "upload", path: "/binary", body: upload, status: 200, answer: string(upload)},
		{name: "chunked upload", path: "/binary", body: upload, status: 200, answer: string(upload), chunked: true},
		{name: "500", path: "/500-text", body: ask, status: 500},
		{name: "cut by the upstream", path: "/cut", body: ask, status: 200, cut: true},
		{name: "stream on a new connection", path: "/sse", body: ask, status: 200, answer: events.String(), fresh: true},
	}
}

// patience is what a caller waits for an answer: a busy machine is not to be taken for a lost call.
const patience = 2 * time.Minute

// openLoad makes calls at a rate that does not depend on how fast they are answered.
type openLoad struct {
	base, key string
	rate      int // calls per second

	mu      sync.Mutex
	seen    []sighting
	failed  []string // every answer that was another than its kind's
	slowest time.Duration
	made    map[string]int
}

// run calls until ctx is done, and waits for what is under way.
func (o *openLoad) run(ctx context.Context) {
	o.made = map[string]int{}
	kept := &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: patience}
	defer kept.CloseIdleConnections()
	clients := map[bool]*http.Client{
		false: {Transport: kept, Timeout: patience},
		true:  {Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience},
	}
	var running sync.WaitGroup
	defer running.Wait()
	kinds := kindsOfCalls()
	next := time.Now()
	for i := 0; sleepUntil(ctx, next); i++ {
		next = next.Add(time.Second / time.Duration(o.rate))
		kind := kinds[i%len(kinds)]
		running.Go(func() { o.note(kind, o.call(clients[kind.fresh], kind)) })
	}
}

// outcome is how a call went.
type outcome struct {
	sighting
	fault string // empty: as it must
	began time.Time
}

func (o *openLoad) note(kind callKind, out outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.made[kind.name]++
	o.slowest = max(o.slowest, out.took)
	if out.id != uuid.Nil {
		o.seen = append(o.seen, out.sighting)
	}
	if out.fault != "" {
		o.failed = append(o.failed, fmt.Sprintf("%s %s: %s after %v", out.began.UTC().Format("15:04:05.000"), kind.name, out.fault, out.took.Round(time.Millisecond)))
	}
}

func (o *openLoad) call(c *http.Client, kind callKind) (out outcome) {
	out.began = time.Now()
	defer func() { out.at, out.took = time.Now(), time.Since(out.began) }()
	var body io.Reader = bytes.NewReader(kind.body)
	if kind.chunked {
		body = struct{ io.Reader }{body}
	}
	req, err := http.NewRequest("POST", o.base+"/gateway/v1"+kind.path+"?model=chat", body)
	if err != nil {
		panic(err)
	}
	req.GetBody = nil // or the client hides a lost connection by calling again
	req.Header.Set("Authorization", "Bearer "+o.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		out.fault = err.Error()
		return out
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	out.id, _ = uuid.Parse(resp.Header.Get("X-Call-Id"))
	switch {
	case out.id == uuid.Nil:
		out.fault = fmt.Sprintf("%d without an X-Call-Id: %.200s", resp.StatusCode, answer)
	case resp.StatusCode != kind.status:
		out.fault = fmt.Sprintf("%d: %.200s", resp.StatusCode, answer)
	case (err != nil) != kind.cut:
		out.fault = fmt.Sprintf("the answer ended with %v after %d bytes", err, len(answer))
	case kind.answer != "" && kind.answer != string(answer):
		out.fault = fmt.Sprintf("another answer of %d bytes", len(answer))
	}
	return out
}

// settle waits until the ledger is past the load, and demands that the ledger has every call that was made, once, and
// no others but those of before.
func (o *openLoad) settle(t *testing.T, h *installation, before int) {
	t.Helper()
	h.dev.awaitThrough(h.app, time.Now(), time.Minute)
	h.awaitNoDoubts(t)
	found := (&traffic{seen: o.seen}).count(t, h.environment["CLICKHOUSE_URL"])
	total := 0
	for _, n := range o.made {
		total += n
	}
	mean, least, _ := (&traffic{seen: o.seen}).pace(0)
	t.Logf("%d calls (%.0f a second, %d in the slowest; %v), %d seen, %d rows: %d failed, %d lost, %d doubled; the slowest took %v",
		total, mean, least, o.made, len(o.seen), found.rows, len(o.failed), len(found.lost), found.doubled, o.slowest.Round(time.Millisecond))
	if len(o.failed)+len(found.lost)+found.doubled > 0 || found.rows != total+before {
		t.Errorf("%d failed, %d lost, %d doubled, %d rows of %d calls and %d before; the first failures:\n%q",
			len(o.failed), len(found.lost), found.doubled, found.rows, total, before, o.failed[:min(20, len(o.failed))])
	}
	verified(t, h.environment)
}
