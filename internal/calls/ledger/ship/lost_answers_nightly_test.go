//go:build nightly

package ship_test

import (
	"testing"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/ledger/ship"
	"callgate/internal/embedded"
)

// TestConnectionsCutAfterTheInsertWasAppliedLoseAndDoubleNothing loses the answers of inserts that
// were applied, one to three times each: while ClickHouse still knows their tokens, and when it
// knows none, so that only the look for batch_id stands between a repetition and a double count.
func TestConnectionsCutAfterTheInsertWasAppliedLoseAndDoubleNothing(t *testing.T) {
	t.Parallel()
	cuts := callstest.FromEnvironment("CHAOS_CUTS", 12)
	engines := embedded.Own(t) // resets of connections are hard on an engine
	s := connect(t, engines.ClickHouseURL(), engines.DatabaseURL())
	waves := cutAnswers(t, s, "tokens are known", cuts/2, ship.DedupWindow)
	for _, table := range ledgertest.Tables {
		if err := s.Conn.Exec(t.Context(), `ALTER TABLE `+table+` MODIFY SETTING non_replicated_deduplication_window = 0`); err != nil {
			t.Fatal(err)
		}
	}
	waves += cutAnswers(t, s, "tokens are forgotten", cuts-cuts/2, -1)
	if n := s.Counted(t); n != int64(waves*wave) {
		t.Errorf("%d calls are counted of %d", n, waves*wave)
	}
	if n := s.Number(t, `SELECT toInt64(count()) FROM call_failures`); n != int64(waves*wave/10) {
		t.Errorf("%d details are kept of %d", n, waves*wave/10)
	}
}
