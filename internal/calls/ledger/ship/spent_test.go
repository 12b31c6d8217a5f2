package ship_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/spool"
)

// TestSpentLeavesOutWhatItsGatewayCounts: a gateway's calls from when it counts, and no others.
func TestSpentLeavesOutWhatItsGatewayCounts(t *testing.T) {
	s := openStores(t)
	r := s.Record(t, spool.Config{})
	start := time.Now().Add(-time.Millisecond)
	r.Add(callstest.Success(start))
	spent := func(counted map[uuid.UUID]time.Time) int64 {
		t.Helper()
		n, _, err := r.Shipper.Spent(t.Context(), callstest.Application, beijing.DayOf(start), counted)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for deadline := time.Now().Add(20 * time.Second); spent(nil) == 0; time.Sleep(20 * time.Millisecond) {
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

// TestSpentByAKeyIsWhatItsCallsUsed, and nothing of the application's other keys.
func TestSpentByAKeyIsWhatItsCallsUsed(t *testing.T) {
	s := openStores(t)
	r := s.Record(t, spool.Config{})
	start := time.Now().Add(-time.Millisecond)
	one, other := uuid.New(), uuid.New()
	for i, key := range []uuid.UUID{one, other, one, {}} {
		c := callstest.Success(start)
		c.KeyID, c.Usage = key, calls.Usage{State: calls.UsageReported, Known: calls.UsageInput, Input: uint32(10 << i)}
		r.Add(c)
	}
	refused := callstest.Failed(start)
	refused.KeyID, refused.ReasonType, refused.ReasonCode = one, calls.Limited, calls.QuotaExhausted
	r.Add(refused)
	callstest.Eventually(t, "all are in the ledger", func() bool {
		return s.Number(t, "SELECT toInt64(count()) FROM calls") == 5
	})
	for key, want := range map[uuid.UUID][2]int64{one: {2, 10 + 40}, other: {1, 20}, uuid.New(): {0, 0}} {
		n, tokens, err := r.Shipper.KeySpent(t.Context(), callstest.Application, key, beijing.DayOf(start), nil)
		if err != nil || [2]int64{n, tokens} != want {
			t.Errorf("%d calls and %d tokens, %v, want %v", n, tokens, err, want)
		}
	}
	if n, _, err := r.Shipper.KeySpent(t.Context(), callstest.Application, one, beijing.DayOf(start), map[uuid.UUID]time.Time{r.ID(): start}); err != nil || n != 0 {
		t.Errorf("%d calls that their gateway counts, %v", n, err)
	}
}

// TestSpentTokensAreThoseReportedAndThoseEstimated, of the calls that have either.
func TestSpentTokensAreThoseReportedAndThoseEstimated(t *testing.T) {
	s := openStores(t)
	r := s.Record(t, spool.Config{})
	start := time.Now().Add(-time.Millisecond)
	told, left, silent := callstest.Success(start), callstest.Failed(start), callstest.Success(start)
	told.Usage = calls.Usage{State: calls.UsageReported, Known: calls.UsageInput | calls.UsageOutput, Input: 1<<32 - 1, Output: 1<<32 - 1}
	left.Usage, left.Estimated = calls.Usage{State: calls.UsagePartial, Known: calls.UsageInput, Input: 25}, 775
	silent.Usage, silent.Estimated = calls.Usage{State: calls.UsageAbsent}, 1<<32-1
	for _, c := range []*calls.Record{told, left, silent} {
		r.Add(c)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		n, tokens, err := r.Shipper.Spent(t.Context(), callstest.Application, beijing.DayOf(start), nil)
		if err != nil {
			t.Fatal(err)
		}
		if n == 3 {
			if want := int64(3*(1<<32-1) + 25 + 775); tokens != want {
				t.Errorf("%d tokens are spent, want %d", tokens, want)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of 3 calls are in the ledger", n)
		}
	}
	callstest.Eventually(t, "the figures have what was reported", func() bool {
		return s.Number(t, "SELECT toInt64(sum(input)) FROM tokens_daily") == 1<<32-1+25
	})
}
