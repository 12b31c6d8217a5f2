//go:build upgrade

package main

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"callgate/internal/embedded"
)

// former is the last landed version's commit.
const former = "4920ca324828248082ddf375a7df2cf003b4d319"

// TestUpgradedInTurnUnderLoadAndBackNoCallFailsAndNoRecordIsLost replaces each process of the last landed version by one of
// this version and back, UPGRADE_ROUNDS times, on data and with a binary of that version. Calls go through nginx
// meanwhile.
func TestUpgradedInTurnUnderLoadAndBackNoCallFailsAndNoRecordIsLost(t *testing.T) {
	rounds := fromEnvironment("UPGRADE_ROUNDS", 1)
	old := builtFromHistory(t, former)
	checked := http.DefaultClient.Transport
	http.DefaultClient.Transport = http.DefaultTransport // that version's answers are not of this version's contract
	t.Cleanup(func() { http.DefaultClient.Transport = checked })
	h := newInstallationOf(t, old, embedded.Own(t))
	roomy(h)
	gateways := []*node{h.node(t), h.node(t), h.node(t)} // each on a directory of its own, as that version demands
	console := h.prepare(t)
	console.role = "console"
	console.start(t)
	console.awaitReady(t)
	f := newFleet(t, h, gateways, console)
	stop := f.load(t)
	for range rounds {
		time.Sleep(2 * time.Second) // of calls by this version alone
		migrate(t, h.environment)
		for i, n := range gateways {
			f.front.TakeOut(t, i) // that version leaves without leading its callers elsewhere
			time.Sleep(noticed)
			n.replace(t, binary)
			f.front.PutBack(t, i)
		}
		console.replace(t, binary)
		time.Sleep(2 * time.Second)
		for _, n := range append(gateways, console) {
			n.replace(t, old)
		}
	}
	time.Sleep(2 * time.Second)
	stop()
	f.settle(t, h, f.probes)
	t.Logf("%d rounds", rounds)
}

// noticed is more than calls take that are under way to a gateway when it is taken out.
const noticed = 1500 * time.Millisecond

// replace restarts a process as one of another version.
func (n *node) replace(t *testing.T, program string) {
	t.Helper()
	n.leave(t)
	n.program = program
	n.start(t)
	n.awaitReady(t)
}

// builtFromHistory builds the program as it was at a commit.
func builtFromHistory(t *testing.T, commit string) string {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join("..", "..")
	if err := exec.CommandContext(t.Context(), "git", "-C", root, "cat-file", "-e", commit+"^{commit}").Run(); err != nil {
		t.Fatalf("this test builds the version of commit %s, which is not in this clone: git fetch --unshallow", commit)
	}
	for _, command := range [][]string{
		{"git", "-C", root, "archive", "--output", filepath.Join(dir, "source.tar"), commit},
		{"tar", "-C", dir, "-xf", filepath.Join(dir, "source.tar")},
		{"go", "build", "-C", dir, "-o", filepath.Join(dir, "callgate"), "./cmd/callgate"},
	} {
		build := exec.CommandContext(t.Context(), command[0], command[1:]...)
		build.Env = append(build.Environ(), "CGO_ENABLED=0", "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
	return filepath.Join(dir, "callgate")
}
