package stats

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestUpstreamsAreCountedOverTheLastHour(t *testing.T) {
	l := newCallStore(t)
	now := time.Now().Truncate(time.Second)
	batch, err := l.conn.PrepareBatch(context.Background(), `INSERT INTO calls (application_id, start_time, call_id, user_id, model, duration_ms,
		status_code, success, ended_by, batch_id, upstream_id, attempts)`)
	if err != nil {
		t.Fatal(err)
	}
	add := func(upstream string, attempts uint8, success bool, ago time.Duration, took uint32) {
		if err := batch.Append(uuid.New(), now.Add(-ago), uuid.New(), uuid.Nil, "m", took, uint16(200), success, "complete", "batch", upstream, attempts); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		add("busy", 1, i >= 7, time.Duration(i)*30*time.Second, uint32(i+1))
	}
	add("spare", 2, true, time.Minute, 40)
	add("busy", 1, false, 61*time.Minute, 9999) // too long ago
	add("", 1, true, time.Minute, 9999)         // of a capability's own address
	add("", 0, false, time.Minute, 9999)        // refused
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	got, err := l.reader(now, "").Upstreams(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []UpstreamUsage{{UpstreamID: "busy", Calls: 100, Failures: 7, P95Ms: got.Items[0].P95Ms}, {UpstreamID: "spare", Calls: 1, FailedOver: 1, P95Ms: 40}}
	if !reflect.DeepEqual(got.Items, want) || got.Items[0].P95Ms < 94 || got.Items[0].P95Ms > 97 || !got.Since.Equal(now.Add(-time.Hour)) {
		t.Errorf("%+v", got)
	}
}
