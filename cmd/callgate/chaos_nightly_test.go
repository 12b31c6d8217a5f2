//go:build nightly

package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestGatewaysAndClickHouseKilledInRandomOrderLoseNoConfirmedCall kills two gateways and ClickHouse
// at random instants, often while they recover from the kill before, under a steady load.
func TestGatewaysAndClickHouseKilledInRandomOrderLoseNoConfirmedCall(t *testing.T) {
	each := fromEnvironment("CHAOS_RANDOM_KILLS", 5)
	h := newInstallation(t)
	var nodes []*node
	for range 2 {
		nodes = append(nodes, h.node(t))
	}
	load := &traffic{gateways: []string{nodes[0].base, nodes[1].base}, key: h.key, callers: 24, rate: 900}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	began := time.Now()
	go func() { load.run(ctx, 0); close(done) }()

	k := &killer{installation: h, nodes: nodes, during: map[string]int{}, ownEnds: map[int]bool{}}
	targets := slices.Concat(slices.Repeat([]string{"gateway"}, each), slices.Repeat([]string{"clickhouse"}, each))
	rand.Shuffle(len(targets), func(i, j int) { targets[i], targets[j] = targets[j], targets[i] })
	for i, target := range targets {
		wait := rand.ExpFloat64() * float64(600*time.Millisecond)
		if i%3 == 1 { // soon after the kill before, while that one is recovered from
			wait = rand.Float64() * float64(200*time.Millisecond)
		}
		time.Sleep(time.Duration(wait))
		k.kill(t, target)
	}
	k.recovered(t)
	time.Sleep(time.Second)
	cancel()
	<-done
	over := time.Now()
	h.dev.awaitThrough(h.app, over, 2*time.Minute)
	h.awaitNoDoubts(t)

	found := load.count(t, h.environment["CLICKHOUSE_URL"])
	mean, least, slow := load.pace(500)
	t.Logf("%d kills of gateways and %d of ClickHouse in %v, %d during a recovery (%s); %.0f calls/s, %d in the slowest second, %d seconds below 500",
		len(k.gateways), k.clickhouse, over.Sub(began).Round(time.Second), k.recovering, k.kinds(), mean, least, slow)
	t.Logf("%d calls seen, %d rows, %d attempts without an answer, %d doubled; ClickHouse ended of itself %d times",
		len(load.seen), found.rows, load.broken, found.doubled, len(k.ownEnds))
	if each >= 100 && mean < 500 { // a few seconds tell of the machine only
		t.Errorf("%.0f calls/s", mean)
	}
	if 5*k.recovering < len(targets) {
		t.Errorf("%d of %d kills were during a recovery", k.recovering, len(targets))
	}
	if len(load.failed) > 0 || found.doubled > 0 {
		t.Errorf("%d calls failed, %d doubled, e.g. %v", len(load.failed), found.doubled, load.failed[:min(3, len(load.failed))])
	}
	k.explain(t, found.lost, load.callers+int(mean*window.Seconds()))
	verified(t, h.environment)
}
