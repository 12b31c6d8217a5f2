package upkeep

import (
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/embedded"
)

// TestRollupsOfEveryShardAreRepairedAndDeletedApplicationsSwept plants differences on both.
func TestRollupsOfEveryShardAreRepairedAndDeletedApplicationsSwept(t *testing.T) {
	t.Parallel()
	s, _, applications := twoShards(t)
	m := s.maintenance(t)
	day := beijing.Today(time.Now()) - 1
	var records []*calls.Record
	for i := range 120 {
		records = append(records, ledgertest.By(applications, callstest.Mixed(day.Start().Add(time.Duration(i)*time.Minute), i/len(applications)), i))
	}
	s.Shipped(t, records...)
	embedded.OnShards(t, s.URL, `TRUNCATE TABLE usage_daily`)
	if repaired, err := m.repair(t.Context(), day); err != nil || repaired == 0 {
		t.Fatalf("%d rows are repaired: %v", repaired, err)
	}
	s.agrees(t, m, day)
	if n := s.Counted(t); n != 120 {
		t.Errorf("%d calls are counted of 120", n)
	}
	embedded.OnShards(t, s.URL, `INSERT INTO calls SELECT * FROM calls LIMIT 1`)
	if rows, duplicates, err := m.duplicates(t.Context(), day); err != nil || rows != 122 || duplicates != 2 {
		t.Errorf("%d rows, %d too many, %v; one of each shard is there twice", rows, duplicates, err)
	}
	gone := []deletedApplication{{applications[0], time.Now()}, {applications[1], time.Now()}}
	for _, d := range gone {
		s.Execute(t, tombstone, d.ID, callstest.Owner, d.DeletedAt)
	}
	embedded.OnShards(t, s.URL, `INSERT INTO days_closed (application_id, day, revision) SELECT DISTINCT application_id, toDate(start_time), 1 FROM calls`)
	if err := m.hide(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.Number(t, `SELECT toInt64(uniqExact(application_id)) FROM live_calls`); n != 4 {
		t.Errorf("%d applications are to be seen of 4", n)
	}
	if err := m.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, table := range sweptTables {
		if n := s.Number(t, `SELECT toInt64(uniqExact(application_id)) FROM `+table); n != 4 {
			t.Errorf("%s holds %d applications of 4", table, n)
		}
	}
}
