package ship_test

import (
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/spool"
)

func TestEachShardGetsTheCallsOfItsApplicationsOnce(t *testing.T) {
	t.Parallel()
	s, _, applications := twoShards(t)
	dir := t.TempDir()
	records := ledgertest.Many(600)
	midnight := beijing.Today(time.Now()).Start()
	for i, record := range records {
		ledgertest.By(applications, record, i)
		if i%3 == 0 {
			record.Start = midnight.Add(-time.Duration(i) * time.Millisecond)
		}
	}
	ledgertest.Spooled(t, dir, records...)
	for range 2 { // again under the same tokens
		if err := ledgertest.Shut(s.Record(t, spool.Config{Dir: copyDir(t, dir)})); err != nil {
			t.Fatal(err)
		}
	}
	if counts := s.PerShard(t); len(counts) != 2 || counts[0] != 300 || counts[1] != 300 || s.Counted(t) != 600 {
		t.Errorf("the shards hold %v of 600 calls", counts)
	}
	if n := s.Number(t, `SELECT toInt64(count()) FROM call_failures`); n != 60 {
		t.Errorf("%d details are kept of 60", n)
	}
}
