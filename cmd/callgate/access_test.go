package main

import (
	"strings"
	"testing"
)

// TestForeignApplicationsAnswerAsAbsentOnes compares the two answers byte for byte, but for the
// request id (spec section 5, rule 2).
func TestForeignApplicationsAnswerAsAbsentOnes(t *testing.T) {
	p := startDev(t, map[string]string{})
	owner, other := p.developer("owner@example.com"), p.developer("other@example.com")
	app, _ := owner.application("Private", "demo-chat")
	const absent = "01920000-0000-7000-8000-000000000000"
	for _, route := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/api/applications/ID", nil},
		{"PATCH", "/api/applications/ID", object{"name": "Mine now"}},
		{"DELETE", "/api/applications/ID", nil},
		{"GET", "/api/applications/ID/access-key", nil},
		{"POST", "/api/applications/ID/access-key/rotate", nil},
		{"PATCH", "/api/applications/ID/status", object{"status": "disabled"}},
		{"PATCH", "/api/applications/ID/capabilities/demo-chat", nil},
		{"GET", "/api/statistics/applications/ID", nil},
		{"GET", "/api/statistics/applications/ID/calls", nil},
		{"GET", "/api/statistics/applications/ID/calls/" + absent, nil},
	} {
		foreignStatus, foreign := other.try(route.method, strings.Replace(route.path, "ID", app, 1), route.body)
		absentStatus, none := other.try(route.method, strings.Replace(route.path, "ID", absent, 1), route.body)
		if foreign.RequestID == "" || foreign.RequestID == none.RequestID {
			t.Errorf("%s %s: request ids %q and %q", route.method, route.path, foreign.RequestID, none.RequestID)
		}
		foreign.RequestID, none.RequestID = "", ""
		if foreignStatus != 404 || absentStatus != 404 || foreign.Code != 40401 || foreign.Msg != none.Msg || string(foreign.Data) != string(none.Data) {
			t.Errorf("%s %s: foreign %d %+v, absent %d %+v", route.method, route.path, foreignStatus, foreign, absentStatus, none)
		}
	}
	kept := do[struct{ Name, Status string }](owner, "GET", "/api/applications/"+app, nil)
	if kept.Name != "Private" || kept.Status != "active" {
		t.Errorf("the application was changed by somebody else: %+v", kept)
	}
}
