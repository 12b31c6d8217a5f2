//go:build nightly

package ship_test

import (
	"fmt"
	"testing"
	"time"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/spool"
)

func TestOfProcessesOnOneDirectoryAKilledOnesRecordsAreShippedOnceByTheOthers(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir := t.TempDir()
	const each = 2_000
	var living []*ledgertest.Recorder
	for range 3 {
		living = append(living, s.Record(t, spool.Config{Dir: dir, SealAfter: 50 * time.Millisecond}))
	}
	record := func() {
		for i := range each / 2 {
			for _, r := range living {
				r.Add(callstest.Mixed(time.Now(), i))
			}
		}
	}
	record()
	written := ledgertest.RunAndKill(t, fmt.Sprint(dir, " ", s.URL, " ", s.Pool.Config().ConnString()), 500*time.Millisecond)
	killed := time.Now()
	record()
	callstest.Eventually(t, adoption, "the ledger waits for the living only", func() bool {
		spools, err := s.WaitedFor(t.Context())
		return err == nil && len(spools) == 3
	})
	t.Logf("%d records of the killed process shipped %v after its end", written, time.Since(killed).Round(10*time.Millisecond))
	callstest.Eventually(t, 5*time.Second, "through goes on", func() bool { return s.Through(t).After(killed) })
	for _, r := range living {
		if err := ledgertest.Shut(r); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Counted(t) - 3*each; n < written || n > written+500 {
		t.Errorf("%d calls of the killed process are counted, %d were written", n, written)
	}
	if spools, err := s.WaitedFor(t.Context()); err != nil || len(spools) != 0 {
		t.Errorf("spools are not retired: %v %v", spools, err)
	}
}
