package stats

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// TestAFailedAttemptCountsForTheUpstreamItWasMadeAt, and its time does: in the figures of the hour, of days and of alerts.
// Of calls that kept none, only the last attempt counts.
func TestAFailedAttemptCountsForTheUpstreamItWasMadeAt(t *testing.T) {
	l := newCallStore(t)
	now := time.Now().Truncate(time.Millisecond)
	batch, err := l.conn.PrepareBatch(t.Context(), `INSERT INTO calls (application_id, start_time, call_id, user_id, model, duration_ms,
		status_code, success, ended_by, batch_id, upstream_id, attempts, failed_upstream_id, failed_ms, stamped)`)
	if err != nil {
		t.Fatal(err)
	}
	add := func(upstream string, attempts uint8, success bool, took uint32, failed string, failedMs uint32) {
		t.Helper()
		at := now.Add(-time.Minute - time.Duration(took)*time.Millisecond)
		if err := batch.Append(uuid.New(), at, uuid.New(), uuid.Nil, "m", took, uint16(200), success, "complete", "batch", upstream, attempts, failed, failedMs, true); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		add("well", 2, true, 10_100, "down", 10_000)
	}
	add("well", 2, false, 300, "ill", 100)
	add("well", 2, true, 100, "", 0) // of a version before
	add("ill", 1, true, 40, "", 0)
	add("", 1, true, 50, "", 0)
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	r := l.reader(now, "")
	want := map[string]UpstreamUsage{
		"well": {UpstreamID: "well", Calls: 12, Failures: 1, P95Ms: 200},
		"down": {UpstreamID: "down", Calls: 10, Failures: 10, FailedOver: 10, P95Ms: 10_000},
		"ill":  {UpstreamID: "ill", Calls: 2, Failures: 1, FailedOver: 1, P95Ms: 100},
	}
	hour, err := r.Upstreams(t.Context(), Everyone{})
	if err != nil || len(hour.Items) != len(want) {
		t.Fatalf("%+v, %v", hour, err)
	}
	for _, u := range hour.Items {
		if !reflect.DeepEqual(u, want[u.UpstreamID]) {
			t.Errorf("of the hour: %+v", u)
		}
	}
	windows, err := r.Windows(t.Context(), ByUpstream, []string{"well", "down", "ill", "other"}, now.Add(-5*time.Minute), now)
	if err != nil || len(windows) != len(want) {
		t.Fatalf("%+v, %v", windows, err)
	}
	for id, w := range windows {
		if u := want[id]; w != (Window{u.Calls, u.Failures, u.P95Ms}) {
			t.Errorf("of alerts, %s: %+v", id, w)
		}
	}
	today, model := beijing.Today(now), "m"
	for _, who := range []Everyone{{}, {Except: []uuid.UUID{uuid.New()}}} {
		for _, of := range []*string{nil, &model} {
			ranges, err := r.UpstreamRanges(t.Context(), who, beijing.LastDays(2, today), of)
			if err != nil || ranges.All.Calls != 14 || ranges.All.Failures != 1 || ranges.All.FailedOver != 11 || len(ranges.Items) != len(want)+1 {
				t.Fatalf("%+v, %v", ranges, err)
			}
			for _, u := range ranges.Items {
				if of := want[u.UpstreamID]; u.UpstreamID != "" && (u.Calls != of.Calls || u.Failures != of.Failures || u.FailedOver != of.FailedOver || (u.P95Ms == nil) != (u.UpstreamID == "down")) {
					t.Errorf("of days: %+v", u)
				}
			}
		}
	}
}
