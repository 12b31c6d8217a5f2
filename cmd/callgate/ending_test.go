package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"callgate/internal/openapi"
)

// running is a call whose answer has begun and does not end by itself.
type running struct {
	gate *process
	body io.ReadCloser
	end  chan error
}

func (e *twoGateways) run(gate *process, t target) *running {
	e.t.Helper()
	req, _ := http.NewRequestWithContext(e.t.Context(), "POST", gate.base+"/via/"+t.capability+"/v1/hold", strings.NewReader(`{"stream":true}`))
	req.Header.Set("Authorization", "Bearer "+t.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil || resp.StatusCode != 200 {
		e.t.Fatalf("%v %v", resp, err)
	}
	r := &running{gate: gate, body: resp.Body, end: make(chan error, 1)}
	lines := bufio.NewReader(resp.Body)
	if line, err := lines.ReadString('\n'); err != nil || line != "data: 1\n" {
		e.t.Fatalf("%q %v", line, err)
	}
	go func() {
		_, err := io.Copy(io.Discard, lines)
		r.end <- err
	}()
	return r
}

// TestAnAdministratorsDisablingEndsWhatRunsOnEveryGateway within two seconds where that is asked for, also when nobody is told of the
// change and when the console that made it is killed at once; what is not to end goes on.
func TestAnAdministratorsDisablingEndsWhatRunsOnEveryGateway(t *testing.T) {
	e := newTwoGateways(t)
	e.admin.capability("ended", e.upstream.URL, upstreamKey)
	e.admin.capability("left", e.upstream.URL, upstreamKey)
	disable := func(endRunning any) object {
		wanted := object{"status": "disabled", "reason": "it calls without end"}
		if endRunning != nil {
			wanted["endRunning"] = endRunning
		}
		return wanted
	}
	alone := func(do func()) func() { // Redis, by which a change is announced, is away from the console
		return func() {
			e.deskRedis.Cut()
			defer e.deskRedis.Mend()
			do()
		}
	}
	killed := func(do func()) func() {
		return func() {
			do()
			e.console.stop(syscall.SIGKILL)
			e.startConsole()
		}
	}
	office := func(t target) string { return "/api/admin/applications/" + t.app + "/status" }
	for _, test := range []struct {
		name       string
		capability string
		change     func(target) func()
		code       string // with which what ran is recorded; empty: it goes on
	}{
		{"application", "spare", func(t target) func() {
			return func() { do[openapi.ListedApplication](e.admin, "PATCH", office(t), disable(true)) }
		}, "application_disabled"},
		{"application, not announced", "spare", func(t target) func() {
			return alone(func() { do[openapi.ListedApplication](e.admin, "PATCH", office(t), disable(true)) })
		}, "application_disabled"},
		{"application, the console killed", "spare", func(t target) func() {
			return killed(func() { do[openapi.ListedApplication](e.admin, "PATCH", office(t), disable(true)) })
		}, "application_disabled"},
		{"application disabled before", "spare", func(t target) func() {
			return func() {
				do[openapi.Application](e.dev, "PATCH", "/api/applications/"+t.app+"/status", object{"status": "disabled"})
				do[openapi.ListedApplication](e.admin, "PATCH", office(t), disable(nil))
				do[openapi.ListedApplication](e.admin, "PATCH", office(t), disable(true))
			}
		}, "application_disabled"},
		{"capability", "ended", func(target) func() {
			return func() {
				do[openapi.AdminCapability](e.admin, "PATCH", "/api/admin/capabilities/ended/status", object{"status": "disabled", "endRunning": true})
			}
		}, "capability_disabled"},
		{"application, by its owner", "spare", func(t target) func() {
			return func() {
				do[openapi.Application](e.dev, "PATCH", "/api/applications/"+t.app+"/status", object{"status": "disabled"})
			}
		}, ""},
		{"application, not to end", "spare", func(t target) func() {
			return func() { do[openapi.ListedApplication](e.admin, "PATCH", office(t), disable(false)) }
		}, ""},
		{"capability, not to end", "left", func(target) func() {
			return func() {
				do[openapi.AdminCapability](e.admin, "PATCH", "/api/admin/capabilities/left/status", object{"status": "disabled"})
			}
		}, ""},
		{"key", "spare", func(t target) func() {
			return func() { do[any](e.dev, "POST", "/api/applications/"+t.app+"/access-key/rotate", nil) }
		}, ""},
	} {
		one := e.newTarget(test.name, test.capability)
		var runs []*running
		var others []*running
		for _, gate := range e.gates {
			runs, others = append(runs, e.run(gate, one), e.run(gate, one)), append(others, e.run(gate, e.good))
		}
		began := time.Now()
		test.change(one)()
		for i, run := range runs {
			if test.code == "" {
				continue
			}
			select {
			case err := <-run.end:
				if err == nil {
					t.Errorf("%s: call %d ended as if it were whole", test.name, i)
				}
			case <-time.After(revocationBound - time.Since(began)):
				t.Errorf("%s: call %d goes on after %v", test.name, i, time.Since(began))
			}
		}
		eventually(t, revocationBound, "new calls are refused", func() error {
			for _, gate := range e.gates {
				j := &journey{process: gate, key: one.key}
				if status, _, body := j.send("POST", "/v1/json?model="+one.capability, "application/json", []byte(`{}`)); status != 403 && status != 401 {
					return fmt.Errorf("%d %s", status, body)
				}
			}
			return nil
		})
		time.Sleep(revocationBound - time.Since(began)) // for what goes on
		left := others
		if test.code == "" {
			left = append(left, runs...)
		}
		for _, run := range left {
			select {
			case err := <-run.end:
				t.Errorf("%s: a call that was not to end did: %v", test.name, err)
			default:
			}
			_ = run.body.Close() // its caller leaves
		}
		ended := map[string]int{}
		eventually(t, time.Minute, "all are recorded", func() error {
			clear(ended)
			page := do[openapi.CallPage](e.dev, "GET", "/api/statistics/applications/"+one.app+"/calls?pageSize=50", nil)
			for _, call := range page.Items {
				if call.Streamed {
					ended[call.EndedBy]++
					if call.EndedBy == "revoked" && (call.Reason == nil || call.Reason.Code != test.code || call.StatusCode != 499) {
						t.Errorf("%s: %+v %+v", test.name, call, call.Reason)
					}
				}
			}
			if ended["revoked"]+ended["client_abort"] != len(runs) {
				return fmt.Errorf("%v", ended)
			}
			return nil
		})
		if want := map[bool]int{true: len(runs)}[test.code != ""]; ended["revoked"] != want {
			t.Errorf("%s: %v", test.name, ended)
		}
	}
}
