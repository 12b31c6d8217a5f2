//go:build nightly

package ship_test

import (
	"os"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/spool"
)

// TestSegmentsDamagedInEveryByteAreShippedButForTheDamagedRecords ships such segments to ClickHouse,
// every byte's in `make chaos`.
func TestSegmentsDamagedInEveryByteAreShippedButForTheDamagedRecords(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir, one := t.TempDir(), t.TempDir()
	ledgertest.Spooled(t, one, callstest.Sample()...)
	intact, err := os.ReadFile(ledgertest.Segments(t, one, ".segment")[0])
	if err != nil {
		t.Fatal(err)
	}
	var kept, missed int64
	files := 0
	for at := 0; at < len(intact)-callstest.FrameHeader; at += callstest.FromEnvironment("CHAOS_DAMAGE_STEP", 173) {
		for _, j := range callstest.Injuries {
			whole, counted := injured(t, dir, j, at)
			kept, missed, files = kept+int64(whole), missed+int64(counted), files+1
		}
	}
	began := time.Now()
	r := s.Record(t, spool.Config{Dir: dir})
	for left := r.Backlog(); left > 0; { // some thousands: as long as it takes, while it goes on
		callstest.Eventually(t, "more segments are shipped", func() bool { return r.Backlog() < left })
		left = r.Backlog()
	}
	if err := ledgertest.Shut(r); err != nil {
		t.Fatal(err)
	}
	if n := s.Counted(t); n != kept {
		t.Errorf("%d calls are counted of %d intact ones", n, kept)
	}
	if got := s.Missed(t, []uuid.UUID{callstest.Application}, ledgertest.RangeOfToday()); got != missed {
		t.Errorf("%d are counted as missed, want %d", got, missed)
	}
	t.Logf("%d damaged segments in %v: %d intact records, all counted; %d missed", files, time.Since(began).Round(time.Millisecond), kept, missed)
}
