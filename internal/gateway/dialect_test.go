package gateway

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"callgate/internal/limits"
	"callgate/internal/openapi/contract"
)

func TestThePathTellsWhoseClientsCallIt(t *testing.T) {
	for path, want := range map[string]dialect{
		"/v1/chat/completions": openAI, "/v1/responses": openAI, "/v1/messages": openAI, "/v1/embeddings": openAI, "": openAI, "/": openAI,
		"/v1beta/openai/chat/completions": openAI, "/v2/chat": openAI, "/v1/models/ft:gpt:org": openAI, "/api/v1/chat/completions": openAI,
		"/model/anthropic.claude%3A0/converse": openAI, "/v1/projects/p/locations/l/publishers/anthropic/models/c:rawPredict": openAI, "/api/chats": openAI,
		"/v1beta/models/gemini-3-flash:generateContent": google, "/v1/models/gemini-3-flash:streamGenerateContent": google,
		"/models/gemini-3-flash:countTokens": google, "/v1beta/models/e:batchEmbedContents": google, "/v1beta/models/veo:predictLongRunning": google,
		"/api/chat": ollama, "/api/generate": ollama, "/api/embed": ollama, "/api/tags": ollama, "/behind/api/show": ollama,
	} {
		if got := dialectOf([]byte(path)); got != want {
			t.Errorf("%q: %d instead of %d", path, got, want)
		}
	}
}

// TestErrorsOfOursHaveTheShapeOfThePathsClients: attributed or not, each is within the contract.
func TestErrorsOfOursHaveTheShapeOfThePathsClients(t *testing.T) {
	documented, err := contract.New()
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, answers(okAnswer))
	for path, shown := range map[string]func(body []byte, status int, code string) (message string){
		"/v1/chat/completions": func(body []byte, _ int, code string) string {
			var told struct {
				Error         struct{ Message, Type, Code string }
				Type, Message string
			}
			if json.Unmarshal(body, &told) != nil || told.Type != "error" || told.Message != told.Error.Message || told.Error.Code != code || told.Error.Type == "" {
				return ""
			}
			return told.Message
		},
		"/v1beta/models/gemini-3-flash:streamGenerateContent": func(body []byte, status int, code string) string {
			var told struct {
				Error struct {
					Code            int
					Message, Status string
					Details         []struct{ Reason string }
				}
			}
			if json.Unmarshal(body, &told) != nil || told.Error.Code != status || told.Error.Status == "" || told.Error.Details[0].Reason != code {
				return ""
			}
			return told.Error.Message
		},
		"/api/chat": func(body []byte, _ int, _ string) string {
			var told struct{ Error string }
			if json.Unmarshal(body, &told) != nil {
				return ""
			}
			return told.Error
		},
	} {
		for _, refused := range []struct {
			raw     string
			refusal refusal
			called  bool
		}{
			{post("/via/m"+path, "cg-made-up", "{}"), refusedKey, false},
			{post("/via/m"+path, "cg-unsure", "{}"), refusedAccess, false},
			{post("/via/unbound"+path, goodKey, "{}"), refusedUnbound, true},
			{post("/gateway"+path+"?alt=sse", goodKey, "{}"), refusedNoModel, true},
			{post("/via/dead"+path, goodKey, "{}"), refusedUnreachable, true},
			{"GET /via/m" + path + " HTTP/1.1\r\nHost: g\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", refusedUpgrade, false},
		} {
			a := r.ask(refused.raw)
			want := refused.refusal
			if message := shown(a.body, want.status, want.code); a.StatusCode != want.status || message != want.message || a.Header.Get("X-Callgate-Error") != want.code {
				t.Errorf("%.60q: %d, %q of %s", refused.raw, a.StatusCode, message, a.body)
			}
			if refused.called {
				if record := r.record(); record.ReasonCode != want.reasonCode {
					t.Errorf("%.60q: recorded as %+v", refused.raw, record)
				}
				continue
			}
			asked, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://g/via/m"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := documented.Check(contract.Exchange{Method: asked.Method, URL: asked.URL, Status: a.StatusCode, Header: a.Header, Body: a.body}); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestGooglesClientsAreToldHowLongALimitLasts, in the answer's body: Gemini CLI gives up where that is long, and asks again
// and again where it is not told.
func TestGooglesClientsAreToldHowLongALimitLasts(t *testing.T) {
	documented, err := contract.New()
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]string{9 * time.Hour: "32400s", 41500 * time.Millisecond: "42s"} {
		body := refusedLimit(&limits.Reached{Code: limits.QuotaExhausted, Limit: limits.CallsPerDay, Value: 1, RetryAfter: after}).body(google)
		told := `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + want + `"}`
		if err := documented.CheckBody("GatewayLimited", body); err != nil || !bytes.Contains(body, []byte(told)) {
			t.Errorf("after %v: %s, %v", after, body, err)
		}
	}
	if body := refusedKey.body(google); bytes.Contains(body, []byte("RetryInfo")) {
		t.Errorf("%s", body)
	}
}

// TestEveryRefusalIsWithinTheContractInEveryShape looks at the bodies alone.
func TestEveryRefusalIsWithinTheContractInEveryShape(t *testing.T) {
	documented, err := contract.New()
	if err != nil {
		t.Fatal(err)
	}
	responses := map[int]string{400: "GatewayInvalid", 401: "GatewayUnauthenticated", 403: "GatewayRefused", 404: "GatewayNoModel", 405: "GatewayMethod", 408: "GatewayStalled",
		413: "GatewayTooLarge", 426: "GatewayUpgrade", 431: "GatewayHeadTooLarge", 500: "GatewayInternal", 502: "GatewayUnreachable", 503: "GatewayUnavailable", 504: "GatewayTimeout"}
	for _, r := range everyRefusal {
		shapes := []dialect{openAI, google, ollama}
		if r.code == refusedModel.code || r.code == refusedHead.code && r.status == refusedHead.status { // no path of another one, or none that was read
			shapes = shapes[:1]
		}
		for _, to := range shapes {
			if err := documented.CheckBody(responses[r.status], r.body(to)); err != nil {
				t.Errorf("%s %d: %s: %v", r.code, to, r.body(to), err)
			}
		}
	}
}
