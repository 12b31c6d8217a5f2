package console

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"callgate/internal/openapi"
)

// TestACallTellsItsAttempts: its owner by number, status, reason and duration, an administrator by upstream too.
func TestACallTellsItsAttempts(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	dev := w.developer("dev")
	app := w.application(dev, "Search")
	w.admin.must(201, "POST", "/api/admin/upstreams", `{"id":"up-well","name":"Well","baseUrl":"https://well.example.com","key":"sk-1","auth":"bearer","skipCheck":true}`)
	moved, refused, once := w.called(app, "gpt", time.Minute, 1000, 200), w.called(app, "gpt", 2*time.Minute, 500, 429), w.called(app, "gpt", 3*time.Minute, 10, 200)
	w.exec(`ALTER TABLE calls UPDATE upstream_id = 'up-well', attempts = 2, failed_upstream_id = 'up-gone', failed_status = if(success, 0, 503), failed_ms = 400,
		failed_reason = if(success, 'upstream_timeout', 'upstream_status') WHERE call_id IN ($1, $2) SETTINGS mutations_sync = 1`, moved.String(), refused.String())
	for id, want := range map[string]string{
		moved.String():   `[{"status":null,"reason":"upstream_timeout","durationMs":400},{"status":200,"reason":null,"durationMs":600}]`,
		refused.String(): `[{"status":503,"reason":"upstream_status","durationMs":400},{"status":429,"reason":"upstream_status","durationMs":100}]`,
		once.String():    `[]`,
	} {
		own := dev.must(200, "GET", "/api/calls/"+id, "")
		same(t, own, map[string]string{"attemptList": want})
		if strings.Contains(own.raw, "up-gone") || strings.Contains(own.raw, "Well") {
			t.Errorf("its owner is told where it failed: %s", own.raw)
		}
		facts := w.admin.must(200, "GET", "/api/admin/calls/"+id, "")
		upstreams := `[{"id":"up-gone","name":null},{"id":"up-well","name":"Well"}]`
		if want == "[]" {
			upstreams = want
		}
		same(t, facts, map[string]string{"attemptList": want, "attemptUpstreams": upstreams})
	}
	page := dev.must(200, "GET", "/api/statistics/applications/"+app+"/calls", "")
	items := field[[]json.RawMessage](t, page, "items")
	var newest openapi.Call
	if err := json.Unmarshal(items[0], &newest); err != nil || newest.CallID != moved || len(newest.AttemptList) != 2 {
		t.Errorf("%v: %s", err, page.raw)
	}
}
