package stats

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
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
	want := []UpstreamUsage{{UpstreamID: "busy", Calls: 100, Failures: 7, P95Ms: 95, Before: HourFigures{1, 1, &long}}, {UpstreamID: "spare", Calls: 1, P95Ms: 40}}
	if !reflect.DeepEqual(got.Items, want) || !got.Since.Equal(now.Add(-time.Hour)) {
		t.Errorf("%+v", got)
	}
}

func TestBesideCallsOfDeletedApplicationsUpstreamsAreToldOfAsManyDaysAsHoldFewCalls(t *testing.T) {
	l, now := newCallStore(t), time.Now()
	random := rand.New(rand.NewPCG(3, 4))
	today := beijing.Today(now)
	for ago := range beijing.Day(9) {
		for i := range 5 {
			l.add(randomRow(random, uuid.New(), []string{"gpt", "claude"}[i%2], (today - ago).Start().Add(time.Duration(i)*time.Millisecond)))
		}
	}
	gpt := "gpt"
	for _, at := range []struct {
		most, days, calls int64
	}{{4, 1, 3}, {9, 1, 3}, {10, 2, 6}, {29, 5, 15}, {1_000, upstreamSpan, 21}} {
		r := l.reader(now, "")
		r.upstreamCalls = at.most
		got, err := r.UpstreamRanges(t.Context(), Everyone{Except: []uuid.UUID{uuid.New()}}, beijing.LastDays(9, today), &gpt)
		if err != nil || got.From != today-beijing.Day(at.days)+1 || got.All.Calls != at.calls {
			t.Errorf("of %d calls: %d from %s, %v", at.most, got.All.Calls, got.From, err)
		}
	}
}
