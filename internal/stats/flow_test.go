package stats

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// TestPagesHoldTogetherWhileCallsArrive pages through a range into which calls are written all the
// time, among them late ones with an old start: every page must be as long as its own total says,
// and afterwards every call must be reached exactly once.
func TestPagesHoldTogetherWhileCallsArrive(t *testing.T) {
	l := newCallStore(t)
	now := clocks()[0]
	random := rand.New(rand.NewPCG(5, 6))
	application := uuid.New()
	arrival := func() row {
		age := time.Duration(random.IntN(60)) * time.Second // the newest
		switch random.IntN(4) {
		case 0:
			age = time.Duration(random.IntN(5*3600)) * time.Second // a backlog, shipped late
		case 1:
			age = time.Duration(random.IntN(3*86400)) * time.Second
		}
		return randomRow(random, application, "gpt", now.Add(-age))
	}
	for range 300 {
		l.rows = append(l.rows, arrival())
	}
	if err := insert(l.conn, l.rows); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			rows := make([]row, 1+random.IntN(9))
			for i := range rows {
				rows[i] = arrival()
			}
			if err := insert(l.conn, rows); err != nil {
				t.Error(err)
				return
			}
			l.rows = append(l.rows, rows...)
		}
	})
	r := l.reader(now, "")
	r.limits = scanLimits{day: 30, hour: 60}
	q := CallsQuery{Applications: []uuid.UUID{application}, Range: beijing.LastDays(7, beijing.Today(now)), Page: 1}
	seen := int64(0)
	for range 80 {
		page, err := r.Calls(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if page.Total < seen {
			t.Errorf("total fell from %d to %d", seen, page.Total)
		}
		seen = page.Total
		checkShape(t, q, page)
		if q.Page++; int64(q.Page-1)*PageSize > page.Total {
			q.Page = 1
		}
	}
	close(stop)
	writer.Wait()
	everyCallOnce(t, l, r, q)
}

// checkShape tells whether a page is what its own total promises.
func checkShape(t testing.TB, q CallsQuery, page CallsPage) {
	t.Helper()
	want := min(q.size(), max(0, page.Total-int64(q.Page-1)*q.size()))
	if int64(len(page.Items)) != want {
		t.Errorf("page %d of %d calls has %d items, want %d", q.Page, page.Total, len(page.Items), want)
	}
	ids := map[uuid.UUID]bool{}
	for i, c := range page.Items {
		if i > 0 && c.StartTime > page.Items[i-1].StartTime {
			t.Errorf("page %d is not newest first", q.Page)
		}
		ids[c.CallID] = true
	}
	if len(ids) != len(page.Items) {
		t.Errorf("page %d holds a call twice", q.Page)
	}
}

func everyCallOnce(t *testing.T, l *callStore, r *Reader, q CallsQuery) {
	t.Helper()
	reached := map[uuid.UUID]int{}
	for q.Page = 1; ; q.Page++ {
		page, err := r.Calls(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		checkShape(t, q, page)
		if len(page.Items) == 0 {
			break
		}
		for _, c := range page.Items {
			reached[c.CallID]++
		}
	}
	for _, c := range l.rows {
		if reached[c.id] != 1 {
			t.Errorf("the call of %s was reached %d times", beijing.Format(c.start), reached[c.id])
		}
	}
	if len(reached) != len(l.rows) {
		t.Errorf("%d calls reached, %d written", len(reached), len(l.rows))
	}
}

func TestALateCallIsFoundInAnHourCountedBefore(t *testing.T) {
	l := newCallStore(t)
	now := clocks()[0]
	application := uuid.New()
	random := rand.New(rand.NewPCG(9, 10))
	hourStart := now.Truncate(time.Hour).Add(-48 * time.Hour)
	for range 60 {
		l.rows = append(l.rows, randomRow(random, application, "gpt", hourStart.Add(time.Duration(random.IntN(3_600_000))*time.Millisecond)))
	}
	if err := insert(l.conn, l.rows); err != nil {
		t.Fatal(err)
	}
	r := l.reader(now, "")
	r.limits = scanLimits{day: 1, hour: 1}
	q := CallsQuery{Applications: []uuid.UUID{application}, Range: beijing.LastDays(7, beijing.Today(now))}
	everyCallOnce(t, l, r, q)
	l.add(randomRow(random, application, "gpt", hourStart.Add(30*time.Minute)))
	everyCallOnce(t, l, r, q)
}

func TestEveryPageOfALargeHourIsFound(t *testing.T) {
	l := newCallStore(t)
	now := clocks()[0]
	application := uuid.New()
	hourStart := now.Truncate(time.Hour).Add(-24 * time.Hour)
	const calls = 450_000
	err := l.conn.Exec(t.Context(), `INSERT INTO calls (application_id, start_time, call_id, user_id, model, duration_ms, status_code, success, ended_by)
		SELECT {application:UUID}, fromUnixTimestamp64Milli({start:Int64} + intDiv(number * 3600000, {calls:Int64})), generateUUIDv4(), generateUUIDv4(), 'gpt', 5, 200, true, 'complete'
		FROM numbers({calls:Int64})`, args("application", application, "start", hourStart.UnixMilli(), "calls", int64(calls))...)
	if err != nil {
		t.Fatal(err)
	}
	r := l.reader(now, "")
	q := CallsQuery{Applications: []uuid.UUID{application}, Range: beijing.LastDays(366, beijing.Today(now))}
	for _, page := range []int{1, 2, calls / 20, calls/20 + 1, calls/10 - 1, calls / 10} {
		q.Page = page
		got, err := r.Calls(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		checkShape(t, q, got)
		first := int64(page-1) * PageSize // from the newest, one call every 8 ms
		want := beijing.Format(hourStart.Add(time.Duration((calls-1-first)*3_600_000/calls) * time.Millisecond))
		if got.Total != calls || len(got.Items) == 0 || got.Items[0].StartTime != want {
			t.Errorf("page %d of %d starts at %v, want %s", page, got.Total, got.Items[0].StartTime, want)
		}
	}
}
