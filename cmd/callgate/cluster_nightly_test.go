//go:build nightly

package main

import (
	"context"
	"sync"
	"syscall"
	"testing"
)

// TestAShardThatHangsCostsAnAnswerThreeSecondsAndNoCall stops a shard as a hanging disk or network does.
func TestAShardThatHangsCostsAnAnswerThreeSecondsAndNoCall(t *testing.T) {
	h, apps, load := shardedInstallation(t)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, f := range load {
		running.Go(func() { f.run(ctx, 0) })
	}
	for hangs, name := range shardsOfTests {
		h.answers(t, apps, -1)
		pid := h.engines.PIDs()[name]
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		thaw := sync.OnceFunc(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
		t.Cleanup(thaw)
		for range 3 {
			h.answers(t, apps, hangs)
		}
		thaw()
	}
	cancel()
	running.Wait()
	h.settle(t, apps, load)
}

// TestShardsKilledUnderLoadCostNoCallAndNoRecord kills one shard or the other while applications of both are
// called. Statistics of what lies on a dead shard are said to be unavailable, those of the other are right.
func TestShardsKilledUnderLoadCostNoCallAndNoRecord(t *testing.T) {
	kills := fromEnvironment("CHAOS_SHARD_KILLS", 4)
	h, apps, load := shardedInstallation(t)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, f := range load {
		running.Go(func() { f.run(ctx, 0) })
	}
	refused := 0
	for i := range kills {
		dead := i % 2
		h.answers(t, apps, -1)
		up, err := h.engines.Down(shardsOfTests[dead])
		if err != nil {
			t.Fatal(err)
		}
		h.answers(t, apps, dead)
		refused++
		if err := up(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	running.Wait()
	h.settle(t, apps, load)
	t.Logf("%d kills of a shard", refused)
}
