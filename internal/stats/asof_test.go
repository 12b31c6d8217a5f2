package stats

import (
	"bytes"
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/retention"
)

// arrive inserts calls as the shipper does: the server notes when.
func (l *callStore) arrive(rows []row) error {
	ctx := clickhouse.Context(context.Background(), clickhouse.WithSettings(clickhouse.Settings{"max_partitions_per_insert_block": 0}))
	batch, err := l.conn.PrepareBatch(ctx, `INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success,
		streamed, first_byte_ms, ended_by, reason_type, reason_code, stamped)`)
	if err != nil {
		return err
	}
	for _, c := range rows {
		if err := batch.Append(c.application, c.start, c.id, c.model, c.durationMs, c.status, c.success, c.streamed,
			c.firstByteMs, c.endedBy, c.reasonType, c.reasonCode, true); err != nil {
			return err
		}
	}
	return batch.Send()
}

// TestPagesOfOneInstantHoldEveryCallOnceWhileCallsArrive turns all pages of lists that begin one after
// another while calls are recorded, new ones and late ones with a start of up to a day ago.
func TestPagesOfOneInstantHoldEveryCallOnceWhileCallsArrive(t *testing.T) {
	l := newCallStore(t)
	now := time.Now()
	random := rand.New(rand.NewPCG(13, 14))
	application := uuid.New()
	arrival := func() row {
		age := []time.Duration{time.Duration(random.IntN(60)) * time.Second, time.Duration(random.IntN(9*3600)) * time.Second,
			time.Duration(random.IntN(86_000)) * time.Second}[random.IntN(3)]
		return randomRow(random, application, testModels[random.IntN(3)], now.Add(-age))
	}
	var before []row
	for range 120 {
		before = append(before, arrival())
	}
	if err := insert(l.conn, before); err != nil { // of a version that did not note when
		t.Fatal(err)
	}
	recorded := before // grows under mu; a batch is in it before it can be seen
	var mu sync.Mutex
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			rows := []row{arrival(), arrival(), arrival()}
			mu.Lock()
			recorded = append(recorded, rows...)
			mu.Unlock()
			if err := l.arrive(rows); err != nil {
				t.Error(err)
				return
			}
		}
	})
	r := l.reader(now, "")
	r.now = time.Now
	gpt, arrived := "gpt", 0
	for i, q := range []CallsQuery{{}, {Result: OnlyFailures}, {Model: &gpt}, {Model: &gpt, Result: OnlySuccesses}, {}} {
		r.limits = []scanLimits{defaultScanLimits, {day: 20, hour: 3}}[i%2]
		q.Applications, q.Range = []uuid.UUID{application}, beijing.LastDays(7, beijing.Today(now))
		arrived += l.turnAll(r, q, func() []row {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(recorded)
		})
	}
	close(stop)
	writer.Wait()
	if arrived == 0 {
		t.Error("no call arrived while pages were turned")
	}
}

// turnAll turns the pages of one list and checks that they hold together. It returns how many calls
// were recorded meanwhile.
func (l *callStore) turnAll(r *Reader, q CallsQuery, recorded func() []row) (arrived int) {
	l.t.Helper()
	known := len(recorded())
	seen := map[uuid.UUID]bool{}
	var first CallsPage
	var got []OwnedCall
	for q.Page = 1; ; q.Page++ {
		page, err := r.Calls(l.t.Context(), q)
		if err != nil {
			l.t.Fatal(err)
		}
		if q.Page == 1 {
			first, q.Until = page, &page.Until
		}
		if page.Total != first.Total || page.Summary != first.Summary || !page.Until.Equal(first.Until) {
			l.t.Errorf("page %d: %d calls, %+v, as of %s; page 1: %d, %+v, %s", q.Page, page.Total, page.Summary, page.Until, first.Total, first.Summary, first.Until)
		}
		checkShape(l.t, q, page)
		for _, c := range page.Items {
			if seen[c.CallID] {
				l.t.Errorf("page %d repeats the call of %s", q.Page, c.StartTime)
			}
			seen[c.CallID] = true
		}
		if len(page.Items) == 0 {
			break
		}
		got = append(got, page.Items...)
	}
	all := recorded()
	listed := &callStore{rows: slices.DeleteFunc(all, func(c row) bool { return !seen[c.id] && (q.Model == nil || c.model == *q.Model) && matchesResult(q, c) })}
	want, _ := listed.selected(q, 0)
	if len(want) != len(got) {
		l.t.Fatalf("%d calls on the pages, %d of them were recorded", len(got), len(want))
	}
	for i, c := range want {
		if !reflect.DeepEqual(got[i], c.asCall()) {
			l.t.Errorf("call %d is %+v, want %+v", i, got[i], c.asCall())
		}
	}
	return len(recorded()) - known
}

func matchesResult(q CallsQuery, c row) bool {
	return q.Result == AnyResult || c.success == (q.Result == OnlySuccesses)
}

func TestAListThatBeganNowHoldsEveryCallRecordedBefore(t *testing.T) {
	l := newCallStore(t)
	now := time.Now()
	random := rand.New(rand.NewPCG(1, 2))
	application := uuid.New()
	r := l.reader(now, "")
	r.now = time.Now
	q := CallsQuery{Applications: []uuid.UUID{application}, Range: beijing.LastDays(30, beijing.Today(now)), Page: 1}
	for i := range 30 {
		c := randomRow(random, application, "gpt", now.Add(-time.Duration(random.IntN(29*86400))*time.Second))
		if err := l.arrive([]row{c}); err != nil {
			t.Fatal(err)
		}
		page, err := r.Calls(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if page.Total != int64(i+1) || page.Until.After(time.Now().Add(time.Second)) {
			t.Fatalf("%d calls as of %s, %d were recorded", page.Total, page.Until, i+1)
		}
	}
	for _, until := range []time.Time{now.Add(-25 * time.Hour), now.Add(time.Hour)} { // out of bounds: begins anew
		q.Until = &until
		page, err := r.Calls(t.Context(), q)
		if err != nil || page.Total != 30 || page.Until.Equal(until) {
			t.Errorf("until %s: %d calls as of %s, %v", until, page.Total, page.Until, err)
		}
	}
}

// TestAGatewayWhoseClockIsHoursAheadIsListed has calls that start after they are recorded.
func TestAGatewayWhoseClockIsHoursAheadIsListed(t *testing.T) {
	l := newCallStore(t)
	now := time.Now()
	random := rand.New(rand.NewPCG(5, 6))
	today := beijing.Today(now)
	for i, limits := range []scanLimits{defaultScanLimits, {day: 3, hour: 3}} {
		q := CallsQuery{Applications: []uuid.UUID{uuid.New()}, Range: beijing.Range{Start: today - 1, End: today + 1}, Page: 1}
		var rows []row
		for n := range 8 {
			rows = append(rows, randomRow(random, q.Applications[0], "gpt", now.Add(time.Hour+time.Duration(n)*30*time.Minute)))
		}
		if err := l.arrive(rows); err != nil {
			t.Fatal(err)
		}
		r := l.reader(now, "")
		r.now, r.limits = time.Now, limits
		if page, err := r.Calls(t.Context(), q); err != nil || page.Total != 8 || len(page.Items) != 8 {
			t.Errorf("round %d: %d calls, %d on the page, %v", i, page.Total, len(page.Items), err)
		}
	}
}

// TestAJumpFindsThePageOfAnInstant compares with the position in the list of all calls.
func TestAJumpFindsThePageOfAnInstant(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	now := clocks()[0]
	l, applications := randomCallStore(t, random, now)
	r := l.reader(now, "?session_timezone=America/Los_Angeles")
	for i := range 60 {
		r.limits = []scanLimits{defaultScanLimits, {day: 5, hour: 20}, {day: 50, hour: 2}}[i%3]
		q := CallsQuery{Applications: []uuid.UUID{applications[i%4]}, Range: randomRange(random, beijing.Today(now)), Result: []Result{AnyResult, OnlyFailures}[i%2]}
		if i%5 == 0 {
			q.Model = &testModels[1]
		}
		matching, _ := l.selected(q, retention.Default.StatisticsFrom(beijing.Today(now)))
		at := q.Range.Start.Start().Add(time.Duration(random.Int64N(int64(q.Range.Days()+1) * int64(24*time.Hour)))).Truncate(time.Millisecond)
		if len(matching) > 0 && random.IntN(2) == 0 {
			at = matching[random.IntN(len(matching))].start.Add(time.Duration(random.IntN(3)-1) * time.Millisecond)
		}
		q.At = &at
		first := slices.IndexFunc(matching, func(c row) bool { return !c.start.After(at) })
		if first < 0 {
			first = max(len(matching)-1, 0)
		}
		page, err := r.Calls(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		want := first/PageSize + 1
		if page.Page != want || page.Total != int64(len(matching)) {
			t.Errorf("%s in %v: page %d of %d calls, want page %d of %d", beijing.Format(at), q, page.Page, page.Total, want, len(matching))
			continue
		}
		for i, c := range matching[(want-1)*PageSize : min(want*PageSize, len(matching))] {
			if i >= len(page.Items) || !bytes.Equal(page.Items[i].CallID[:], c.id[:]) {
				t.Errorf("page %d of %v is not the one asked for", want, q)
				break
			}
		}
	}
}

// TestAnHourThatComesTwiceIsOneOfTwo asks about the two hours that a clock of the server's zone shows alike when summer ends
// there. A shard that is asked gets instants as texts.
func TestAnHourThatComesTwiceIsOneOfTwo(t *testing.T) {
	now := time.Now()
	winter := time.Date(now.Year(), time.November, 1, 9, 0, 0, 0, time.UTC) // one o'clock again in Los Angeles, on a Sunday
	if winter.AddDate(0, 0, 8).After(now) {
		winter = winter.AddDate(-1, 0, 0)
	}
	for winter.Weekday() != time.Sunday {
		winter = winter.AddDate(0, 0, 1)
	}
	l, application := newCallStore(t), uuid.New()
	for hours := -3; hours <= 2; hours++ {
		c := randomRow(rand.New(rand.NewPCG(1, 2)), application, "gpt", winter.Add(time.Duration(hours)*time.Hour+16*time.Minute))
		c.success = hours%2 == 0
		l.add(c)
	}
	r := l.reader(now, "?session_timezone=America/Los_Angeles")
	r.limits = scanLimits{day: 2, hour: 2}
	day := beijing.DayOf(winter)
	for _, result := range []Result{AnyResult, OnlySuccesses, OnlyFailures} {
		q := CallsQuery{Applications: []uuid.UUID{application}, Range: beijing.Range{Start: day, End: day}, Result: result, Page: 1}
		want, _ := l.selected(q, day)
		if page, err := r.Calls(t.Context(), q); err != nil || len(page.Items) != len(want) {
			t.Errorf("result %v: %d calls instead of %d, %v", result, len(page.Items), len(want), err)
		}
	}
	for hours := -3; hours <= 2; hours++ {
		from := winter.Add(time.Duration(hours) * time.Hour)
		to := from.Add(time.Hour)
		q := CallsQuery{Applications: []uuid.UUID{application}, Range: beijing.Range{Start: day, End: day}, From: &from, To: &to, Page: 1}
		page, err := r.Calls(t.Context(), q)
		if err != nil || len(page.Items) != 1 || page.Items[0].StartTime != beijing.Format(from.Add(16*time.Minute)) {
			t.Errorf("the hour from %s: %+v, %v", from, page.Items, err)
		}
	}
}

// TestAListHoldsWhatWasRecordedByItsInstant asks for lists of before and after some calls were recorded, in turns, of calls of
// today and of the day before.
func TestAListHoldsWhatWasRecordedByItsInstant(t *testing.T) {
	l := newCallStore(t)
	now := time.Now()
	application, gpt := uuid.New(), "gpt"
	recorded := func(n int, at time.Time) {
		batch, err := l.conn.PrepareBatch(t.Context(), `INSERT INTO calls (application_id, start_time, call_id, model, status_code, success, stamped, recorded_at)`)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			start := now.Add(-3 * unsettled).Add(-time.Duration(i%2) * 20 * time.Hour)
			if err := batch.Append(application, start, uuid.New(), gpt, uint16(200), true, true, at); err != nil {
				t.Fatal(err)
			}
		}
		if err := batch.Send(); err != nil {
			t.Fatal(err)
		}
	}
	recorded(70, now.Add(-8*unsettled))
	recorded(30, now.Add(-4*unsettled))
	r := l.reader(now, "")
	r.now = time.Now
	between := now.Add(-6 * unsettled)
	for _, model := range []*string{nil, &gpt} {
		for _, list := range []struct {
			until *time.Time
			want  int64
		}{{&between, 70}, {nil, 100}, {&between, 70}} {
			q := CallsQuery{Applications: []uuid.UUID{application}, Range: beijing.LastDays(7, beijing.Today(now)), Page: 7, Model: model, Until: list.until}
			page, err := r.Calls(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if page.Total != list.want || page.Summary.Calls != list.want || len(page.Items) != PageSize {
				t.Errorf("as of %v: %d calls, of all %d, %d on page 7, want %d", list.until, page.Total, page.Summary.Calls, len(page.Items), list.want)
			}
		}
	}
}
