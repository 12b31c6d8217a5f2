package ledger

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/spool"
	"callgate/internal/embedded"
)

// dataPaths are the directories of tables that an insert of calls writes to.
func (s *stores) dataPaths(t *testing.T, tables ...string) []string {
	t.Helper()
	var paths []string
	err := s.conn.QueryRow(t.Context(), `SELECT groupArrayArray(data_paths) FROM system.tables
		WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name IN ($1)`, tables).Scan(&paths)
	if err != nil || len(paths) != len(tables) {
		t.Fatalf("data paths %v: %v", paths, err)
	}
	return paths
}

// failPower does what a power failure does: parts that were never synced are gone, the log of
// tokens is not.
func (s *stores) failPower(t *testing.T, engines *embedded.Engines, tables ...string) {
	t.Helper()
	s.failPowerOf(t, engines, "clickhouse", tables...)
}

// failPowerOf is failPower of one of several engines; s must be connected to it.
func (s *stores) failPowerOf(t *testing.T, engines *embedded.Engines, name string, tables ...string) {
	t.Helper()
	paths := s.dataPaths(t, tables...)
	up, err := engines.Down(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		parts, err := filepath.Glob(filepath.Join(path, "*_*_*_*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if err := os.RemoveAll(part); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := up(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// retained is a store whose last hundred calls are confirmed and still kept in the spool.
func retained(t *testing.T) (s *stores, engines *embedded.Engines, dir string) {
	t.Helper()
	engines = embedded.Own(t)
	s = connect(t, engines.ClickHouseURL(), engines.DatabaseURL())
	dir = t.TempDir()
	r := s.openRetaining(t, spool.Config{Dir: dir}, 3*time.Second)
	for i := range 100 {
		r.Add(callstest.Mixed(time.Now(), i))
	}
	callstest.Eventually(t, 30*time.Second, "the calls are confirmed", func() bool { return len(segments(t, dir, ".sent")) == 1 })
	return s, engines, dir
}

func awaitDeleted(t *testing.T, dir string) {
	t.Helper()
	callstest.Eventually(t, time.Minute, "the segment is deleted", func() bool {
		return len(segments(t, dir, ".sent")) == 0 && len(segments(t, dir, ".segment")) == 0
	})
}

func TestConfirmedRecordsThatARestartedServerLostAreSentAgain(t *testing.T) {
	t.Parallel()
	s, engines, dir := retained(t)
	s.failPower(t, engines, sweptTables...)
	callstest.Eventually(t, time.Minute, "the calls are counted again", func() bool {
		var n uint64
		return s.conn.QueryRow(t.Context(), `SELECT count() FROM calls`).Scan(&n) == nil && n == 100
	})
	awaitDeleted(t, dir)
	if n := s.counted(t); n != 100 {
		t.Errorf("%d calls are counted of 100", n)
	}
}

func TestRollupsAndDetailsThatARestartedServerLostAreRepaired(t *testing.T) {
	t.Parallel()
	s, engines, dir := retained(t)
	s.failPower(t, engines, "usage_daily", "usage_hourly", "call_failures")
	awaitDeleted(t, dir)
	m := s.maintenance(t)
	callstest.Eventually(t, time.Minute, "the day is compared", func() bool {
		if err := m.reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		var n int64
		err := s.conn.QueryRow(t.Context(), `SELECT toInt64(sum(calls)) FROM usage_daily`).Scan(&n)
		return err == nil && n == 100
	})
	s.agrees(t, m, beijing.Today(time.Now()))
	if n := s.counted(t); n != 100 {
		t.Errorf("%d calls are counted of 100", n)
	}
	if n := s.number(t, `SELECT toInt64(uniqExact(call_id) + count()) FROM call_failures`); n != 20 {
		t.Errorf("of 10 details there are %d rows and ids", n)
	}
}
