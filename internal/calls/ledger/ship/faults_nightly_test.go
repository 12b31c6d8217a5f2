//go:build nightly

package ship_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/spool"
	"callgate/internal/embedded"
)

func TestAFullDiskDropsAndCountsButNeverBlocks(t *testing.T) {
	t.Parallel()
	link := embedded.NewLink(t, embedded.ClickHouse(t))
	s := connect(t, link.URL(), embedded.Postgres(t))
	link.Cut()
	const count = 20_000
	r := s.Record(t, spool.Config{MaxBytes: 200_000, RingBytes: 640_000 /* 2,000 records */, SealAfter: 10 * time.Millisecond})
	var longest time.Duration
	for i := range count {
		began := time.Now()
		r.Add(callstest.Success(began))
		longest = max(longest, time.Since(began))
		if i%1000 == 0 {
			time.Sleep(5 * time.Millisecond)
		}
	}
	if longest > 500*time.Millisecond {
		t.Errorf("Add took %s", longest)
	}
	_, dropped := r.Lost()
	if dropped == 0 {
		t.Fatal("nothing was dropped")
	}
	today := ledgertest.RangeOfToday()
	callstest.Eventually(t, 5*time.Second, "the ledger counts what was dropped", func() bool {
		return s.Missed(t, []uuid.UUID{callstest.Application}, today) == int64(dropped)
	})
	link.Mend()
	if err := ledgertest.Shut(r); err != nil {
		t.Fatal(err)
	}
	if n := s.Counted(t); n != count-int64(dropped) {
		t.Errorf("%d calls are counted and %d dropped of %d", n, dropped, count)
	}
	if missed := s.Missed(t, []uuid.UUID{callstest.Owner}, today); missed != 0 {
		t.Errorf("another application misses %d calls", missed)
	}
}
