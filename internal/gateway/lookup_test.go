package gateway

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

var askedCall = uuid.MustParse("0198a000-0000-7000-8000-00000000000a")

func aboutCall(method, path, key string) string {
	return method + " /gateway" + path + " HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer " + key + "\r\n\r\n"
}

// TestACallIsToldToItsApplicationAndIsNoCall: what the store says decides; nothing is recorded whatever it says.
func TestACallIsToldToItsApplicationAndIsNoCall(t *testing.T) {
	const told = `{"callId":"0198a000-0000-7000-8000-00000000000a"}`
	r := newRig(t, answers(okAnswer), func(c *Config) {
		c.LookUpCall = func(_ context.Context, of, call uuid.UUID) ([]byte, error) {
			switch {
			case of != application:
				t.Errorf("asked for %s", of)
			case call == askedCall:
				return []byte(told), nil
			case call == uuid.Nil:
				return nil, errors.New("away")
			}
			return nil, ErrNoCall
		}
	})
	ask := func(method, path string, status int, body string) http.Header {
		t.Helper()
		r.gateway.lookups.second = 0 // as in another second
		a := r.ask(aboutCall(method, path, goodKey))
		if a.StatusCode != status || body != "" && string(a.body) != body || a.Header.Get("X-Call-Id") != "" || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: %d %v %s", method, path, a.StatusCode, a.Header, a.body)
		}
		return a.Header
	}
	ask("GET", "/v1/calls/"+askedCall.String(), 200, told)
	ask("HEAD", "/v1/calls/"+askedCall.String(), 200, "")
	ask("GET", "/v1/calls/"+uuid.Max.String(), 404, "")
	if h := ask("GET", "/v1/calls/"+uuid.Nil.String(), 503, ""); h.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	if len(r.records) != 0 || len(r.asked) != 0 || r.gateway.supervisor.len() != 0 {
		t.Errorf("%d records, %d asked upstream, %d in flight", len(r.records), len(r.asked), r.gateway.supervisor.len())
	}
	for raw, status := range map[string]int{ // these are calls
		aboutCall("GET", "/v1/calls/"+askedCall.String()+"?model=m", goodKey): 200,
		aboutCall("POST", "/v1/calls/"+askedCall.String(), goodKey):           400,
		aboutCall("GET", "/v1/calls/none", goodKey):                           400,
		aboutCall("GET", "/v1/calls/"+askedCall.String(), "cg-disabled"):      403,
	} {
		if a := r.ask(raw); a.StatusCode != status || strings.Contains(string(a.body), "callId") {
			t.Errorf("%q: %d %s", raw, a.StatusCode, a.body)
		}
		r.record()
	}
	if a := r.ask(aboutCall("GET", "/v1/calls/"+askedCall.String(), "cg-made-up")); a.StatusCode != 401 {
		t.Errorf("a made-up key: %d", a.StatusCode)
	}
}

// TestQuestionsAboutCallsAreBoundedAndHoldUpNoCall while the store hangs.
func TestQuestionsAboutCallsAreBoundedAndHoldUpNoCall(t *testing.T) {
	asked, answer := make(chan struct{}, lookupsAtOnce), make(chan struct{})
	r := newRig(t, answers(okAnswer), func(c *Config) {
		c.LookUpCall = func(context.Context, uuid.UUID, uuid.UUID) ([]byte, error) {
			asked <- struct{}{}
			<-answer
			return []byte("{}"), nil
		}
	})
	done := make(chan int, 2*lookupsAtOnce)
	first := uuid.New()
	for i := range 2*lookupsAtOnce - lookupsOfOwner { // half of them are one owner's
		of := first
		if i >= lookupsAtOnce {
			of = uuid.New()
		}
		go func() {
			_, refused := r.gateway.lookUp(of, uuid.New(), func(ctx context.Context) ([]byte, error) {
				return r.gateway.config.LookUpCall(ctx, application, askedCall)
			})
			if refused != nil {
				done <- refused.status
				return
			}
			done <- 200
		}()
	}
	for range lookupsAtOnce {
		<-asked // two of that owner, and one of each other: who is asked about first does not matter
	}
	r.gateway.lookups.mu.Lock()
	if n := len(r.gateway.lookups.owners[first].places); n != lookupsOfOwner {
		t.Errorf("%d of the places are one owner's", n)
	}
	r.gateway.lookups.mu.Unlock()
	if a := r.ask(aboutCall("GET", "/v1/calls/"+askedCall.String(), goodKey)); a.StatusCode != 503 || a.Header.Get("Retry-After") != "2" {
		t.Errorf("one too many: %d %v", a.StatusCode, a.Header)
	}
	if a := r.ask(post("/gateway/v1?model=m", goodKey, "{}")); a.StatusCode != 200 {
		t.Errorf("a call meanwhile: %d", a.StatusCode)
	}
	r.record()
	close(answer)
	for range 2*lookupsAtOnce - lookupsOfOwner {
		if status := <-done; status != 200 {
			t.Errorf("answered %d", status)
		}
	}
	if n := len(r.gateway.lookups.owners); n != 0 {
		t.Errorf("%d owners are kept", n)
	}
	limit, key, now := newLookups(), uuid.New(), time.Unix(1_800_000_000, 0)
	for i := range lookupsASecond + 1 {
		if limit.allows(key, now) != (i < lookupsASecond) {
			t.Errorf("question %d of a second", i+1)
		}
	}
	if !limit.allows(uuid.New(), now) || !limit.allows(key, now.Add(time.Second)) {
		t.Error("another key, or another second, was refused")
	}
}

// TestTheLimitsOfAKeyAreToldToItAndThatIsNoCall, when its day is used up too.
func TestTheLimitsOfAKeyAreToldToItAndThatIsNoCall(t *testing.T) {
	const told = `{"limits":[]}`
	r := limitedRig(t, answers(okAnswer), "calls_per_day", "1")
	r.gateway.config.TellUsage = func(_ context.Context, of, _, _ uuid.UUID) ([]byte, error) {
		if of != application {
			t.Errorf("asked for %s", of)
		}
		return []byte(told), nil
	}
	r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
	r.record()
	if a := r.ask(post("/gateway/v1?model=m", goodKey, "{}")); a.StatusCode != 429 {
		t.Errorf("the day is not used up: %d", a.StatusCode)
	}
	r.record()
	for range lookupsASecond + 1 {
		a := r.ask(aboutCall("GET", "/v1/usage", goodKey))
		if a.StatusCode != 200 || string(a.body) != told || a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("X-Call-Id") != "" {
			t.Errorf("%d %v %s", a.StatusCode, a.Header, a.body)
		}
		r.gateway.lookups.second = 0 // as in another second
	}
	r.gateway.lookups.places = make(chan struct{}) // all are in use
	if a := r.ask(aboutCall("GET", "/v1/usage", goodKey)); a.StatusCode != 503 || a.Header.Get("Retry-After") != "2" {
		t.Errorf("one too many: %d %v", a.StatusCode, a.Header)
	}
	if len(r.records) != 0 || r.gateway.supervisor.len() != 0 {
		t.Errorf("%d records, %d in flight", len(r.records), r.gateway.supervisor.len())
	}
	for raw, status := range map[string]int{ // these are calls
		aboutCall("GET", "/v1/usage?model=m", goodKey): 429,
		aboutCall("POST", "/v1/usage", goodKey):        400,
		aboutCall("GET", "/v1/usage/x", goodKey):       400,
		aboutCall("GET", "/v1/usage", "cg-disabled"):   403,
	} {
		if a := r.ask(raw); a.StatusCode != status {
			t.Errorf("%q: %d %s", raw, a.StatusCode, a.body)
		}
		r.record()
	}
	if a := r.ask(aboutCall("GET", "/v1/usage", "cg-made-up")); a.StatusCode != 401 {
		t.Errorf("a made-up key: %d", a.StatusCode)
	}
}

func TestLinesOfAnAnswerAreRecorded(t *testing.T) {
	const body = `{"id":"msg_1","type":"message","model":"claude-x","usage":{"input_tokens":10,"cache_creation_input_tokens":70,"cache_read_input_tokens":5,"cache_creation":{"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":40},"output_tokens":3,"service_tier":"priority"}}`
	r := newRig(t, answers(jsonAnswer("200 OK", "", body)), func(c *Config) { c.TokenUsage = true })
	r.ask(post("/gateway/v1/messages?model=m", goodKey, "{}"))
	got := r.record()
	meters := map[string]uint64{}
	if len(got.Lines) == 1 {
		for _, m := range got.Lines[0].Meters {
			meters[m.Name] = m.Amount
		}
	}
	if got.Usage.Input != 85 || got.Usage.CacheWrite != 70 || got.AnswerID != "msg_1" || len(got.Lines) != 1 || got.Lines[0].Tier != "priority" || got.Lines[0].Model != "claude-x" ||
		meters["input"] != 85 || meters["cache_write_5m"] != 30 || meters["cache_write_1h"] != 40 || meters["output"] != 3 {
		t.Errorf("%+v %q %+v", got.Usage, got.AnswerID, got.Lines)
	}
}
