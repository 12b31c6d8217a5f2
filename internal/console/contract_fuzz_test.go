package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"callgate/internal/openapi"
)

// apiFuzzRequests is how many requests the fuzz of the interface makes, and apiFuzzSeed which ones;
// the environment may say otherwise (make fuzz).
const (
	apiFuzzRequests = 900
	apiFuzzSeed     = 20260817
	fuzzDesks       = 3_000 // administrators, each good for one sign-in a minute
)

func TestRandomRequestsAreAnsweredWithinTheContract(t *testing.T) {
	requests, seed := fromEnvironment(t, "API_FUZZ_REQUESTS", apiFuzzRequests), fromEnvironment(t, "API_FUZZ_SEED", apiFuzzSeed)
	t.Logf("%d requests, API_FUZZ_SEED=%d", requests, seed)
	f := newFuzzer(t, uint64(seed))
	operations := slices.DeleteFunc(documented.Operations("/api/"), func(op openapi.Operation) bool {
		return strings.Contains(op.Path, "/oidc/") // not configured here: they have tests of their own
	})
	sent, good := map[string]int{}, map[string]int{}
	total := 0
	for i := range requests {
		op := operations[i%len(operations)]
		status := f.fire(op)
		sent[op.ID]++
		if status < 300 {
			good[op.ID]++
			total++
		}
	}
	t.Logf("%d of %d answered 2xx", total, requests)
	if total*100 < requests*40 {
		t.Errorf("only %d of %d requests were answered 2xx", total, requests)
	}
	for id, n := range sent {
		if wanted := min(50, n/8); good[id] < wanted {
			t.Errorf("%s: %d of %d requests were answered 2xx, want %d", id, good[id], n, wanted)
		}
	}
}

func fromEnvironment(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// fire sends one request of an operation, a third of them spoilt, and gives the status.
func (f *fuzzer) fire(op openapi.Operation) int {
	f.t.Helper()
	s := f.aim(op)
	if f.random.IntN(3) == 0 {
		f.spoil(op, s)
	}
	path := op.Path
	for _, name := range slices.Sorted(maps.Keys(s.path)) {
		path = strings.ReplaceAll(path, "{"+name+"}", s.path[name])
	}
	if len(s.query) > 0 {
		path += "?" + s.query.Encode()
	}
	if s.raw == nil && s.body != nil {
		encoded, err := json.Marshal(s.body)
		if err != nil {
			f.t.Fatal(err)
		}
		s.raw = encoded
	}
	request, err := http.NewRequestWithContext(f.t.Context(), op.Method, f.url+path, bytes.NewReader(s.raw))
	if err != nil {
		f.t.Fatal(err)
	}
	request.Header = s.header
	response, err := http.DefaultClient.Do(request) // held against the document on the way
	if len(path) > headRoom && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)) {
		return http.StatusRequestHeaderFieldsTooLarge // the answer is lost where the head is still being sent when the server closes
	}
	if err != nil {
		f.t.Fatalf("%s %.300s %.300q: %.300v", op.Method, path, s.raw, errors.Unwrap(err)) // the rest repeats the address
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 500 {
		f.t.Fatalf("%s %.300s %.300q: %d %s %.300v", op.Method, path, s.raw, response.StatusCode, answer, err)
	}
	return response.StatusCode
}
