//go:build nightly

package main

import (
	"context"
	"sync"
	"testing"
	"time"
)

// TestAnHourWithoutClickHouseCostsNeitherCallsNorRecordsNorMemory takes ClickHouse away until as
// many calls are queued as a busy hour has (`make chaos`: two million), and brings it back.
func TestAnHourWithoutClickHouseCostsNeitherCallsNorRecordsNorMemory(t *testing.T) {
	queued := fromEnvironment("CHAOS_QUEUED", 20_000)
	h := newInstallation(t)
	n := h.node(t)
	load := &traffic{gateways: []string{n.base}, key: h.key, callers: 32}
	long, noise := 2*time.Second, 50*time.Millisecond // so short, a busy machine shows more than the gateway
	if queued > 1_000_000 {
		long, noise = 20*time.Second, 5*time.Millisecond
	}
	load.run(t.Context(), 5_000) // connections, caches, heap: all warm
	median, p99 := load.paced(t.Context(), 500, long)

	memory := n.watchMemory()
	up, err := h.engines.Down("clickhouse")
	if err != nil {
		t.Fatal(err)
	}
	before := len(load.seen)
	began := time.Now()
	load.run(t.Context(), queued/4)
	early := memory.now()
	load.run(t.Context(), queued-queued/4)
	took := time.Since(began)
	late := memory.now()
	medianAway, p99Away := load.paced(t.Context(), 500, long)
	waiting := len(load.seen) - before
	t.Logf("ClickHouse away: %d records queued in %v (%.0f calls/s), %.0f bytes of spool each",
		waiting, took.Round(time.Second), float64(queued)/took.Seconds(), float64(n.spoolBytes(t))/float64(len(load.seen)))
	t.Logf("memory of the gateway: %d MiB before, %d MiB with a quarter queued, %d MiB with all, %d MiB at most", memory.first>>20, early>>20, late>>20, memory.most()>>20)

	back := time.Now()
	if err := up(t.Context()); err != nil {
		t.Fatal(err)
	}
	ready := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	var during sync.WaitGroup
	part := &traffic{gateways: load.gateways, key: h.key, callers: 32, rate: 500}
	during.Go(func() { part.run(ctx, 0) })
	h.dev.awaitThrough(h.app, back, 10*time.Minute)
	caught := time.Since(ready)
	cancel()
	during.Wait()
	load.join(part)
	t.Logf("caught up within %v of ClickHouse answering, at 500 calls/s: %.0f records/s", caught.Round(time.Millisecond), float64(waiting)/caught.Seconds())
	t.Logf("a call took %.2f ms in the median and %.2f ms at p99 before, %.2f and %.2f with everything queued", ms(median), ms(p99), ms(medianAway), ms(p99Away))

	h.dev.awaitThrough(h.app, time.Now(), time.Minute)
	h.awaitNoDoubts(t)
	found := load.count(t, h.environment["CLICKHOUSE_URL"])
	t.Logf("%d calls seen, %d rows, %d lost, %d doubled, %d failed", len(load.seen), found.rows, len(found.lost), found.doubled, len(load.failed)+load.broken)
	if len(found.lost)+found.doubled+len(load.failed)+load.broken > 0 {
		t.Errorf("%d lost, %d doubled, %d calls failed, %d without an answer", len(found.lost), found.doubled, len(load.failed), load.broken)
	}
	if late > early+32<<20 {
		t.Errorf("memory grew from %d to %d MiB while three quarters were queued", early>>20, late>>20)
	}
	if medianAway > 3*median+noise {
		t.Errorf("the median call took %v before and %v with everything queued", median, medianAway)
	}
	verified(t, h.environment)
}
