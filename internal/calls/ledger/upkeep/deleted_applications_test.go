package upkeep

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/retention"
)

func (s *stores) maintenance(t testing.TB) *Maintenance {
	t.Helper()
	m, err := New(s.Pool, s.URL, retention.Default, 30*time.Minute, callstest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.servers.Close() })
	m.margin = 0
	return m
}

// rowsOf counts what is left of an application anywhere in ClickHouse, tombstones apart.
func (s *stores) rowsOf(t testing.TB, id uuid.UUID) (rows int64) {
	t.Helper()
	for _, table := range sweptTables {
		rows += s.Number(t, `SELECT toInt64(count()) FROM `+table+` WHERE application_id = $1`, id)
	}
	return rows
}

const tombstone = `INSERT INTO deleted_applications (id, owner_id, name, deleted_at) VALUES ($1, $2, 'gone', $3)`

func TestADeletedApplicationVanishesFromTheViewsAndThenFromTheTables(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	m := s.maintenance(t)
	gone := uuid.Must(uuid.NewV7())
	now := time.Now()
	var records []*calls.Record
	for i := range 30 {
		records = append(records, callstest.Mixed(now.Add(-time.Duration(i)*2*time.Hour), i)) // stays
		theirs := callstest.Mixed(now.Add(-time.Duration(i)*2*time.Hour), i)
		theirs.ApplicationID = gone
		records = append(records, theirs)
	}
	s.Shipped(t, records...)
	stay := s.rowsOf(t, callstest.Application)
	s.Execute(t, tombstone, gone, callstest.Owner, now)

	if err := m.hide(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, view := range []string{"live_calls", "live_usage_daily", "live_usage_hourly"} {
		if n := s.Number(t, `SELECT toInt64(count()) FROM `+view+` WHERE application_id = $1`, gone); n != 0 {
			t.Errorf("%s still shows %d rows", view, n)
		}
	}
	if s.rowsOf(t, gone) == 0 {
		t.Fatal("hiding removed rows")
	}
	for range 2 { // the second time there is nothing to do
		if err := m.sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.rowsOf(t, gone); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	if n := s.rowsOf(t, callstest.Application); n != stay {
		t.Errorf("another application has %d rows, had %d", n, stay)
	}
	if n := s.Counted(t); n != 30 {
		t.Errorf("%d calls are left, 30 should", n)
	}
}

func TestLateRowsOfADeletedApplicationAreSweptAfterADayWhenNoSpoolIsBehind(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	m := s.maintenance(t)
	gone, now := uuid.Must(uuid.NewV7()), time.Now()
	s.Execute(t, tombstone, gone, callstest.Owner, now)
	sweep := func() {
		t.Helper()
		if err := m.hide(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := m.sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	late := callstest.Failed(now)
	late.ApplicationID = gone
	s.Shipped(t, late)
	sweep()
	if s.rowsOf(t, gone) == 0 {
		t.Fatal("nothing came late")
	}
	if n := s.Number(t, `SELECT toInt64(count()) FROM live_calls`); n != 0 {
		t.Errorf("%d late calls show", n)
	}
	s.Execute(t, `UPDATE deleted_applications SET deleted_at = now() - interval '25 hours'`)
	dead := uuid.New()
	s.Execute(t, `INSERT INTO spools (id, node, through, updated_at) VALUES ($1, 'dead', now() - interval '24 hours 59 minutes', now() - interval '1 hour')`, dead)
	sweep()
	if s.rowsOf(t, gone) == 0 {
		t.Fatal("swept for the last time though a spool may hold more")
	}
	if _, err := m.ledger.Retire(t.Context(), dead, "root@example.com"); err != nil {
		t.Fatal(err)
	}
	sweep()
	if n := s.rowsOf(t, gone); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	var open int
	if err := s.Pool.QueryRow(t.Context(), `SELECT count(*) FROM deleted_applications WHERE purged_at IS NULL`).Scan(&open); err != nil || open != 0 {
		t.Errorf("%d not purged, %v", open, err)
	}
}

// TestLateRowsAreWaitedForAsLongAsACallMayTake: where calls may take more than a day, the last sweep comes after them.
func TestLateRowsAreWaitedForAsLongAsACallMayTake(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	m := s.maintenance(t)
	m.longest = 48 * time.Hour
	gone, began := uuid.Must(uuid.NewV7()), time.Now().Add(-48*time.Hour)
	s.Execute(t, tombstone, gone, callstest.Owner, began)
	sweep := func() {
		t.Helper()
		if err := m.hide(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := m.sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	late := callstest.Failed(began) // under way when the application was deleted, and until now
	late.ApplicationID = gone
	s.Shipped(t, late)
	sweep()
	if s.rowsOf(t, gone) == 0 {
		t.Fatal("swept for the last time while a call could still end")
	}
	s.Execute(t, `UPDATE deleted_applications SET deleted_at = deleted_at - interval '2 hours'`)
	sweep()
	if n := s.rowsOf(t, gone); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// TestTestsKnowEveryTableThatIsSwept: what they cannot import stands twice.
func TestTestsKnowEveryTableThatIsSwept(t *testing.T) {
	if !slices.Equal(sweptTables, ledgertest.Tables) {
		t.Errorf("swept are %v, tests know %v", sweptTables, ledgertest.Tables)
	}
}
