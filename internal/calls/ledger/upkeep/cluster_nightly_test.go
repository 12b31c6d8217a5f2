//go:build nightly

package upkeep

import (
	"context"
	"sync"
	"testing"
	"time"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/spool"
)

func TestAKilledShardLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	s, engines, applications := twoShards(t)
	kills := callstest.FromEnvironment("CHAOS_SHARD_KILLS", 4)
	r := s.Record(t, spool.Config{SealAfter: 20 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	var adding sync.WaitGroup
	added := 0
	adding.Go(func() {
		for ; ctx.Err() == nil; added++ {
			r.Add(ledgertest.By(applications, callstest.Mixed(time.Now(), added/len(applications)), added))
			if added%10 == 9 {
				time.Sleep(3 * time.Millisecond)
			}
		}
	})
	for i := range kills {
		time.Sleep(500 * time.Millisecond)
		if err := engines.Kill(t.Context(), []string{"clickhouse", "clickhouse2"}[i%2]); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	adding.Wait()
	if err := ledgertest.Shut(r); err != nil {
		t.Fatal(err)
	}
	if n := s.Number(t, `SELECT toInt64(count()) FROM calls`); n != int64(added) {
		t.Errorf("%d calls are there of %d", n, added)
	}
	// A kill may take rows that were confirmed, but not their rollups: then the day is in doubt, and repaired.
	doubtful, m := s.Doubts(t), s.maintenance(t)
	callstest.Eventually(t, time.Minute, "days in doubt are compared", func() bool {
		if err := m.Reconcile(t.Context()); err != nil {
			t.Log(err)
		}
		return s.Doubts(t) == 0
	})
	if n := s.Counted(t); n != int64(added) {
		t.Errorf("%d calls are counted of %d", n, added)
	}
	s.PerShard(t)
	t.Logf("%d kills of a shard during %d calls, %d days in doubt", kills, added, doubtful)
}
