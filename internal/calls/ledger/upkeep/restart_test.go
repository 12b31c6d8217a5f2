package upkeep

import (
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
)

func TestRollupsAndDetailsThatARestartedServerLostAreRepaired(t *testing.T) {
	t.Parallel()
	of, engines, dir := ledgertest.Retained(t)
	s := &stores{of}
	s.FailPower(t, engines, "usage_daily", "usage_hourly", "call_failures")
	ledgertest.AwaitDeleted(t, dir)
	m := s.maintenance(t)
	callstest.Eventually(t, time.Minute, "the day is compared", func() bool {
		if err := m.Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		var n int64
		err := s.Conn.QueryRow(t.Context(), `SELECT toInt64(sum(calls)) FROM usage_daily`).Scan(&n)
		return err == nil && n == 100
	})
	s.agrees(t, m, beijing.Today(time.Now()))
	if n := s.Counted(t); n != 100 {
		t.Errorf("%d calls are counted of 100", n)
	}
	if n := s.Number(t, `SELECT toInt64(uniqExact(call_id) + count()) FROM call_failures`); n != 20 {
		t.Errorf("of 10 details there are %d rows and ids", n)
	}
}
