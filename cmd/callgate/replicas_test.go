//go:build replicas

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"callgate/internal/embedded"
	_ "callgate/internal/embedded/replicapatch"
)

// onReplicas runs an experiment on the real product over one shard of two replicas, and over two shards of two, and
// demands afterwards that nothing is lost or doubled, that replicas hold the same, and that no answer promised more
// than it had.
func onReplicas(t *testing.T, experiment func(t *testing.T, h *replicatedHouse)) {
	for shards := 1; shards <= 2; shards++ {
		t.Run(fmt.Sprintf("%d x 2", shards), func(t *testing.T) {
			h := &replicatedHouse{}
			h.installation, h.apps, h.load = loadedInstallation(t, embedded.OwnReplicas(t, shards, 2), shards)
			h.watch = &witness{console: h.dev, apps: h.apps}
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			for _, f := range h.load {
				running.Go(func() { f.run(ctx, 0) })
			}
			running.Go(func() { h.watch.run(ctx) })
			experiment(t, h)
			cancel()
			running.Wait()
			h.settle(t, h.apps, h.load)
			h.alike(t)
			h.watch.judge(t, h.load)
		})
	}
}

// replicatedHouse is an installation under load whose ClickHouse has two replicas of each shard.
type replicatedHouse struct {
	*installation
	apps  []string
	load  []*traffic // by shard
	watch *witness
}

// replica names an engine of a shard, both from 0.
func (h *replicatedHouse) replica(shard, replica int) string {
	if n := 2*shard + replica; n > 0 {
		return fmt.Sprint("clickhouse", n+1)
	}
	return "clickhouse"
}

// TestReplicasKilledUnderLoadCostNoCallAndNoRecord kills replicas at random instants, often while one is catching up,
// never both of a shard at once.
func TestReplicasKilledUnderLoadCostNoCallAndNoRecord(t *testing.T) {
	kills := fromEnvironment("CHAOS_REPLICA_KILLS", 4)
	onReplicas(t, func(t *testing.T, h *replicatedHouse) {
		for range kills {
			name := h.replica(rand.IntN(len(h.load)), rand.IntN(2))
			up, err := h.engines.Down(name)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rand.ExpFloat64() * float64(500*time.Millisecond)))
			if err := up(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rand.ExpFloat64() * float64(500*time.Millisecond)))
		}
		t.Logf("%d kills of a replica", kills)
	})
}

// TestAReplicaThatFetchesNothingIsNotAskedWhileAnotherIsCurrent, and when it is the only one that is left, nothing is
// promised that it lacks.
func TestAReplicaThatFetchesNothingIsNotAskedWhileAnotherIsCurrent(t *testing.T) {
	stopped := time.Duration(fromEnvironment("CHAOS_FETCHES_SECONDS", 30)) * time.Second
	onReplicas(t, func(t *testing.T, h *replicatedHouse) {
		lacking := false
		for stale := range 2 {
			name, current := h.replica(0, stale), h.replica(0, 1-stale)
			h.system(t, name, "STOP FETCHES")
			from := time.Now()
			time.Sleep(stopped)
			lacking = h.lacks(t, name, current) || lacking
			h.watch.tell(t, from.Add(stopped/2), time.Now()) // before, one insert waited for the replica in vain
			eventually(t, time.Minute, "statistics are fresh", func() error { return h.watch.fresh(5 * time.Second) })
			up, err := h.engines.Down(current)
			if err != nil {
				t.Fatal(err)
			}
			h.watch.awaitAnswers(t, 10)
			if err := up(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.system(t, name, "START FETCHES")
			eventually(t, time.Minute, "statistics are fresh again", func() error { return h.watch.fresh(5 * time.Second) })
		}
		if !lacking {
			t.Error("neither replica lacked what the other one had")
		}
	})
}

// TestAFrozenZooKeeperCostsNoCallAndNoRecord: calls go on, statistics are answered, and records wait.
func TestAFrozenZooKeeperCostsNoCallAndNoRecord(t *testing.T) {
	frozen := time.Duration(fromEnvironment("CHAOS_FROZEN_SECONDS", 15)) * time.Second
	onReplicas(t, func(t *testing.T, h *replicatedHouse) {
		time.Sleep(3 * time.Second)
		pid := h.engines.PIDs()["zookeeper"]
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		thaw := sync.OnceFunc(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
		t.Cleanup(thaw)
		from := time.Now()
		time.Sleep(frozen)
		h.watch.heldBack(t, from, time.Now())
		thaw()
		began := time.Now()
		eventually(t, 2*time.Minute, "statistics are fresh again", func() error { return h.watch.fresh(5 * time.Second) })
		t.Logf("fresh %v after ZooKeeper went on", time.Since(began).Round(100*time.Millisecond))
	})
}
