//go:build nightly

package main

import (
	"path/filepath"
	"testing"
)

// TestProcessesRestartedInTurnBehindNginxCostNoCallAndNoRecord restarts three gateways that share a directory, and a
// console, one after another, ROLLING_ROUNDS times. Calls of all kinds go through the real nginx with its shipped
// settings meanwhile, and nobody calls twice.
func TestProcessesRestartedInTurnBehindNginxCostNoCallAndNoRecord(t *testing.T) {
	rounds := fromEnvironment("ROLLING_ROUNDS", 1)
	h := newInstallation(t)
	roomy(h)
	shared := "SPOOL_DIR=" + filepath.Join(t.TempDir(), "spool")
	all := []*node{h.node(t, shared), h.node(t, shared), h.node(t, shared)}
	console := h.prepare(t)
	console.role = "console"
	console.start(t)
	console.awaitReady(t)
	f := newFleet(t, h, all, console)
	stop := f.load(t)
	for range rounds {
		for _, n := range append(all, console) {
			f.restart(t, n)
		}
	}
	stop()
	f.settle(t, h, f.probes)
	t.Logf("%d rounds", rounds)
}
