package ship_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/spool"
	"callgate/internal/embedded"
)

func TestKilledClickHouseLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	engines := embedded.Own(t)
	s := connect(t, engines.ClickHouseURL(), engines.DatabaseURL())
	r := s.Record(t, spool.Config{SealAfter: 20 * time.Millisecond}) // many inserts, so that kills hit some
	const goroutines, each = 4, 5_000
	var adding sync.WaitGroup
	for range goroutines {
		adding.Go(func() {
			for i := range each {
				r.Add(callstest.Mixed(time.Now(), i))
				if i%10 == 9 {
					time.Sleep(6 * time.Millisecond) // a load of some seconds
				}
			}
		})
	}
	for range 3 {
		time.Sleep(700 * time.Millisecond)
		if err := engines.Kill(t.Context(), "clickhouse"); err != nil {
			t.Fatal(err)
		}
	}
	adding.Wait()
	if err := ledgertest.Shut(r); err != nil {
		t.Fatal(err)
	}
	if n := s.Counted(t); n != goroutines*each {
		t.Errorf("%d calls are counted of %d", n, goroutines*each)
	}
	if n := s.Number(t, `SELECT toInt64(count()) FROM call_failures`); n != goroutines*each/10 {
		t.Errorf("%d details are kept of %d", n, goroutines*each/10)
	}
}

func TestKilledProcessLosesNothingThatWasWritten(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir := t.TempDir()
	var total int64
	for round := range 3 {
		written := ledgertest.RunAndKill(t, fmt.Sprint(dir, " ", s.URL, " ", s.Pool.Config().ConnString()), 300*time.Millisecond)
		r := s.Record(t, spool.Config{Dir: dir})
		if err := ledgertest.Shut(r); err != nil {
			t.Fatal(err)
		}
		counted := s.Counted(t)
		if counted-total < written {
			t.Errorf("round %d: %d calls were written, %d are counted", round, written, counted-total)
		}
		if n := s.Number(t, `SELECT toInt64(max(request_bytes)) + 1 FROM calls`); round == 0 && n != counted {
			t.Errorf("%d calls are counted, the last one is number %d", counted, n)
		}
		t.Logf("round %d: %d written, %d counted", round, written, counted-total)
		total = counted
	}
	spools, err := s.WaitedFor(t.Context())
	if err != nil || len(spools) != 0 {
		t.Errorf("adopted spools are not retired: %v, %v", spools, err)
	}
}

func TestOpensWhileBothStoresAreDownAndCatchesUp(t *testing.T) {
	t.Parallel()
	clickhouse, postgres := embedded.NewLink(t, embedded.ClickHouse(t)), embedded.NewLink(t, embedded.Postgres(t))
	s := connect(t, clickhouse.URL(), postgres.URL())
	clickhouse.Cut()
	postgres.Cut()
	dir := t.TempDir()
	r := s.Record(t, spool.Config{Dir: dir, SealAfter: 10 * time.Millisecond})
	for i := range 1_000 {
		r.Add(callstest.Mixed(time.Now(), i))
	}
	callstest.Eventually(t, "records are on disk", func() bool { return r.Written() == 1_000 && r.Backlog() > 0 })
	clickhouse.Mend()
	postgres.Mend()
	// The backlog is of sealed segments: none is there, too, before the last one is sealed.
	callstest.Eventually(t, "the backlog is shipped", func() bool {
		return r.Backlog() == 0 && s.Number(t, `SELECT toInt64(count()) FROM calls`) >= 1_000
	})
	callstest.Eventually(t, "rollups follow their rows", func() bool { return s.Number(t, `SELECT toInt64(sum(calls)) FROM usage_hourly`) >= 1_000 })
	if n := s.Counted(t); n != 1_000 {
		t.Errorf("%d of 1000 calls are counted", n)
	}
	callstest.Eventually(t, "the ledger knows the spool", func() bool {
		spools, err := s.WaitedFor(t.Context())
		return err == nil && len(spools) == 1
	})
}

func TestWhatCloseCannotShipTheNextProcessDoes(t *testing.T) {
	t.Parallel()
	link := embedded.NewLink(t, embedded.ClickHouse(t))
	s := connect(t, link.URL(), embedded.Postgres(t))
	dir := t.TempDir()
	link.Cut()
	r := s.Record(t, spool.Config{Dir: dir})
	for i := range 1_000 {
		r.Add(callstest.Mixed(time.Now(), i))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := r.End(ctx); err == nil {
		t.Error("Close says nothing of what it left")
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("Close took %s beyond its time", took)
	}
	spools, err := s.WaitedFor(t.Context())
	if err != nil || len(spools) != 1 {
		t.Fatalf("the spool does not hold dataThrough back: %v %v", spools, err)
	}
	link.Mend()
	if err := ledgertest.Shut(s.Record(t, spool.Config{Dir: dir})); err != nil {
		t.Fatal(err)
	}
	if n := s.Counted(t); n != 1_000 {
		t.Errorf("%d of 1000 calls are counted", n)
	}
	if spools, err = s.WaitedFor(t.Context()); err != nil || len(spools) != 0 {
		t.Errorf("spools are not retired: %v %v", spools, err)
	}
}
