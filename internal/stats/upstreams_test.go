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
	var last uuid.UUID
	add := func(upstream string, attempts uint8, success bool, ago time.Duration, took uint32) {
		last = uuid.New()
		if err := batch.Append(last, now.Add(-ago), uuid.New(), uuid.Nil, "m", took, uint16(200), success, "complete", "batch", upstream, attempts); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		add("busy", 1, i >= 7, time.Duration(i)*30*time.Second, uint32(i+1))
	}
	add("spare", 2, true, time.Minute, 40)
	add("busy", 1, false, 61*time.Minute, 9999)  // the hour before
	add("busy", 1, false, 121*time.Minute, 9999) // too long ago
	add("spare", 1, false, time.Minute, 1)
	except := last
	add("", 1, true, time.Minute, 9999)  // of a capability's own address
	add("", 0, false, time.Minute, 9999) // refused
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	got, err := l.reader(now, "").Upstreams(t.Context(), Everyone{Except: []uuid.UUID{except}})
	if err != nil {
		t.Fatal(err)
	}
	long := int64(9999)
	want := []UpstreamUsage{{UpstreamID: "busy", Calls: 100, Failures: 7, P95Ms: 95, Before: HourFigures{1, 1, &long}}, {UpstreamID: "spare", Calls: 1, FailedOver: 1, P95Ms: 40}}
	if !reflect.DeepEqual(got.Items, want) || !got.Since.Equal(now.Add(-time.Hour)) {
		t.Errorf("%+v", got)
	}
}
