package main

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"callgate/internal/openapi"
)

// TestOfThreeGatewaysOnOneSpoolDirectoryAKilledOnesCallsAreCountedByTheOthers kills one of three gateways that
// share a directory under load, and does not start it again.
func TestOfThreeGatewaysOnOneSpoolDirectoryAKilledOnesCallsAreCountedByTheOthers(t *testing.T) {
	h := newInstallation(t)
	shared := "SPOOL_DIR=" + filepath.Join(t.TempDir(), "spool")
	load := &traffic{key: h.key, callers: 12, rate: 600}
	var nodes []*node
	for range 3 {
		nodes = append(nodes, h.node(t, shared))
		load.gateways = append(load.gateways, nodes[len(nodes)-1].base)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { load.run(ctx, 0); close(done) }()
	defer func() { cancel(); <-done }()
	eventually(t, time.Minute, "calls are made and counted", func() error {
		overview := do[openapi.Overview](h.dev, "GET", "/api/statistics/applications/overview", nil)
		if n := h.spoolsBehind(t); n != 3 || overview.Calls < 1_000 {
			return fmt.Errorf("%d spools, %d calls", n, overview.Calls)
		}
		return nil
	})
	killed := time.Now()
	nodes[0].kill()
	eventually(t, time.Minute, "the killed gateway's spool is shipped", func() error {
		if n := h.spoolsBehind(t); n != 2 {
			return fmt.Errorf("%d spools", n)
		}
		return nil
	})
	took := time.Since(killed)
	h.dev.awaitThrough(h.app, killed, 5*time.Second)
	cancel()
	<-done
	h.dev.awaitThrough(h.app, time.Now(), 30*time.Second)
	h.awaitNoDoubts(t)
	if _, missed, err := h.dev.completeness(h.app); err != nil || missed != 0 {
		t.Errorf("%d are missed, %v", missed, err)
	}

	found := load.count(t, h.environment["CLICKHOUSE_URL"])
	t.Logf("the killed gateway's spool was shipped after %v; %d calls seen, %d rows, %d attempts without an answer, %d lost, %d doubled",
		took.Round(10*time.Millisecond), len(load.seen), found.rows, load.broken, len(found.lost), found.doubled)
	if len(load.failed) > 0 || found.doubled > 0 {
		t.Errorf("%d calls failed, %d doubled", len(load.failed), found.doubled)
	}
	k := &killer{installation: h, nodes: nodes, gateways: []gatewayKill{{0, killed}}}
	k.explain(t, found.lost, load.callers+int(float64(load.rate)/3*window.Seconds()))
	verified(t, h.environment)
}
