package ship_test

import (
	"fmt"
	"testing"
	"time"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/spool"
	"callgate/internal/embedded"
)

// TestAnOutageLeavesFewSegmentsAndFewInserts lets ClickHouse be away for OUTAGE_SECONDS (2) under a
// light load, with segments that are sealed 50 times as often as by default.
func TestAnOutageLeavesFewSegmentsAndFewInserts(t *testing.T) {
	t.Parallel()
	link := embedded.NewLink(t, embedded.ClickHouse(t))
	s := connect(t, link.URL(), embedded.Postgres(t))
	dir := t.TempDir()
	r := s.Record(t, spool.Config{Dir: dir, SealAfter: 10 * time.Millisecond})
	r.Add(callstest.Success(time.Now()))
	callstest.Eventually(t, "the first call is shipped", func() bool { return len(ledgertest.Segments(t, dir, ".sent")) == 1 })
	link.Cut()
	count := int64(1)
	outage := time.Duration(callstest.FromEnvironment("OUTAGE_SECONDS", 2)) * time.Second
	for end := time.Now().Add(outage); time.Now().Before(end); count++ {
		call := callstest.Mixed(time.Now(), int(count))
		call.Duration = 0 // it ends now
		r.Add(call)
		time.Sleep(2 * time.Millisecond)
	}
	unsent := len(ledgertest.Segments(t, dir, ".segment"))
	through, err := ledger.New(s.Pool).Through(t.Context())
	if err != nil || time.Since(through) < outage/2 {
		t.Errorf("the ledger says that all is there up to %s ago: %v", time.Since(through), err)
	}
	link.Mend()
	mended := time.Now()
	last := callstest.Success(mended)
	last.Duration = 0
	r.Add(last)
	count++
	callstest.Eventually(t, "the open segment is sealed and shipped", func() bool {
		return s.Number(t, `SELECT toInt64(count()) FROM calls`) == count
	})
	fresh := time.Since(mended)
	callstest.Eventually(t, "the ledger is through", func() bool {
		through, err := ledger.New(s.Pool).Through(t.Context())
		return err == nil && through.After(mended)
	})
	if err := ledgertest.Shut(r); err != nil {
		t.Fatal(err)
	}
	if n := s.Counted(t); n != count {
		t.Errorf("%d calls are counted of %d", n, count)
	}
	inserts := s.Number(t, `SELECT toInt64(uniqExact(batch_id)) FROM calls`)
	t.Logf("%s away: %d calls, %d segments left, %d inserts, fresh after %s", outage, count, unsent, inserts, fresh.Round(time.Millisecond))
	if unsent > 5 || inserts > 8 {
		t.Errorf("%d segments were left, %d inserts made", unsent, inserts)
	}
}

func TestAProcessKilledInAnOutageLosesNothingThatWasWritten(t *testing.T) {
	t.Parallel()
	link := embedded.NewLink(t, embedded.ClickHouse(t))
	s := connect(t, link.URL(), embedded.Postgres(t))
	dir := t.TempDir()
	link.Cut()
	written := ledgertest.RunAndKill(t, fmt.Sprint(dir, " ", s.URL, " ", s.Pool.Config().ConnString()), time.Second)
	if left := len(ledgertest.Segments(t, dir, ".segment")); left > 3 {
		t.Errorf("%d segments are left", left)
	}
	link.Mend()
	if err := ledgertest.Shut(s.Record(t, spool.Config{Dir: dir})); err != nil {
		t.Fatal(err)
	}
	counted := s.Counted(t)
	if most := s.Number(t, `SELECT toInt64(max(request_bytes)) + 1 FROM calls`); counted < written || most != counted {
		t.Errorf("%d calls were written, %d are counted, the last one is number %d", written, counted, most)
	}
}
