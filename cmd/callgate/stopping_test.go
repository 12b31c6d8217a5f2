package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"callgate/internal/embedded"
)

// lines are the messages of a log, each a JSON object.
func lines(t *testing.T, log string) (said []string) {
	t.Helper()
	for text := range strings.Lines(log) {
		var line struct{ Msg, Store string }
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Errorf("no line of JSON: %q", text)
		}
		said = append(said, strings.TrimSpace(line.Msg+" "+line.Store))
	}
	return said
}

// inOrder tells whether messages that begin so are among what was said, in this order.
func inOrder(said []string, wanted ...string) error {
	for _, want := range wanted {
		at := slices.IndexFunc(said, func(line string) bool { return strings.HasPrefix(line, want) })
		if at < 0 {
			return errors.New(want)
		}
		said = said[at+1:]
	}
	return nil
}

// TestALogTellsHowAProcessLeaves: what it does in order, with 0 also when records wait in its spool because ClickHouse is away,
// which the next process ships. Stores that are lost and found are told once each.
func TestALogTellsHowAProcessLeaves(t *testing.T) {
	h := newInstallation(t)
	clickhouse, redis := embedded.NewLink(t, h.environment["CLICKHOUSE_URL"]), embedded.NewLink(t, h.environment["REDIS_URL"])
	gate := h.node(t, "CLICKHOUSE_URL="+clickhouse.URL(), "REDIS_URL="+redis.URL())
	gate.awaitCalls(t, h.key)
	redis.Cut()
	clickhouse.Cut()
	time.Sleep(12 * time.Second) // two questions of each store, and a line of the first
	redis.Mend()
	time.Sleep(6 * time.Second)
	request, _ := http.NewRequestWithContext(t.Context(), "POST", gate.base+"/gateway/v1/json?model=chat", bytes.NewReader([]byte(`{}`)))
	request.Header.Set("Authorization", "Bearer "+h.key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("a call without ClickHouse: %v %v", answer, err)
	}
	_ = answer.Body.Close()
	gate.leave(t)
	said := lines(t, gate.said.String())
	for _, order := range [][]string{
		{"serving", "draining", "drained", "records wait in the spool", "ended"},
		{"a store does not answer redis", "a store answers again redis"},
		{"a store does not answer clickhouse"},
	} {
		if err := inOrder(said, order...); err != nil {
			t.Errorf("%q is not said in order: %q", err, said)
		}
	}
	for _, once := range []string{"a store does not answer redis", "a store does not answer clickhouse", "a store answers again redis"} {
		if n := len(said) - len(slices.DeleteFunc(slices.Clone(said), func(line string) bool { return line == once })); n != 1 {
			t.Errorf("%q is said %d times", once, n)
		}
	}
	clickhouse.Mend()
	gate.start(t)
	gate.awaitCalls(t, h.key)
	h.dev.awaitThrough(h.app, time.Now(), 30*time.Second)
	_ = gate.cmd.Process.Signal(syscall.SIGTERM)
	<-gate.ended
	if err := inOrder(lines(t, gate.said.String()), "serving", "draining", "drained", "shipped: no record waits", "ended"); err != nil || !gate.cmd.ProcessState.Success() {
		t.Errorf("%v is not said: %s", err, gate.said)
	}
}
