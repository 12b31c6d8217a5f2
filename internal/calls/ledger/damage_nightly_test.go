//go:build nightly

package ledger

import (
	"os"
	"testing"
	"time"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/spool"
)

// TestSegmentsDamagedInEveryByteAreShippedButForTheDamagedRecords ships such segments to ClickHouse,
// every byte's in `make chaos`.
func TestSegmentsDamagedInEveryByteAreShippedButForTheDamagedRecords(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir, one := t.TempDir(), t.TempDir()
	spooled(t, one, callstest.Sample()...)
	intact, err := os.ReadFile(segments(t, one, ".segment")[0])
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
	r := s.open(t, spool.Config{Dir: dir})
	callstest.Eventually(t, 30*time.Minute, "all segments are shipped", func() bool { return r.Backlog() == 0 })
	if err := shut(r); err != nil {
		t.Fatal(err)
	}
	if n := s.counted(t); n != kept {
		t.Errorf("%d calls are counted of %d intact ones", n, kept)
	}
	if got := s.missed(t, ids(callstest.Application), rangeOfToday()); got != missed {
		t.Errorf("%d are counted as missed, want %d", got, missed)
	}
	t.Logf("%d damaged segments in %v: %d intact records, all counted; %d missed", files, time.Since(began).Round(time.Millisecond), kept, missed)
}
