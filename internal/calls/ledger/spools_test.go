package ledger_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/audit"
	"callgate/internal/beijing"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/ledger/ship"
	"callgate/internal/calls/spool"
	"callgate/internal/embedded"
	"callgate/internal/fault"
)

// only is the one spool there is.
func (s *stores) only(t *testing.T) ledger.Spool {
	t.Helper()
	all, total, err := ledger.New(s.Pool).Spools(t.Context(), 1, 10)
	if err != nil || total != 1 || len(all) != 1 {
		t.Fatalf("%d spools: %+v, %v", total, all, err)
	}
	return all[0]
}

// silence makes the last report of all spools one of a minute ago.
func (s *stores) silence(t *testing.T) {
	t.Helper()
	for _, statement := range []string{
		`UPDATE spools SET updated_at = now() - interval '1 minute'`, `UPDATE gateways SET seen_at = now() - interval '1 minute'`,
	} {
		if _, err := s.Pool.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAGatewaysHeartbeatTellsWhoItIsAndWhatItHolds(t *testing.T) {
	t.Parallel()
	link := embedded.NewLink(t, embedded.ClickHouse(t))
	s := connect(t, link.URL(), embedded.Postgres(t))
	link.Cut()
	from := ledgertest.OpenSpool(t, spool.Config{SealAfter: 50 * time.Millisecond})
	shipper, err := ship.Start(t.Context(), ship.Config{Node: "host-1", Role: "gateway", Version: "1.2.3"}, from, s.Pool, link.URL(), callstest.Quiet, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &ledgertest.Recorder{Spool: from, Shipper: shipper}
	t.Cleanup(func() { _ = ledgertest.Shut(r) })
	first := s.only(t)
	if g := first.Gateway; first.State != ledger.Live || g == nil || g.Host != "host-1" || g.Role != "gateway" || g.Version != "1.2.3" || g.OldestAt != nil || *g.Held() != 0 {
		t.Fatalf("at its start: %+v, %+v", first, first.Gateway)
	}
	now := time.Now()
	for range 30 {
		r.Add(callstest.Success(now.Add(-time.Second)))
	}
	r.Add(callstest.Success(now.Add(-24 * time.Hour)))
	callstest.Eventually(t, 10*time.Second, "the heartbeat counts what is held", func() bool {
		g := s.only(t).Gateway
		return *g.Held() == 31 && g.HeldCalls[beijing.DayOf(now.Add(-24*time.Hour)).String()] == 1 && g.HeldBytes > 31*50 &&
			g.OldestAt != nil && g.OldestAt.Before(time.Now().Add(-23*time.Hour)) && g.SeenAt.After(first.Gateway.SeenAt)
	})
	link.Mend()
	callstest.Eventually(t, 20*time.Second, "and nothing once it is shipped", func() bool {
		g := s.only(t).Gateway
		return *g.Held() == 0 && g.HeldBytes == 0 && g.OldestAt == nil
	})
	if err := ledgertest.Shut(r); err != nil {
		t.Fatal(err)
	}
	var ended bool
	if err := s.Pool.QueryRow(t.Context(), `SELECT ended_at IS NOT NULL FROM gateways`).Scan(&ended); err != nil || !ended {
		t.Errorf("it has not told that it ends: %v", err)
	}
	if left, total, err := ledger.New(s.Pool).Spools(t.Context(), 1, 10); err != nil || total != 0 || len(left) != 0 {
		t.Errorf("one that has ended in order is listed: %+v, %v", left, err)
	}
}

func TestASpoolInUseIsNotGivenUp(t *testing.T) {
	t.Parallel()
	link := embedded.NewLink(t, embedded.ClickHouse(t))
	s := connect(t, link.URL(), embedded.Postgres(t))
	link.Cut()
	dir := t.TempDir()
	ledgertest.Spooled(t, dir, ledgertest.Many(10)...)
	r := s.Record(t, spool.Config{Dir: dir})
	states := func() map[ledger.State]int {
		seen := map[ledger.State]int{}
		all, err := s.WaitedFor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			seen[one.State]++
			if _, err := ledger.New(s.Pool).Retire(t.Context(), one.ID, "root@example.com"); one.State != ledger.Silent && fault.KindOf(err) != fault.Conflict {
				t.Errorf("a spool that is %s: %v", one.State, err)
			}
		}
		return seen
	}
	callstest.Eventually(t, 20*time.Second, "both are told of", func() bool { return len(must(s.WaitedFor(t.Context()))) == 2 })
	// What was adopted never sent a heartbeat of its own: to be told from a live one, it gets an old one.
	for _, one := range must(s.WaitedFor(t.Context())) {
		if one.ID != r.ID() {
			s.Execute(t, `INSERT INTO gateways (spool_id, host, role, version, started_at, seen_at)
				VALUES ($1, 'gone', 'gateway', '1', now() - interval '1 hour', now() - interval '1 hour')`, one.ID)
		}
	}
	callstest.Eventually(t, 10*time.Second, "one is live and one adopted", func() bool {
		seen := states()
		return seen[ledger.Live] == 1 && seen[ledger.Adopted] == 1
	})
	link.Mend()
	callstest.Eventually(t, 20*time.Second, "what was adopted is shipped", func() bool { return len(must(s.WaitedFor(t.Context()))) == 1 })
	if n := s.Counted(t); n != 10 {
		t.Errorf("%d calls of 10 are counted", n)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// TestWhatAGivenUpSpoolIsKnownToHoldIsMissedUntilItTurnsUp gives up a gateway that was only cut off from
// PostgreSQL, which nobody can tell from one whose disk is lost.
func TestWhatAGivenUpSpoolIsKnownToHoldIsMissedUntilItTurnsUp(t *testing.T) {
	t.Parallel()
	clickhouse, postgres := embedded.NewLink(t, embedded.ClickHouse(t)), embedded.Postgres(t)
	s := connect(t, clickhouse.URL(), postgres)
	away := embedded.NewLink(t, postgres)
	cut := connect(t, clickhouse.URL(), away.URL())
	clickhouse.Cut()
	r := cut.Record(t, spool.Config{SealAfter: 50 * time.Millisecond})
	began := time.Now().Add(-time.Second)
	for range 20 {
		r.Add(callstest.Success(began))
	}
	r.Add(callstest.Success(began.Add(-24 * time.Hour)))
	callstest.Eventually(t, 10*time.Second, "the heartbeat counts what is held", func() bool { return *s.only(t).Gateway.Held() == 21 })
	away.Cut()
	s.silence(t)
	if state := s.only(t).State; state != ledger.Silent {
		t.Fatalf("cut off it is %s", state)
	}

	known, anybody := ledger.New(s.Pool), []uuid.UUID{uuid.New()}
	held := s.Through(t)
	given, err := known.Retire(t.Context(), r.ID(), "root@example.com")
	if err != nil || given.State != ledger.GivenUp || given.GivenUp.By != "root@example.com" || *given.GivenUp.Calls != 21 {
		t.Fatalf("%+v, %+v, %v", given, given.GivenUp, err)
	}
	if through := s.Through(t); time.Since(through) > 5*time.Second || !through.After(held) {
		t.Errorf("the statistics wait on, through %v", through)
	}
	today := beijing.DayOf(began)
	for want, days := range map[int64]beijing.Range{21: {Start: today - 1, End: today}, 20: {Start: today, End: today}, 1: {Start: today - 1, End: today - 1}} {
		if missed := s.Missed(t, anybody, days); missed != want {
			t.Errorf("%d are missed in %v, want %d", missed, days, want)
		}
	}
	if _, err := known.Retire(t.Context(), r.ID(), "other@example.com"); err != nil || s.only(t).GivenUp.By != "root@example.com" {
		t.Errorf("again: %v", err)
	}
	if entries, total, err := audit.List(t.Context(), s.Pool, audit.Filter{}, 1, 10); err != nil || total != 1 || entries[0].Action != "spool.retire" || entries[0].TargetID != r.ID().String() {
		t.Errorf("the audit has %+v, %v", entries, err)
	}

	away.Mend()
	callstest.Eventually(t, 10*time.Second, "it is waited for again", func() bool {
		return s.only(t).State == ledger.Live && s.Missed(t, anybody, beijing.Range{Start: today - 1, End: today}) == 0 && s.Through(t).Equal(held)
	})
	clickhouse.Mend()
	callstest.Eventually(t, 20*time.Second, "everything is counted", func() bool { return s.Through(t).After(held) })
	if n := s.Counted(t); n != 21 {
		t.Errorf("%d calls are counted of 21", n)
	}
}

func TestAGivenUpSpoolWhoseDiskTurnsUpIsShippedByWhoFindsIt(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir, lost, day := t.TempDir(), uuid.New(), beijing.Today(time.Now())
	ledgertest.Spooled(t, dir, ledgertest.Many(10)...)
	ledgertest.Rename(t, dir, lost)
	s.Execute(t, `INSERT INTO spools (id, node, through, updated_at) VALUES ($1, 'dead', now() - interval '1 hour', now() - interval '1 hour')`, lost)
	s.Execute(t, `INSERT INTO gateways (spool_id, host, role, version, started_at, seen_at, oldest_at, held_bytes, held_calls)
		VALUES ($1, 'dead', 'gateway', '1', now(), now() - interval '1 hour', now() - interval '1 hour', 1000, jsonb_build_object($2::text, 10))`, lost, day.String())
	if given, err := ledger.New(s.Pool).Retire(t.Context(), lost, "root@example.com"); err != nil || *given.GivenUp.Calls != 10 {
		t.Fatalf("%+v, %v", given, err)
	}
	if missed := s.Missed(t, []uuid.UUID{uuid.New()}, ledgertest.RangeOfToday()); missed != 10 {
		t.Fatalf("%d are missed", missed)
	}
	if err := ledgertest.Shut(s.Record(t, spool.Config{Dir: dir})); err != nil {
		t.Fatal(err)
	}
	if n, missed := s.Counted(t), s.Missed(t, []uuid.UUID{uuid.New()}, ledgertest.RangeOfToday()); n != 10 || missed != 0 {
		t.Errorf("%d are counted, %d missed", n, missed)
	}
	if all, _, err := ledger.New(s.Pool).Spools(t.Context(), 1, 10); err != nil || len(all) != 0 {
		t.Errorf("it is listed still: %+v, %v", all, err)
	}
}

// TestHowMuchASpoolOfAVersionBeforeHeldIsNotKnown: those wrote no heartbeats.
func TestHowMuchASpoolOfAVersionBeforeHeldIsNotKnown(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	lost := uuid.New()
	s.Execute(t, `INSERT INTO spools (id, node, through, updated_at) VALUES ($1, 'dead', now() - interval '1 hour', now() - interval '1 hour')`, lost)
	if one := s.only(t); one.State != ledger.Silent || one.Gateway != nil {
		t.Fatalf("%+v", one)
	}
	if given, err := ledger.New(s.Pool).Retire(t.Context(), lost, "root@example.com"); err != nil || given.GivenUp.Calls != nil {
		t.Fatalf("%+v, %v", given.GivenUp, err)
	}
	if one := s.only(t); one.State != ledger.GivenUp || one.GivenUp.Calls != nil {
		t.Errorf("%+v, %+v", one, one.GivenUp)
	}
}
