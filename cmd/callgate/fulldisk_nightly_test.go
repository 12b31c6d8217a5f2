//go:build nightly

package main

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestAFullSpoolDiskCostsRecordsThatAreCountedButNoCall gives the gateway's spool a small file system
// of its own, fills it while ClickHouse is away, and frees it again.
func TestAFullSpoolDiskCostsRecordsThatAreCountedButNoCall(t *testing.T) {
	h := newInstallation(t)
	n := h.prepare(t, "RECORD_RING_BYTES=500000")
	n.disk = 1 << 20
	n.start(t)
	n.awaitCalls(t, h.key)
	load := &traffic{gateways: []string{n.base}, key: h.key, callers: 32, rate: 4000}
	ctx, cancel := context.WithCancel(t.Context())
	var loading sync.WaitGroup
	loading.Go(func() { load.run(ctx, 0) })
	up, err := h.engines.Down("clickhouse")
	if err != nil {
		t.Fatal(err)
	}
	dropped := func() int64 {
		var calls int64
		if err := h.ledger.QueryRowContext(t.Context(), `SELECT coalesce(sum(calls), 0)::bigint FROM dropped_calls`).Scan(&calls); err != nil {
			t.Fatal(err)
		}
		return calls
	}
	eventually(t, 2*time.Minute, "the disk is full and records are dropped", func() error {
		if n := dropped(); n < 2000 {
			return fmt.Errorf("%d dropped", n)
		}
		return nil
	})
	var disk syscall.Statfs_t
	if err := syscall.Statfs(n.spoolDir(), &disk); err != nil {
		t.Fatal(err)
	}
	full := dropped()
	if err := up(t.Context()); err != nil { // what is shipped makes room
		t.Fatal(err)
	}
	eventually(t, time.Minute, "nothing is dropped any more", func() error {
		was := dropped()
		time.Sleep(2 * time.Second)
		if now := dropped(); now != was {
			return fmt.Errorf("%d dropped since", now-was)
		}
		return nil
	})
	cancel()
	loading.Wait()
	h.dev.awaitThrough(h.app, time.Now(), time.Minute)
	h.awaitNoDoubts(t)

	found := load.count(t, h.environment["CLICKHOUSE_URL"])
	_, missed, err := h.dev.completeness(h.app)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a disk of %d KiB with %d KiB free; %d calls, %d failed; %d dropped while it was full and ClickHouse away, %d in all; %d lost, missed says %d",
		disk.Blocks*uint64(disk.Bsize)>>10, disk.Bavail*uint64(disk.Bsize)>>10, len(load.seen), len(load.failed)+load.broken, full, dropped(), len(found.lost), missed)
	if len(load.failed)+load.broken > 0 {
		t.Errorf("%d calls failed, %d had no answer: %v", len(load.failed), load.broken, load.failed[:min(3, len(load.failed))])
	}
	if int(missed) != len(found.lost) || dropped() != missed || missed == 0 {
		t.Errorf("%d calls are lost, the ledger counts %d, the statistics say missed %d", len(found.lost), dropped(), missed)
	}
	if found.doubled > 0 {
		t.Errorf("%d doubled", found.doubled)
	}
	verified(t, h.environment)
}
