package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"callgate/internal/nginxtest"
)

// callsPerSecond is the load under which processes are replaced.
const callsPerSecond = 500

// roomy lets one application, which makes all calls here, have all that there is: on a busy machine calls pile up, and
// are to wait.
func roomy(h *installation) {
	h.environment["MAX_APPLICATION_SHARE"], h.environment["MAX_UPSTREAM_CONNS"] = "1", "16384"
}

// fleet is what stands behind nginx, and the calls that go through it.
type fleet struct {
	*openLoad
	front  *nginxtest.Front
	probes int // calls made before the load
}

func newFleet(t *testing.T, h *installation, gateways []*node, console *node) *fleet {
	t.Helper()
	var addresses []string
	for _, n := range gateways {
		addresses = append(addresses, strings.TrimPrefix(n.base, "http://"))
	}
	f := &fleet{front: nginxtest.Start(t, addresses, []string{strings.TrimPrefix(console.base, "http://")})}
	f.openLoad = &openLoad{base: f.front.Base, key: h.key, rate: callsPerSecond}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("nginx says %v", complaints(f.front.Log()))
		}
	})
	h.dev.awaitThrough(h.app, time.Now(), 30*time.Second)
	f.probes = (&traffic{}).count(t, h.environment["CLICKHOUSE_URL"]).rows
	return f
}

// load begins to make calls; the function it returns ends that, and so does the test's end.
func (f *fleet) load(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { f.run(ctx); close(done) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// restart replaces a process by another one on its address, and waits until that one is ready.
func (f *fleet) restart(t *testing.T, n *node) {
	t.Helper()
	n.leave(t)
	n.start(t)
	n.awaitReady(t)
}

// complaints counts what a log of nginx says, without what it says of answers that upstreams cut.
func complaints(log string) map[string]int {
	kinds := map[string]int{}
	for _, line := range strings.Split(log, "\n") {
		_, said, _ := strings.Cut(line, ": ")
		if said, _, _ = strings.Cut(said, ", client"); said != "" && !strings.Contains(line, "/v1/cut") {
			kinds[strings.TrimLeft(said, "*0123456789 ")]++
		}
	}
	return kinds
}
