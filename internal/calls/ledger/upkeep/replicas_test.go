//go:build replicas

package upkeep

import (
	"context"
	"fmt"
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
)

// TestSweepsRepairsAndRetentionWorkWithOneReplicaDownAndFinishWhenItIsBack: the replica that is used is the one that dies.
func TestSweepsRepairsAndRetentionWorkWithOneReplicaDownAndFinishWhenItIsBack(t *testing.T) {
	ledgertest.OnReplicas(t, func(t *testing.T, r *ledgertest.Replicated) {
		m := (&stores{r.Stores}).maintenance(t)
		day := beijing.Today(time.Now()) - 1
		var records []*calls.Record
		for i := range 120 {
			records = append(records, ledgertest.By(r.Applications, callstest.Mixed(day.Start().Add(time.Duration(i)*time.Minute), i/len(r.Applications)), i))
		}
		r.Shipped(t, records...)
		r.Alike(t, 120)
		expired(t, r, day)
		if err := m.hide(t.Context()); err != nil { // connects to the first replicas
			t.Fatal(err)
		}
		var ups []func(context.Context) error
		for shard := range r.Shards {
			up, err := r.Engines.Down(r.EngineOf(shard, 0))
			if err != nil {
				t.Fatal(err)
			}
			ups = append(ups, up)
		}
		without(t, r, m, day)
		for _, up := range ups {
			if err := up(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		// Of six applications two are gone, and half of a day's calls are too old.
		r.Alike(t, 80)
		for shard := range r.Shards {
			of := r.Node(t, shard, 0)
			if n := of.Number(t, `SELECT toInt64(count()) FROM calls WHERE application_id IN ($1)`, r.Applications[:2]); n > 0 {
				t.Errorf("the replica that was away keeps %d calls of deleted applications", n)
			}
			for _, table := range keptByTTL {
				if n := of.Number(t, `SELECT toInt64(count()) FROM `+table+` WHERE model = 'old'`); n > 0 {
					t.Errorf("the replica that was away keeps %d expired rows in %s", n, table)
				}
			}
			if n := of.Number(t, `SELECT toInt64(uniqExact(application_id)) FROM deleted_applications`); n != 2 {
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
func expired(t *testing.T, r *ledgertest.Replicated, day beijing.Day) {
	t.Helper()
	for shard := range r.Shards {
		first, second := r.Node(t, shard, 0), r.Node(t, shard, 1)
		for _, table := range keptByTTL {
			first.Statement(t, `SYSTEM STOP TTL MERGES `+table)
			second.Statement(t, `SYSTEM STOP TTL MERGES `+table)
		}
		first.Statement(t, fmt.Sprintf(`INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, success)
			SELECT '%s', fromUnixTimestamp64Milli(%d) + number, generateUUIDv4(), 'old', 5, true FROM numbers(10)`, r.Applications[2+shard], (day-500).Start().UnixMilli()))
		second.Statement(t, `SYSTEM SYNC REPLICA app_models`)
		for _, table := range keptByTTL {
			second.Statement(t, `SYSTEM SYNC REPLICA `+table)
			if n := second.Number(t, `SELECT toInt64(count()) FROM `+table+` WHERE model = 'old'`); n == 0 {
				t.Errorf("the other replica has no old rows in %s", table)
			}
		}
	}
}

// without does with one replica of each shard down what is done in the background: what is too old goes, rollups are
// repaired, and applications swept.
func without(t *testing.T, r *ledgertest.Replicated, m *Maintenance, day beijing.Day) {
	t.Helper()
	for shard := range r.Shards {
		of := r.Node(t, shard, 1)
		callstest.Eventually(t, time.Minute, "old calls are gone on the replica that lives", func() bool {
			left := int64(0)
			for _, table := range keptByTTL {
				of.Statement(t, `SYSTEM START TTL MERGES `+table)
				of.Statement(t, `OPTIMIZE TABLE `+table+` FINAL`)
				left += of.Number(t, `SELECT toInt64(count()) FROM `+table+` WHERE model = 'old'`)
			}
			return left == 0
		})
		of.Statement(t, `ALTER TABLE usage_daily DELETE WHERE day = '`+day.String()+`' SETTINGS mutations_sync = 1`)
	}
	callstest.Eventually(t, time.Minute, "the rollups are repaired", func() bool {
		repaired, err := m.repair(t.Context(), day)
		if err != nil {
			t.Log(err)
		}
		return err == nil && repaired > 0
	})
	for _, id := range r.Applications[:2] {
		r.Execute(t, tombstone, id, callstest.Owner, time.Now())
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
	for shard := range r.Shards {
		if n := r.Node(t, shard, 1).Number(t, `SELECT toInt64(count()) FROM calls WHERE application_id IN ($1)`, r.Applications[:2]); n > 0 {
			t.Errorf("the replica that lives keeps %d calls of deleted applications", n)
		}
	}
}
