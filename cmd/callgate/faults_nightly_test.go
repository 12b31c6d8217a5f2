//go:build nightly

package main

import (
	"testing"
)

// TestProductKilledUnderLoadKeepsWhatItWrote kills gateway, console and stores together and starts
// them again on their data.
func TestProductKilledUnderLoadKeepsWhatItWrote(t *testing.T) {
	up := newScripted(t)
	environment := map[string]string{"DATA_DIR": t.TempDir()}
	p := startDev(t, environment)
	p.administrator().capability("chat", up.URL, upstreamKey)
	dev := p.developer("dev@example.com")
	app, key := dev.application("Load", "chat")
	restart := func() *process {
		dev.process = startDev(t, environment)
		return dev.process
	}
	killed := killUnderLoad(t, restart, p, key)
	dev.checkKills(app, killed)
	verified(t, connections(t, environment["DATA_DIR"]))
}
