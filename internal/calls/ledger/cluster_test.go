package ledger

import (
	"context"
	"net/url"
	"sync"
	"syscall"
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

func TestAKilledShardLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	s, engines, applications := twoShards(t)
	kills := callstest.FromEnvironment("CHAOS_SHARD_KILLS", 4)
	r := s.open(t, spool.Config{SealAfter: 20 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	var adding sync.WaitGroup
	added := 0
	adding.Go(func() {
		for ; ctx.Err() == nil; added++ {
			r.Add(by(applications, callstest.Mixed(time.Now(), added/len(applications)), added))
			if added%10 == 9 {
				pause(nil, 3*time.Millisecond)
			}
		}
	})
	for i := range kills {
		pause(nil, 500*time.Millisecond)
		if err := engines.Kill(t.Context(), []string{"clickhouse", "clickhouse2"}[i%2]); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	adding.Wait()
	if err := shut(r); err != nil {
		t.Fatal(err)
	}
	if n := s.number(t, `SELECT toInt64(count()) FROM calls`); n != int64(added) {
		t.Errorf("%d calls are there of %d", n, added)
	}
	// A kill may take rows that were confirmed, but not their rollups: then the day is in doubt, and repaired.
	doubtful, m := s.doubts(t), s.maintenance(t)
	callstest.Eventually(t, time.Minute, "days in doubt are compared", func() bool {
		if err := m.reconcile(t.Context()); err != nil {
			t.Log(err)
		}
		return s.doubts(t) == 0
	})
	if n := s.counted(t); n != int64(added) {
		t.Errorf("%d calls are counted of %d", n, added)
	}
	s.perShard(t)
	t.Logf("%d kills of a shard during %d calls, %d days in doubt", kills, added, doubtful)
}

func (s *stores) doubts(t *testing.T) (days int) {
	t.Helper()
	if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM rollup_doubts`).Scan(&days); err != nil {
		t.Fatal(err)
	}
	return days
}

// TestAShardThatIsAwayOrHangsHoldsUpItsOwnCallsAlone: those of the other are there as soon as ever, and its own
// when it is back.
func TestAShardThatIsAwayOrHangsHoldsUpItsOwnCallsAlone(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"away", "hangs"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			s, engines, applications := twoShards(t)
			other := connect(t, embedded.WithSettings(s.url, "?optimize_skip_unused_shards=1"), engines.DatabaseURL())
			r := s.open(t, spool.Config{})
			r.Add(by(applications, callstest.Success(time.Now()), 0))
			r.Add(by(applications, callstest.Success(time.Now()), 1))
			callstest.Eventually(t, 20*time.Second, "both shards have a call", func() bool { return r.Pending().Oldest == spool.Never })
			back := stopShard(t, engines, state)
			for i := range 20 {
				r.Add(by(applications, callstest.Mixed(time.Now(), i/2), i))
			}
			callstest.Eventually(t, 10*time.Second, "the calls of the live shard are there", func() bool {
				n := other.number(t, `SELECT toInt64(count()) FROM calls WHERE application_id IN ($1)`, []uuid.UUID{applications[0], applications[2], applications[4]})
				return n == 11
			})
			if r.Pending().Oldest == spool.Never {
				t.Error("the calls of the shard that is not there are confirmed")
			}
			back()
			callstest.Eventually(t, 2*time.Minute, "everything is confirmed", func() bool { return r.Pending().Oldest == spool.Never })
			if n := s.counted(t); n != 22 {
				t.Errorf("%d calls are counted of 22", n)
			}
		})
	}
}

// stopShard makes the second shard one that is away or hangs.
func stopShard(t *testing.T, engines *embedded.Engines, state string) (back func()) {
	t.Helper()
	if state == "hangs" {
		pid := engines.PIDs()["clickhouse2"]
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		back = sync.OnceFunc(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
		t.Cleanup(back)
		return back
	}
	up, err := engines.Down("clickhouse2")
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := up(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
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

// TestAClusterThatIsAwayWhenAGatewayStartsGetsItsCallsWhenItComes: its shards are not known before.
func TestAClusterThatIsAwayWhenAGatewayStartsGetsItsCallsWhenItComes(t *testing.T) {
	t.Parallel()
	s, engines, applications := twoShards(t)
	var ups []func(context.Context) error
	for _, name := range []string{"clickhouse", "clickhouse2"} {
		up, err := engines.Down(name)
		if err != nil {
			t.Fatal(err)
		}
		ups = append(ups, up)
	}
	r := s.open(t, spool.Config{})
	for i := range 10 {
		r.Add(by(applications, callstest.Success(time.Now()), i))
	}
	callstest.Eventually(t, 5*time.Second, "they are on disk", func() bool { return r.Written() == 10 })
	pause(nil, time.Second) // it looks for the shards meanwhile
	for _, up := range ups {
		if err := up(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	callstest.Eventually(t, 20*time.Second, "everything is confirmed", func() bool { return r.Pending().Oldest == spool.Never })
	if n := s.counted(t); n != 10 {
		t.Errorf("%d calls are counted of 10", n)
	}
}

// TestConfirmedCallsThatOneRestartedShardLostAreSentToItAgain: the other keeps its own, once.
func TestConfirmedCallsThatOneRestartedShardLostAreSentToItAgain(t *testing.T) {
	t.Parallel()
	s, engines, applications := twoShards(t)
	dir := t.TempDir()
	r := s.openRetaining(t, spool.Config{Dir: dir}, 3*time.Second)
	for i := range 120 {
		r.Add(by(applications, callstest.Mixed(time.Now(), i/len(applications)), i))
	}
	callstest.Eventually(t, 30*time.Second, "the calls are confirmed", func() bool { return len(segments(t, dir, ".sent")) == 1 })
	shard := connect(t, onlyNode(t, s.url, 1), engines.DatabaseURL())
	shard.failPowerOf(t, engines, "clickhouse2", sweptTables...)
	callstest.Eventually(t, time.Minute, "the calls are counted again", func() bool {
		var n uint64
		return s.conn.QueryRow(t.Context(), `SELECT count() FROM calls`).Scan(&n) == nil && n == 120
	})
	awaitDeleted(t, dir)
	if n := s.counted(t); n != 120 {
		t.Errorf("%d calls are counted of 120", n)
	}
}

// onlyNode is the address of the rows of one shard.
func onlyNode(t *testing.T, address string, node int) string {
	t.Helper()
	options, _, err := cluster.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u := url.URL{Scheme: "clickhouse", User: url.UserPassword(options.Auth.Username, options.Auth.Password), Host: options.Addr[node],
		Path: "/" + cluster.ShardDatabase(options.Auth.Database)}
	return u.String()
}
