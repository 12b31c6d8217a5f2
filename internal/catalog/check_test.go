package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

const canary = "sk-canary-of-the-check"

// answering is an upstream that notes what it was asked and answers with status, repeating the key.
func answering(t *testing.T, status int) (baseURL string, asked *string) {
	t.Helper()
	asked = new(string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"),
			r.Header.Get("Api-Key"), r.Header.Get("Anthropic-Version"), " ", string(body))
		w.Header().Set("Location", "/"+canary)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "no such key: "+canary)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func (w *world) check(r CheckRequest) CheckResult {
	w.T.Helper()
	result, err := w.Check(w.Ctx, admin, r)
	if err != nil {
		w.T.Fatal(err)
	}
	if strings.Contains(fmt.Sprint(result), "canary") {
		w.T.Fatalf("the result shows the key: %+v", result)
	}
	return result
}

func TestACheckSendsOneSmallestRequestInTheStyleOfThePath(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ path, auth, want string }{
		{"/v1/chat/completions", "bearer",
			`POST /v1/chat/completions Bearer ` + canary + ` {"messages":[{"content":"Reply with OK.","role":"user"}],"model":"m"}`},
		{"/v1/messages", "x-api-key",
			`POST /v1/messages ` + canary + `2023-06-01 {"max_tokens":1,"messages":[{"content":"Reply with OK.","role":"user"}],"model":"m"}`},
		{"/v1/embeddings", "api-key", `POST /v1/embeddings ` + canary + ` {"input":"Reply with OK.","model":"m"}`},
		{"/v1/completions", "bearer", `POST /v1/completions Bearer ` + canary + ` {"max_tokens":1,"model":"m","prompt":"Reply with OK."}`},
		{"/v1/responses", "bearer", `POST /v1/responses Bearer ` + canary + ` {"input":"Reply with OK.","max_output_tokens":16,"model":"m"}`},
		{"/v1/models", "bearer", `GET /v1/models Bearer ` + canary + ` `},
		{"", "bearer", `GET / Bearer ` + canary + ` `},
	} {
		base, asked := answering(t, 200)
		result := w.check(CheckRequest{UpstreamBaseURL: &base, UpstreamAuth: &c.auth, UpstreamKey: new(canary),
			UpstreamModel: new("m"), DefaultPath: &c.path})
		if !result.OK || result.Stage != StageHTTP || result.Status != 200 || result.DurationMs < 0 {
			t.Errorf("%s: %+v", c.path, result)
		}
		if *asked != c.want {
			t.Errorf("asked %s\nwant  %s", *asked, c.want)
		}
	}
}

func TestAnyAnswerCountsAsReachedAndOnlyA2xxAsOK(t *testing.T) {
	w := newWorld(t)
	for _, status := range []int{204, 302, 400, 401, 404, 429, 500, 503} {
		base, _ := answering(t, status)
		result := w.check(CheckRequest{UpstreamBaseURL: &base, UpstreamKey: new(canary), DefaultPath: new("/v1/chat/completions")})
		if result.OK != (status == 204) || result.Stage != StageHTTP || result.Status != status || result.Message == "" {
			t.Errorf("%d: %+v", status, result)
		}
	}
}

func TestACheckDoesNotFollowARedirect(t *testing.T) {
	w := newWorld(t)
	elsewhere, asked := answering(t, 200)
	for _, status := range []int{301, 302, 303, 307, 308} {
		redirecting := httptest.NewServer(http.RedirectHandler(elsewhere, status))
		result := w.check(CheckRequest{UpstreamBaseURL: &redirecting.URL, UpstreamKey: new(canary)})
		redirecting.Close()
		if result.OK || result.Status != status || *asked != "" {
			t.Errorf("%d: %+v, asked %q elsewhere", status, result, *asked)
		}
	}
}

func TestACheckTellsHowFarItCame(t *testing.T) {
	w := newWorld(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	selfSigned := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(selfSigned.Close)
	rude, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rude.Close() })
	go func() {
		for {
			conn, err := rude.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	for base, stage := range map[string]Stage{
		"http://" + closed.Addr().String(): StageConnect,
		selfSigned.URL:                     StageTLS,
		"http://" + rude.Addr().String():   StageHTTP,
		"http://nothing-here.invalid":      StageDNS,
	} {
		result := w.check(CheckRequest{UpstreamBaseURL: &base, UpstreamKey: new(canary)})
		if result.OK || result.Stage != stage || result.Status != 0 || result.Message == "" || strings.Contains(result.Message, "127.0.0.1") {
			t.Errorf("%s: %+v", base, result)
		}
	}
}

func TestACheckOfASilentUpstreamEnds(t *testing.T) {
	w := newWorld(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	ctx, cancel := context.WithTimeout(w.Ctx, 200*time.Millisecond)
	defer cancel()
	base := "http://" + silent.Addr().String()
	result, err := w.Check(ctx, admin, CheckRequest{UpstreamBaseURL: &base, UpstreamKey: new(canary)})
	if err != nil || result.OK || result.Stage != StageHTTP || !strings.Contains(result.Message, "in time") || result.DurationMs > checkTimeout.Milliseconds() {
		t.Fatalf("%+v, %v", result, err)
	}
}

// refusing is an upstream that answers 400 to a body with any of the parameters, as providers do.
func refusing(t *testing.T, parameters ...string) (baseURL string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			w.WriteHeader(400)
		}
		for _, name := range parameters {
			if body[name] != nil {
				w.WriteHeader(400)
				_, _ = fmt.Fprintf(w, `{"error":{"message":"Unsupported parameter: '%s' is not supported with this model."}}`, name)
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestACheckIsTakenByEveryKindOfModel(t *testing.T) {
	w := newWorld(t)
	for kind, base := range map[string]string{
		"a reasoning model":      refusing(t, "max_tokens"),
		"a strict older server":  refusing(t, "max_completion_tokens", "max_output_tokens"),
		"one that cannot stream": refusing(t, "stream"),
	} {
		if result := w.check(CheckRequest{UpstreamBaseURL: &base, UpstreamKey: new(canary), UpstreamModel: new("m"), DefaultPath: new("/v1/chat/completions")}); !result.OK {
			t.Errorf("%s: %+v", kind, result)
		}
	}
}

func TestACheckWithoutAKeyUsesTheStoredOneAndIsRecorded(t *testing.T) {
	w := newWorld(t)
	w.group("g", 0)
	base, asked := answering(t, 200)
	w.capabilityAt(base, "a", "g", 0)
	elsewhere := base + "/other/path"
	for _, r := range []CheckRequest{{ID: new("a")}, {ID: new("a"), UpstreamBaseURL: &elsewhere, UpstreamKey: new("")}} {
		*asked = ""
		if result := w.check(r); !result.OK || !strings.Contains(*asked, "Bearer sk-canary-a") {
			t.Fatalf("%+v, asked %s", result, *asked)
		}
	}
	entry, total := w.lastEntry()
	if entry.Action != "capability.check" || entry.Actor != admin || entry.TargetID != "a" || fmt.Sprint(entry.Changes) != "[{sentTo <nil> "+elsewhere+"}]" {
		t.Fatalf("recorded %+v", entry)
	}
	if result := w.check(CheckRequest{ID: new("a"), UpstreamBaseURL: &base, UpstreamKey: new(canary)}); !result.OK || !strings.Contains(*asked, canary) {
		t.Fatalf("%+v, asked %s", result, *asked)
	}
	if _, now := w.lastEntry(); now != total {
		t.Fatal("a check with a key of its own was recorded")
	}
	// A capability about to be created has an identifier but no stored key.
	if result := w.check(CheckRequest{ID: new("new"), UpstreamBaseURL: &base, UpstreamKey: new(canary)}); !result.OK {
		t.Fatalf("%+v", result)
	}
	_, err := w.Check(w.Ctx, admin, CheckRequest{ID: new("new"), UpstreamBaseURL: &base})
	databasetest.MustFail(t, err, fault.Invalid, "upstreamKey")
	_, err = w.Check(w.Ctx, admin, CheckRequest{})
	databasetest.MustFail(t, err, fault.Invalid, "upstreamBaseUrl", "upstreamKey")
	_, err = w.Check(w.Ctx, admin, CheckRequest{UpstreamBaseURL: new("x"), UpstreamAuth: new("x"), UpstreamKey: new("\n"), DefaultPath: new("x")})
	databasetest.MustFail(t, err, fault.Invalid, "upstreamBaseUrl", "upstreamAuth", "upstreamKey", "defaultPath")
}

func TestACheckNeverDialsAPrivateAddressUnlessAllowed(t *testing.T) {
	w := newWorld(t)
	w.group("g", 0)
	w.capability("a", "g", 0)
	base, asked := answering(t, 200)
	// Saved while private addresses were allowed: only the dialler can refuse it now.
	w.Exec(`UPDATE capabilities SET upstream_base_url = $1`, base)
	result, err := New(w.Pool, w.Ring, false).Check(w.Ctx, admin, CheckRequest{ID: new("a")})
	if err != nil || result.OK || result.Stage != StageConnect || !strings.Contains(result.Message, "not public") || *asked != "" {
		t.Fatalf("%+v, %v, asked %q", result, err, *asked)
	}
}

func TestAKeyMovedToAnotherCapabilityDoesNotOpen(t *testing.T) {
	w := newWorld(t)
	w.group("g", 0)
	w.capability("a", "g", 0)
	w.capability("b", "g", 0)
	w.Exec(`UPDATE capabilities SET upstream_key = (SELECT upstream_key FROM capabilities WHERE id = 'a') WHERE id = 'b'`)
	if result, err := w.Check(w.Ctx, admin, CheckRequest{ID: new("b")}); fault.KindOf(err) != fault.Internal || err == nil {
		t.Fatalf("%+v, %v", result, err)
	}
}
