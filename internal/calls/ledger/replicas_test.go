//go:build replicas

package ledger

import (
	"context"
	"fmt"
	"net"
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

// onReplicas runs a test on one shard of two replicas and on two shards of two.
func onReplicas(t *testing.T, test func(t *testing.T, r *replicated)) {
	for shards := 1; shards <= 2; shards++ {
		t.Run(fmt.Sprintf("%d x 2", shards), func(t *testing.T) {
			engines := embedded.OwnReplicas(t, shards, 2)
			r := &replicated{stores: connect(t, engines.ClickHouseURL(), engines.DatabaseURL()), engines: engines, shards: shards}
			for i := range 6 {
				id := uuid.New()
				for cluster.Of(id, shards) != i%shards {
					id = uuid.New()
				}
				r.applications = append(r.applications, id)
			}
			test(t, r)
		})
	}
}

// replicated is a cluster whose shards have two replicas each.
type replicated struct {
	*stores
	engines      *embedded.Engines
	shards       int
	applications []uuid.UUID
}

// engineOf names the engine of a replica of a shard, both from 0.
func (r *replicated) engineOf(shard, replica int) string {
	if n := 2*shard + replica; n > 0 {
		return fmt.Sprint("clickhouse", n+1)
	}
	return "clickhouse"
}

// node connects to the rows of one replica.
func (r *replicated) node(t *testing.T, shard, replica int) *stores {
	t.Helper()
	return connect(t, r.engines.ClickHouseDSNOf(r.engineOf(shard, replica), cluster.ShardDatabase("callgate")), r.engines.DatabaseURL())
}

// alike waits until both replicas of every shard have fetched everything, and demands that they hold the same: so many
// calls over all shards, each once, and rollups that agree with them.
func (r *replicated) alike(t *testing.T, want int64) {
	t.Helper()
	total := int64(0)
	for shard := range r.shards {
		var counts [2]int64
		for replica := range counts {
			of := r.node(t, shard, replica)
			for _, table := range append([]string{"deleted_applications"}, sweptTables...) {
				if err := of.conn.Exec(t.Context(), `SYSTEM SYNC REPLICA `+table); err != nil {
					t.Fatal(err)
				}
			}
			counts[replica] = of.counted(t)
		}
		if counts[0] != counts[1] {
			t.Errorf("the replicas of shard %d hold %v calls", shard+1, counts)
		}
		total += counts[0]
	}
	if total != want {
		t.Errorf("%d calls are counted of %d", total, want)
	}
}

// through opens servers whose connections to replicas lead over links.
func (r *replicated) through(t *testing.T, of func(engine string) (asked, answered func([]byte) bool)) *servers {
	t.Helper()
	links := map[string]string{}
	for shard := range r.shards {
		for replica := range 2 {
			engine := r.engineOf(shard, replica)
			link := embedded.NewLink(t, r.engines.ClickHouseDSNOf(engine, "default"))
			link.Inspect(of(engine))
			direct, _, err := cluster.Parse(r.engines.ClickHouseDSNOf(engine, "default"))
			if err != nil {
				t.Fatal(err)
			}
			via, _, err := cluster.Parse(link.URL())
			if err != nil {
				t.Fatal(err)
			}
			links[direct.Addr[0]] = via.Addr[0]
		}
	}
	to, err := openServers(r.url)
	if err != nil {
		t.Fatal(err)
	}
	to.options.DialContext = func(ctx context.Context, address string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", links[address])
	}
	return to
}

// TestAnInsertWhoseAnswerIsLostIsRetriedThroughTheOtherReplicaAndCountsOnce: REPLICA_CUTS times on each kind
// of cluster. On a busy machine a retry may fail too, and the next one come through the first replica again: such cuts
// are made besides.
func TestAnInsertWhoseAnswerIsLostIsRetriedThroughTheOtherReplicaAndCountsOnce(t *testing.T) {
	cuts := callstest.FromEnvironment("REPLICA_CUTS", 10)
	onReplicas(t, func(t *testing.T, r *replicated) {
		c := newReplicaCutter(t, r)
		from := openSpool(t, spool.Config{SealAfter: 5 * time.Millisecond})
		recorder := &recorder{from, newShipper(Config{Retain: time.Minute}, from, r.through(t, c.inspect), r.pool, callstest.Quiet)}
		recorder.shipper.start()
		waves := 0
		for ; c.state().elsewhere < cuts; waves++ {
			c.plan(waves)
			for i := range wave {
				recorder.Add(by(r.applications, callstest.Mixed(time.Now(), i), i))
			}
			callstest.Eventually(t, time.Minute, "the wave is shipped", func() bool {
				return recorder.Written() == uint64(waves*wave+wave) && recorder.Pending().Oldest == spool.Never
			})
		}
		if err := shut(recorder); err != nil {
			t.Fatal(err)
		}
		r.alike(t, int64(waves*wave))
		if n := r.number(t, `SELECT toInt64(count()) FROM call_failures`); n != int64(waves*wave/10) {
			t.Errorf("%d details are kept of %d", n, waves*wave/10)
		}
		s := c.state()
		t.Logf("%d answers lost in %d waves of %d calls, %d after the insert was applied; %d retried through the other replica", s.cut, waves, wave, s.applied, s.elsewhere)
	})
}

// TestSweepsRepairsAndRetentionWorkWithOneReplicaDownAndFinishWhenItIsBack: the replica that is used is the one that dies.
func TestSweepsRepairsAndRetentionWorkWithOneReplicaDownAndFinishWhenItIsBack(t *testing.T) {
	onReplicas(t, func(t *testing.T, r *replicated) {
		m := r.maintenance(t)
		day := beijing.Today(time.Now()) - 1
		var records []*calls.Record
		for i := range 120 {
			records = append(records, by(r.applications, callstest.Mixed(day.Start().Add(time.Duration(i)*time.Minute), i/len(r.applications)), i))
		}
		r.shipped(t, records...)
		r.alike(t, 120)
		r.expired(t, day)
		if err := m.hide(t.Context()); err != nil { // connects to the first replicas
			t.Fatal(err)
		}
		var ups []func(context.Context) error
		for shard := range r.shards {
			up, err := r.engines.Down(r.engineOf(shard, 0))
			if err != nil {
				t.Fatal(err)
			}
			ups = append(ups, up)
		}
		r.without(t, m, day)
		for _, up := range ups {
			if err := up(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		// Of six applications two are gone, and half of a day's calls are too old.
		r.alike(t, 80)
		for shard := range r.shards {
			of := r.node(t, shard, 0)
			if n := of.number(t, `SELECT toInt64(count()) FROM calls WHERE application_id IN ($1)`, r.applications[:2]); n > 0 {
				t.Errorf("the replica that was away keeps %d calls of deleted applications", n)
			}
			for _, table := range keptByTTL {
				if n := of.number(t, `SELECT toInt64(count()) FROM `+table+` WHERE model = 'old'`); n > 0 {
					t.Errorf("the replica that was away keeps %d expired rows in %s", n, table)
				}
			}
			if n := of.number(t, `SELECT toInt64(uniqExact(application_id)) FROM deleted_applications`); n != 2 {
				t.Errorf("the replica that was away knows of %d deleted applications", n)
			}
		}
		if repaired, err := m.repair(t.Context(), day); err != nil || repaired != 0 {
			t.Errorf("once more %d rows are repaired: %v", repaired, err)
		}
	})
}

// keptByTTL are the tables whose rows expire in the same way.
var keptByTTL = []string{"calls", "usage_daily", "usage_hourly"}

// expired plants calls on both replicas that are older than they are kept.
func (r *replicated) expired(t *testing.T, day beijing.Day) {
	t.Helper()
	for shard := range r.shards {
		first, second := r.node(t, shard, 0), r.node(t, shard, 1)
		for _, table := range keptByTTL {
			first.statement(t, `SYSTEM STOP TTL MERGES `+table)
			second.statement(t, `SYSTEM STOP TTL MERGES `+table)
		}
		first.statement(t, fmt.Sprintf(`INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, success)
			SELECT '%s', fromUnixTimestamp64Milli(%d) + number, generateUUIDv4(), 'old', 5, true FROM numbers(10)`, r.applications[2+shard], (day-500).Start().UnixMilli()))
		second.statement(t, `SYSTEM SYNC REPLICA app_models`)
		for _, table := range keptByTTL {
			second.statement(t, `SYSTEM SYNC REPLICA `+table)
			if n := second.number(t, `SELECT toInt64(count()) FROM `+table+` WHERE model = 'old'`); n == 0 {
				t.Errorf("the other replica has no old rows in %s", table)
			}
		}
	}
}

func (s *stores) statement(t *testing.T, statement string) {
	t.Helper()
	if err := s.conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// without does with one replica of each shard down what is done in the background: what is too old goes, rollups are
// repaired, and applications swept.
func (r *replicated) without(t *testing.T, m *Maintenance, day beijing.Day) {
	t.Helper()
	for shard := range r.shards {
		of := r.node(t, shard, 1)
		callstest.Eventually(t, time.Minute, "old calls are gone on the replica that lives", func() bool {
			left := int64(0)
			for _, table := range keptByTTL {
				of.statement(t, `SYSTEM START TTL MERGES `+table)
				of.statement(t, `OPTIMIZE TABLE `+table+` FINAL`)
				left += of.number(t, `SELECT toInt64(count()) FROM `+table+` WHERE model = 'old'`)
			}
			return left == 0
		})
		of.statement(t, `ALTER TABLE usage_daily DELETE WHERE day = '`+day.String()+`' SETTINGS mutations_sync = 1`)
	}
	callstest.Eventually(t, time.Minute, "the rollups are repaired", func() bool {
		repaired, err := m.repair(t.Context(), day)
		if err != nil {
			t.Log(err)
		}
		return err == nil && repaired > 0
	})
	for _, id := range r.applications[:2] {
		r.execute(t, tombstone, id, callstest.Owner, time.Now())
	}
	for _, task := range []func(context.Context) error{m.hide, m.sweep} {
		callstest.Eventually(t, time.Minute, "deleted applications are hidden and swept", func() bool {
			err := task(t.Context())
			if err != nil {
				t.Log(err)
			}
			return err == nil
		})
	}
	for shard := range r.shards {
		if n := r.node(t, shard, 1).number(t, `SELECT toInt64(count()) FROM calls WHERE application_id IN ($1)`, r.applications[:2]); n > 0 {
			t.Errorf("the replica that lives keeps %d calls of deleted applications", n)
		}
	}
}
