package ledger_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/spool"
	"callgate/internal/embedded"
	"callgate/internal/fault"
)

func TestThroughOfAnIdleSpoolIsAtMostTwoSecondsOld(t *testing.T) {
	s := openStores(t)
	s.Record(t, spool.Config{})
	for deadline := time.Now().Add(2500 * time.Millisecond); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		through := s.Through(t)
		if age := time.Since(through); age > 2*time.Second || age < 0 {
			t.Fatalf("through is %s old", age)
		}
	}
}

func TestThroughUnderLoadIsFreshAndNeverPromisesACallThatIsNotCounted(t *testing.T) {
	s := openStores(t)
	r := s.Record(t, spool.Config{})
	var oldest time.Duration
	var promised []promise
	added := 0
	for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); {
		for range 50 {
			end := time.Now()
			call := callstest.Success(end.Add(-10 * time.Millisecond))
			call.Duration = 10 * time.Millisecond
			r.Add(call)
			added++
			time.Sleep(time.Millisecond)
		}
		through := s.Through(t)
		oldest = max(oldest, time.Since(through))
		// Every call that ended before through is there: as many as were handed over by then.
		var there uint64
		err := s.Conn.QueryRow(t.Context(), `SELECT countIf(start_time + INTERVAL 10 MILLISECOND < fromUnixTimestamp64Milli(?)) FROM calls`,
			through.UnixMilli()).Scan(&there)
		if err != nil {
			t.Fatal(err)
		}
		promised = append(promised, promise{through, int64(there)})
	}
	if oldest > 20*time.Second { // it goes on; how fresh it is on a quiet machine the benchmarks measure
		t.Errorf("through was up to %s old", oldest)
	}
	if err := ledgertest.Shut(r); err != nil {
		t.Fatal(err)
	}
	for _, p := range promised {
		if n := s.Number(t, `SELECT toInt64(countIf(start_time + INTERVAL 10 MILLISECOND < fromUnixTimestamp64Milli(?))) FROM calls`, p.through.UnixMilli()); n != p.there {
			t.Errorf("through %s promised %d calls, there were %d", p.through, n, p.there)
		}
	}
	if n := s.Counted(t); n != int64(added) {
		t.Errorf("%d of %d calls are counted", n, added)
	}
	t.Logf("through was up to %s old", oldest)
}

type promise struct {
	through time.Time
	there   int64
}

func TestThroughStaysBeforeWhatIsNotShippedAndNeverGoesBack(t *testing.T) {
	t.Parallel()
	link := embedded.NewLink(t, embedded.ClickHouse(t))
	s := connect(t, link.URL(), embedded.Postgres(t))
	dir := t.TempDir()
	r := s.Record(t, spool.Config{Dir: dir})
	link.Cut()
	first := callstest.Success(time.Now())
	first.Duration = 0
	ended := first.Start
	r.Add(first)
	callstest.Eventually(t, "through waits for the call", func() bool {
		return s.Through(t).Equal(ended.Truncate(time.Millisecond))
	})
	r.Add(callstest.Success(time.Now().Add(-time.Hour))) // an old one comes late
	callstest.Eventually(t, "it is spooled", func() bool { return r.Written() == 2 })
	time.Sleep(1200 * time.Millisecond) // more than one report
	if through := s.Through(t); !through.Equal(ended.Truncate(time.Millisecond)) {
		t.Errorf("through moved from %s to %s", ended, through)
	}
	link.Mend()
	callstest.Eventually(t, "through goes on", func() bool { return time.Since(s.Through(t)) < 2*time.Second })
}

func TestADeadSpoolHoldsThroughBackUntilItIsAdoptedOrRetired(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	known := ledger.New(s.Pool)
	died := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	adopted, forsaken := uuid.New(), uuid.New()
	for _, id := range []uuid.UUID{adopted, forsaken} {
		if _, err := s.Pool.Exec(t.Context(), `INSERT INTO spools (id, node, through, updated_at) VALUES ($1, 'dead', $2, now() - interval '1 hour')`, id, died); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	ledgertest.Spooled(t, dir, ledgertest.Many(10)...)
	ledgertest.Rename(t, dir, adopted)
	if err := ledgertest.Shut(s.Record(t, spool.Config{Dir: dir})); err != nil {
		t.Fatal(err)
	}
	left, err := s.WaitedFor(t.Context())
	if err != nil || len(left) != 1 || left[0].ID != forsaken || !s.Through(t).Equal(died) {
		t.Fatalf("spools %+v, %v, through %s", left, err, s.Through(t))
	}
	if _, err := known.Retire(t.Context(), forsaken, "root@example.com"); err != nil {
		t.Fatal(err)
	}
	if age := time.Since(s.Through(t)); age > time.Second {
		t.Errorf("without a live spool through is %s old", age)
	}
	if _, err := known.Retire(t.Context(), uuid.New(), "root@example.com"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("retiring an unknown spool: %v", err)
	}
}

func TestDropsCountedWhilePostgresIsDownSurviveTheProcess(t *testing.T) {
	t.Parallel()
	link := embedded.NewLink(t, embedded.Postgres(t))
	s := connect(t, embedded.ClickHouse(t), link.URL())
	link.Cut()
	dir := t.TempDir()
	r := s.Record(t, spool.Config{Dir: dir, RingBytes: 1}) // no record fits
	for range 7 {
		r.Add(callstest.Success(time.Now()))
	}
	if err := ledgertest.Shut(r); err != nil {
		t.Fatal(err)
	}
	link.Mend()
	for range 2 {
		if err := ledgertest.Shut(s.Record(t, spool.Config{Dir: dir})); err != nil {
			t.Fatal(err)
		}
	}
	if missed := s.Missed(t, []uuid.UUID{callstest.Application}, ledgertest.RangeOfToday()); missed != 7 {
		t.Errorf("missed %d", missed)
	}
}

func TestMissedCountsTheDaysAndApplicationsAskedFor(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	day := beijing.Date(2026, 5, 10)
	other := uuid.New()
	for i, d := range []struct {
		day   beijing.Day
		app   uuid.UUID
		calls int
	}{{day, callstest.Application, 1}, {day + 1, callstest.Application, 10}, {day + 2, callstest.Application, 100}, {day, other, 1000}, {day, uuid.Nil, 10_000}} {
		_, err := s.Pool.Exec(t.Context(), `INSERT INTO dropped_calls (day, application_id, spool_id, calls) VALUES ($1, $2, $3, $4)`,
			d.day.UTC(), d.app, uuid.UUID{byte(i)}, d.calls)
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		apps       []uuid.UUID
		start, end beijing.Day
		want       int64
	}{
		{[]uuid.UUID{callstest.Application}, day + 1, day + 2, 110},
		{[]uuid.UUID{callstest.Application}, day + 1, day + 1, 10},
		{[]uuid.UUID{callstest.Application, other}, day, day + 2, 11_111},
		{[]uuid.UUID{other}, day + 1, day + 2, 0},
		{nil, day, day, 10_000},
	} {
		if got := s.Missed(t, c.apps, beijing.Range{Start: c.start, End: c.end}); got != c.want {
			t.Errorf("%v %s to %s: %d, want %d", c.apps, c.start, c.end, got, c.want)
		}
	}
	s.Execute(t, `INSERT INTO users (id, email) VALUES ($1, 'owner@example.com')`, callstest.Owner)
	s.Execute(t, `INSERT INTO applications (id, owner_id, name) VALUES ($1, $2, 'other')`, other, callstest.Owner)
	if c, err := ledger.New(s.Pool).EveryonesCoverage(t.Context(), beijing.Range{Start: day, End: day + 2}); err != nil || c.Missed != 11_000 {
		t.Errorf("of the one application that exists, and of anybody: %+v, %v", c, err)
	}
	if since := s.Coverage(t, nil, ledgertest.RangeOfToday()).Since; time.Since(since) > time.Hour {
		t.Errorf("collected since %s", since)
	}
}

func TestAnUnreachableLedgerIsUnavailable(t *testing.T) {
	t.Parallel()
	link := embedded.NewLink(t, embedded.Postgres(t))
	s := connect(t, "clickhouse://127.0.0.1:1/none", link.URL())
	link.Cut()
	if _, err := ledger.New(s.Pool).Through(t.Context()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
	if _, err := ledger.New(s.Pool).Coverage(t.Context(), nil, ledgertest.RangeOfToday()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
}
