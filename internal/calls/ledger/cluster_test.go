package ledger

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/spool"
	"callgate/internal/cluster"
	"callgate/internal/embedded"
)

// ofBothShards are applications of which each of two shards has some.
func ofBothShards() (applications []uuid.UUID) {
	for _, shard := range []int{0, 1, 0, 1, 0, 1} {
		id := uuid.New()
		for cluster.Of(id, 2) != shard {
			id = uuid.New()
		}
		applications = append(applications, id)
	}
	return applications
}

// by makes the i-th record one of the applications.
func by(applications []uuid.UUID, record *calls.Record, i int) *calls.Record {
	record.ApplicationID = applications[i%len(applications)]
	return record
}

// twoShards is a store of two real engines, and applications of both.
func twoShards(t *testing.T) (*stores, *embedded.Engines, []uuid.UUID) {
	t.Helper()
	engines := embedded.OwnCluster(t, 2)
	return connect(t, engines.ClickHouseURL(), engines.DatabaseURL()), engines, ofBothShards()
}

// perShard counts the calls that lie on each shard, and demands that they are of its applications.
func (s *stores) perShard(t *testing.T) (counts []int64) {
	t.Helper()
	to, err := openServers(s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = to.close() }()
	err = to.each(t.Context(), func(ctx context.Context, on *shard) error {
		var rows, foreign int64
		err := on.conn().QueryRow(ctx, `SELECT toInt64(count()), toInt64(countIf(`+cluster.Key(on.of)+` != $1)) FROM calls`, on.number-1).Scan(&rows, &foreign)
		if foreign > 0 {
			t.Errorf("shard %d holds %d calls of applications of others", on.number, foreign)
		}
		counts = append(counts, rows)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

func TestEachShardGetsTheCallsOfItsApplicationsOnce(t *testing.T) {
	t.Parallel()
	s, _, applications := twoShards(t)
	dir := t.TempDir()
	records := many(600)
	midnight := beijing.Today(time.Now()).Start()
	for i, record := range records {
		by(applications, record, i)
		if i%3 == 0 {
			record.Start = midnight.Add(-time.Duration(i) * time.Millisecond)
		}
	}
	spooled(t, dir, records...)
	for range 2 { // again under the same tokens
		if err := shut(s.open(t, spool.Config{Dir: copyDir(t, dir)})); err != nil {
			t.Fatal(err)
		}
	}
	if counts := s.perShard(t); len(counts) != 2 || counts[0] != 300 || counts[1] != 300 || s.counted(t) != 600 {
		t.Errorf("the shards hold %v of 600 calls", counts)
	}
	if n := s.number(t, `SELECT toInt64(count()) FROM call_failures`); n != 60 {
		t.Errorf("%d details are kept of 60", n)
	}
}

func (s *stores) doubts(t *testing.T) (days int) {
	t.Helper()
	if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM rollup_doubts`).Scan(&days); err != nil {
		t.Fatal(err)
	}
	return days
}

// TestRollupsOfEveryShardAreRepairedAndDeletedApplicationsSwept plants differences on both.
func TestRollupsOfEveryShardAreRepairedAndDeletedApplicationsSwept(t *testing.T) {
	t.Parallel()
	s, _, applications := twoShards(t)
	m := s.maintenance(t)
	day := beijing.Today(time.Now()) - 1
	var records []*calls.Record
	for i := range 120 {
		records = append(records, by(applications, callstest.Mixed(day.Start().Add(time.Duration(i)*time.Minute), i/len(applications)), i))
	}
	s.shipped(t, records...)
	embedded.OnShards(t, s.url, `TRUNCATE TABLE usage_daily`)
	if repaired, err := m.repair(t.Context(), day); err != nil || repaired == 0 {
		t.Fatalf("%d rows are repaired: %v", repaired, err)
	}
	s.agrees(t, m, day)
	if n := s.counted(t); n != 120 {
		t.Errorf("%d calls are counted of 120", n)
	}
	embedded.OnShards(t, s.url, `INSERT INTO calls SELECT * FROM calls LIMIT 1`)
	if rows, duplicates, err := m.duplicates(t.Context(), day); err != nil || rows != 122 || duplicates != 2 {
		t.Errorf("%d rows, %d too many, %v; one of each shard is there twice", rows, duplicates, err)
	}
	gone := []deletedApplication{{applications[0], time.Now()}, {applications[1], time.Now()}}
	for _, d := range gone {
		s.execute(t, tombstone, d.ID, callstest.Owner, d.DeletedAt)
	}
	embedded.OnShards(t, s.url, `INSERT INTO days_closed (application_id, day, revision) SELECT DISTINCT application_id, toDate(start_time), 1 FROM calls`)
	if err := m.hide(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.number(t, `SELECT toInt64(uniqExact(application_id)) FROM live_calls`); n != 4 {
		t.Errorf("%d applications are to be seen of 4", n)
	}
	if err := m.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, table := range sweptTables {
		if n := s.number(t, `SELECT toInt64(uniqExact(application_id)) FROM `+table); n != 4 {
			t.Errorf("%s holds %d applications of 4", table, n)
		}
	}
}
