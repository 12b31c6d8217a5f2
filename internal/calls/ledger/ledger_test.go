package ledger

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/spool"
	"callgate/internal/embedded"
	"callgate/internal/fault"
)

func (s *stores) through(t *testing.T) time.Time {
	t.Helper()
	through, err := New(s.pool).Through(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return through
}

func (s *stores) coverage(t *testing.T, applications []uuid.UUID, r beijing.Range) Coverage {
	t.Helper()
	c, err := New(s.pool).Coverage(t.Context(), applications, r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *stores) missed(t *testing.T, applications []uuid.UUID, r beijing.Range) int64 {
	t.Helper()
	return s.coverage(t, applications, r).Missed
}

func TestThroughOfAnIdleSpoolIsAtMostTwoSecondsOld(t *testing.T) {
	s := openStores(t)
	s.open(t, spool.Config{})
	for deadline := time.Now().Add(2500 * time.Millisecond); time.Now().Before(deadline); pause(nil, 20*time.Millisecond) {
		through := s.through(t)
		if age := time.Since(through); age > 2*time.Second || age < 0 {
			t.Fatalf("through is %s old", age)
		}
	}
}

func TestThroughUnderLoadIsFreshAndNeverPromisesACallThatIsNotCounted(t *testing.T) {
	s := openStores(t)
	r := s.open(t, spool.Config{})
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
			pause(nil, time.Millisecond)
		}
		through := s.through(t)
		oldest = max(oldest, time.Since(through))
		// Every call that ended before through is there: as many as were handed over by then.
		var there uint64
		err := s.conn.QueryRow(t.Context(), `SELECT countIf(start_time + INTERVAL 10 MILLISECOND < fromUnixTimestamp64Milli(?)) FROM calls`,
			through.UnixMilli()).Scan(&there)
		if err != nil {
			t.Fatal(err)
		}
		promised = append(promised, promise{through, int64(there)})
	}
	if oldest > 2*time.Second {
		t.Errorf("through was up to %s old", oldest)
	}
	if err := shut(r); err != nil {
		t.Fatal(err)
	}
	for _, p := range promised {
		if n := s.number(t, `SELECT toInt64(countIf(start_time + INTERVAL 10 MILLISECOND < fromUnixTimestamp64Milli(?))) FROM calls`, p.through.UnixMilli()); n != p.there {
			t.Errorf("through %s promised %d calls, there were %d", p.through, n, p.there)
		}
	}
	if n := s.counted(t); n != int64(added) {
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
	r := s.open(t, spool.Config{Dir: dir})
	link.Cut()
	first := callstest.Success(time.Now())
	first.Duration = 0
	ended := first.Start
	r.Add(first)
	callstest.Eventually(t, 5*time.Second, "through waits for the call", func() bool {
		return s.through(t).Equal(ended.Truncate(time.Millisecond))
	})
	r.Add(callstest.Success(time.Now().Add(-time.Hour))) // an old one comes late
	callstest.Eventually(t, 5*time.Second, "it is spooled", func() bool { return r.Written() == 2 })
	pause(nil, reportEvery+reportLeast)
	if through := s.through(t); !through.Equal(ended.Truncate(time.Millisecond)) {
		t.Errorf("through moved from %s to %s", ended, through)
	}
	link.Mend()
	callstest.Eventually(t, 5*time.Second, "through goes on", func() bool { return time.Since(s.through(t)) < 2*time.Second })
}

func TestADeadSpoolHoldsThroughBackUntilItIsAdoptedOrRetired(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	ledger := New(s.pool)
	died := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	adopted, forsaken := uuid.New(), uuid.New()
	for _, id := range ids(adopted, forsaken) {
		if _, err := s.pool.Exec(t.Context(), `INSERT INTO spools (id, node, through, updated_at) VALUES ($1, 'dead', $2, now() - interval '1 hour')`, id, died); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	spooled(t, dir, many(10)...)
	rename(t, dir, adopted)
	if err := shut(s.open(t, spool.Config{Dir: dir})); err != nil {
		t.Fatal(err)
	}
	left, err := s.waitedFor(t.Context())
	if err != nil || len(left) != 1 || left[0].ID != forsaken || !s.through(t).Equal(died) {
		t.Fatalf("spools %+v, %v, through %s", left, err, s.through(t))
	}
	if _, err := ledger.Retire(t.Context(), forsaken, "root@example.com"); err != nil {
		t.Fatal(err)
	}
	if age := time.Since(s.through(t)); age > time.Second {
		t.Errorf("without a live spool through is %s old", age)
	}
	if _, err := ledger.Retire(t.Context(), uuid.New(), "root@example.com"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("retiring an unknown spool: %v", err)
	}
}

func TestDropsCountedWhilePostgresIsDownSurviveTheProcess(t *testing.T) {
	t.Parallel()
	link := embedded.NewLink(t, embedded.Postgres(t))
	s := connect(t, embedded.ClickHouse(t), link.URL())
	link.Cut()
	dir := t.TempDir()
	r := s.open(t, spool.Config{Dir: dir, RingBytes: 1}) // no record fits
	for range 7 {
		r.Add(callstest.Success(time.Now()))
	}
	if err := shut(r); err != nil {
		t.Fatal(err)
	}
	link.Mend()
	for range 2 {
		if err := shut(s.open(t, spool.Config{Dir: dir})); err != nil {
			t.Fatal(err)
		}
	}
	if missed := s.missed(t, ids(callstest.Application), rangeOfToday()); missed != 7 {
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
		_, err := s.pool.Exec(t.Context(), `INSERT INTO dropped_calls (day, application_id, spool_id, calls) VALUES ($1, $2, $3, $4)`,
			date(d.day), d.app, uuid.UUID{byte(i)}, d.calls)
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		apps       []uuid.UUID
		start, end beijing.Day
		want       int64
	}{
		{ids(callstest.Application), day + 1, day + 2, 110},
		{ids(callstest.Application), day + 1, day + 1, 10},
		{ids(callstest.Application, other), day, day + 2, 11_111},
		{ids(other), day + 1, day + 2, 0},
		{nil, day, day, 10_000},
	} {
		if got := s.missed(t, c.apps, beijing.Range{Start: c.start, End: c.end}); got != c.want {
			t.Errorf("%v %s to %s: %d, want %d", c.apps, c.start, c.end, got, c.want)
		}
	}
	s.execute(t, `INSERT INTO users (id, email) VALUES ($1, 'owner@example.com')`, callstest.Owner)
	s.execute(t, `INSERT INTO applications (id, owner_id, name) VALUES ($1, $2, 'other')`, other, callstest.Owner)
	if c, err := New(s.pool).EveryonesCoverage(t.Context(), beijing.Range{Start: day, End: day + 2}); err != nil || c.Missed != 11_000 {
		t.Errorf("of the one application that exists, and of anybody: %+v, %v", c, err)
	}
	if since := s.coverage(t, nil, rangeOfToday()).Since; time.Since(since) > time.Hour {
		t.Errorf("collected since %s", since)
	}
}

func TestAnUnreachableLedgerIsUnavailable(t *testing.T) {
	t.Parallel()
	link := embedded.NewLink(t, embedded.Postgres(t))
	s := connect(t, "clickhouse://127.0.0.1:1/none", link.URL())
	link.Cut()
	if _, err := New(s.pool).Through(t.Context()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
	if _, err := New(s.pool).Coverage(t.Context(), nil, rangeOfToday()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
}
