package gateway

import (
	"testing"
)

func TestOurOwnAnswersAndOnlyTheyNameTheirError(t *testing.T) {
	r := newRig(t, answers("HTTP/1.1 401 No\r\nX-Callgate-Error: invalid_api_key\r\nx-callgate-anything: x\r\nX-Callgate: x\r\nContent-Length: 0\r\n\r\n"))
	for key, want := range map[string]string{"cg-made-up": "invalid_api_key", goodKey: "", "cg-disabled": "application_disabled", "cg-unsure": "access_unavailable"} {
		a := r.ask(post("/gateway/v1?model=m", key, "{}"))
		if got := a.Header["X-Callgate-Error"]; len(got) > 1 || a.Header.Get("X-Callgate-Error") != want {
			t.Errorf("%s: %d names %q, want %q", key, a.StatusCode, got, want)
		}
		if key == goodKey && a.Header.Get("X-Callgate-Anything") != "" {
			t.Errorf("the upstream speaks for us: %v", a.Header)
		}
		if key == goodKey || key == "cg-disabled" {
			r.record()
		}
	}
	if a := r.ask("GET /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\nX: a\r\n b\r\n\r\n"); a.Header.Get("X-Callgate-Error") != "invalid_request" {
		t.Errorf("malformed: %v", a.Header)
	}
}
