package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// killer kills and starts again, and keeps when.
type killer struct {
	*installation
	nodes      []*node
	gateways   []gatewayKill
	clickhouse int
	recovering int
	during     map[string]int
	ownEnds    map[int]bool // pids of ClickHouse that ended without being killed
	lastPID    int
	coming     sync.WaitGroup // ClickHouse being brought back
	down       atomic.Int32
}

type gatewayKill struct {
	gateway int
	at      time.Time
}

// kill kills a gateway, never the last one that is ready, or ClickHouse.
func (k *killer) kill(t *testing.T, target string) {
	t.Helper()
	if target == "clickhouse" {
		k.killClickHouse(t)
		return
	}
	victim := rand.IntN(len(k.nodes))
	if other := k.nodes[1-victim]; !other.ready.Load() {
		victim = 1 - victim // it is killed while it starts
	}
	k.note(t)
	k.gateways = append(k.gateways, gatewayKill{victim, time.Now()})
	k.nodes[victim].kill()
	k.nodes[victim].start(t)
}

func (k *killer) killClickHouse(t *testing.T) {
	t.Helper()
	eventually(t, time.Minute, "a ClickHouse to kill", func() error {
		pid := k.engines.PIDs()["clickhouse"]
		if pid == k.lastPID {
			return fmt.Errorf("the killed one is not replaced yet")
		}
		if err := syscall.Kill(pid, 0); err != nil { // it ended of itself: the supervisor starts another
			k.ownEnds[pid] = true
			return err
		}
		return nil
	})
	k.note(t)
	k.lastPID = k.engines.PIDs()["clickhouse"]
	up, err := k.engines.Down("clickhouse")
	if err != nil {
		t.Fatal(err)
	}
	k.clickhouse++
	k.down.Add(1)
	k.coming.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = up(ctx) // a later kill may come before it is up; recovered waits for the last
		k.down.Add(-1)
	})
}

// note tells whether the kill that follows comes during a recovery from an earlier one, and of what.
func (k *killer) note(t *testing.T) {
	t.Helper()
	var of []string
	if k.down.Load() > 0 {
		of = append(of, "ClickHouse starting")
	}
	if slices.ContainsFunc(k.nodes, func(n *node) bool { return !n.ready.Load() }) {
		of = append(of, "gateway starting")
	}
	if k.spoolsBehind(t) > len(k.nodes) {
		of = append(of, "spool of a killed gateway not yet shipped")
	}
	if len(of) == 0 {
		return
	}
	k.recovering++
	for _, what := range of {
		k.during[what]++
	}
}

func (k *killer) kinds() string {
	var kinds []string
	for what, n := range k.during {
		kinds = append(kinds, fmt.Sprintf("%s: %d", what, n))
	}
	slices.Sort(kinds)
	return strings.Join(kinds, ", ")
}

// recovered waits until everything runs again.
func (k *killer) recovered(t *testing.T) {
	t.Helper()
	k.coming.Wait()
	for _, n := range k.nodes {
		n.awaitReady(t)
	}
}

// reading is how much later than its sending an answer may be read by a caller on this machine.
const reading = 250 * time.Millisecond

// explain demands that every lost call was answered by a gateway in the moment before it was
// killed, at most as many as given a kill, and reports how long that moment was.
func (k *killer) explain(t *testing.T, lost []sighting, allowed int) {
	t.Helper()
	perKill := map[gatewayKill]int{}
	var windows []time.Duration
	for _, s := range lost {
		at := slices.IndexFunc(k.gateways, func(g gatewayKill) bool {
			return g.gateway == s.gateway && g.at.After(s.at.Add(-reading)) && g.at.Before(s.at.Add(reading))
		})
		if at < 0 {
			t.Errorf("call %s was answered by gateway %d at %v, which was not killed then, and is lost", s.id, s.gateway, s.at)
			continue
		}
		perKill[k.gateways[at]]++
		windows = append(windows, max(0, k.gateways[at].at.Sub(s.at)))
	}
	slices.Sort(windows)
	if len(windows) == 0 {
		t.Logf("lost: 0 calls")
		return
	}
	most := 0
	for _, n := range perKill {
		most = max(most, n)
	}
	t.Logf("lost: %d calls in %d of %d kills of gateways (%.2f a kill, at most %d), answered before the kill by %.1f ms in the median, %.1f ms at most; 0 in kills of ClickHouse",
		len(lost), len(perKill), len(k.gateways), float64(len(lost))/float64(len(k.gateways)), most, ms(windows[len(windows)/2]), ms(windows[len(windows)-1]))
	if len(lost) > allowed*len(k.gateways) {
		t.Errorf("%d calls are lost, at most %d a kill were in the window", len(lost), allowed)
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
