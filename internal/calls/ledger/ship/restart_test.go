package ship_test

import (
	"testing"
	"time"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
)

func TestConfirmedRecordsThatARestartedServerLostAreSentAgain(t *testing.T) {
	t.Parallel()
	s, engines, dir := ledgertest.Retained(t)
	s.FailPower(t, engines, ledgertest.Tables...)
	callstest.Eventually(t, time.Minute, "the calls are counted again", func() bool {
		var n uint64
		return s.Conn.QueryRow(t.Context(), `SELECT count() FROM calls`).Scan(&n) == nil && n == 100
	})
	ledgertest.AwaitDeleted(t, dir)
	if n := s.Counted(t); n != 100 {
		t.Errorf("%d calls are counted of 100", n)
	}
}
