package ledger

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/spool"
)

// TestSpentLeavesOutWhatItsGatewayCounts: a gateway's calls from when it counts, and no others.
func TestSpentLeavesOutWhatItsGatewayCounts(t *testing.T) {
	s := openStores(t)
	r := s.open(t, spool.Config{})
	start := time.Now().Add(-time.Millisecond)
	r.Add(callstest.Success(start))
	spent := func(counted map[uuid.UUID]time.Time) int64 {
		t.Helper()
		n, _, err := r.shipper.Spent(t.Context(), callstest.Application, beijing.DayOf(start), counted)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for deadline := time.Now().Add(20 * time.Second); spent(nil) == 0; pause(nil, 20*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the call is not in the ledger")
		}
	}
	for _, c := range []struct {
		gateway uuid.UUID
		since   time.Time
		want    int64
	}{
		{r.ID(), start, 0},
		{r.ID(), start.Add(time.Second), 1},
		{uuid.New(), start, 1},
	} {
		if n := spent(map[uuid.UUID]time.Time{c.gateway: c.since}); n != c.want {
			t.Errorf("%d calls where %s counts since %s, want %d", n, c.gateway, c.since, c.want)
		}
	}
}
