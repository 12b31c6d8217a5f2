// Package callstest is what the tests of calls and the packages below it share: call records of every kind, ways to
// damage a segment, and settings from the environment.
package callstest

import (
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/calls"
	"callgate/internal/redact"
)

// Quiet is a logger that says nothing.
var Quiet = slog.New(slog.DiscardHandler)

// Application made the calls below, with Key, and Owner owns it.
var (
	Application = uuid.MustParse("0190a0a0-0000-7000-8000-000000000001")
	Owner       = uuid.MustParse("0190a0a0-0000-7000-8000-000000000002")
	Key         = uuid.MustParse("0190a0a0-0000-7000-8000-000000000003")
)

// Success is a finished call that started at start.
func Success(start time.Time) *calls.Record {
	return &calls.Record{
		ApplicationID: Application, UserID: Owner, KeyID: Key, CallID: calls.NewCallID(start), Model: "gpt-4o-mini", Start: start,
		Duration: 1234567 * time.Microsecond, StatusCode: 200, Success: true, FirstByte: 210 * time.Millisecond,
		EndedBy: calls.Complete, UpstreamCode: 200, RequestBytes: 1024, ResponseBytes: 20_480,
		Usage: calls.Usage{State: calls.UsageReported, Model: "gpt-4o-mini-2024-07-18", Known: calls.UsageInput | calls.UsageOutput | calls.UsageCached,
			Input: 1200, Output: 300, Cached: 1000},
	}
}

// Lined is a call that used two models at two tiers, cache writes of two kinds, and a tool, as its provider told it.
func Lined(start time.Time) *calls.Record {
	r := Success(start)
	r.Usage = calls.Usage{State: calls.UsageReported}
	r.AnswerID, r.Charged = "msg_01", calls.Charge{Amount: "1.250000000001", Currency: "USD"}
	r.SetLines([]calls.Line{
		{Model: "claude-x", Tier: "priority", Meters: []calls.Meter{{Name: "input", Amount: 250_000}, {Name: "cached_input", Amount: 1000}, {Name: "cache_write", Amount: 700},
			{Name: "cache_write_5m", Amount: 300}, {Name: "cache_write_1h", Amount: 400}, {Name: "output", Amount: 90}, {Name: "web_searches", Amount: 2}, {Name: "pages", Amount: 0}}},
		{Model: "adviser", Tier: "Standard", Meters: []calls.Meter{{Name: "input", Amount: 30}, {Name: "output", Amount: 7}, {Name: "reasoning", Amount: 0}}},
	})
	return r
}

// Tagged is a call of which its caller says what it was made for, and for whom.
func Tagged(start time.Time) *calls.Record {
	r := Success(start)
	r.Tags, r.EndUser = []calls.Tag{{Name: "feature", Value: "rag"}, {Name: "team", Value: "Süd 2"}}, "u-7"
	return r
}

// Failed is a call whose upstream could not be reached, with its detail.
func Failed(start time.Time) *calls.Record {
	r := Success(start)
	r.StatusCode, r.Success, r.UpstreamCode, r.Usage = 502, false, 0, calls.Usage{State: calls.UsageNone}
	r.FirstByte, r.EndedBy, r.ReasonType, r.ReasonCode = -1, calls.UpstreamAbort, calls.ConnectionFailed, calls.UpstreamUnreachable
	r.Unredacted = &calls.FailureInput{
		Message: "the upstream could not be reached", Method: "POST", Path: "/v1/chat/completions", RawQuery: "model=gpt-4o-mini&a=1",
		Body: []byte(`{"messages":[{"role":"user","content":"hello"}]}`), BodyBytes: 48, FullyRead: true, ContentType: "application/json",
	}
	if err := redact.Record(r); err != nil {
		panic(err)
	}
	return r
}

// Refused is a failed call as the gateway hands it over: its detail is not made yet. Its body has n bytes
// besides a secret.
func Refused(start time.Time, n int) *calls.Record {
	r := Success(start)
	r.StatusCode, r.Success, r.EndedBy, r.ReasonType, r.ReasonCode = 403, false, calls.Denied, calls.PermissionDenied, calls.ApplicationDisabled
	r.Usage = calls.Usage{State: calls.UsageNone}
	body := `{"api_key":"hunter2-canary","text":"` + strings.Repeat("x", n) + `"}`
	r.Unredacted = &calls.FailureInput{
		Method: "POST", Path: "/v1/x", Body: []byte(body), BodyBytes: int64(len(body)), FullyRead: true, ContentType: "application/json",
	}
	return r
}

// Mixed is the i-th of a row of calls: every tenth fails, and every tenth has lines.
func Mixed(start time.Time, i int) *calls.Record {
	switch i % 10 {
	case 9:
		return Failed(start)
	case 4:
		return Lined(start)
	}
	return Success(start)
}

// Eventually polls until what is true, for a minute at most.
func Eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
		time.Sleep(5 * time.Millisecond) // between two looks, not for something to happen
	}
}

// FromEnvironment is a positive number set by the environment, or its default; `make chaos` sets
// the long version of an experiment.
func FromEnvironment(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return otherwise
}
