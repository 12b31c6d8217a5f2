package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	layout "callgate/internal/cluster"
	"callgate/internal/embedded"
	"callgate/internal/openapi"
)

// shardsOfTests are the engines by the number of their shard.
var shardsOfTests = []string{"clickhouse", "clickhouse2"}

// shardedInstallation is an installation whose ClickHouse is two shards, and an application with its load on each.
func shardedInstallation(t *testing.T) (h *installation, apps []string, load []*traffic) {
	t.Helper()
	return loadedInstallation(t, embedded.OwnCluster(t, 2), 2)
}

// loadedInstallation is an installation on a cluster, and an application with its load on each shard.
func loadedInstallation(t *testing.T, engines *embedded.Engines, shards int) (h *installation, apps []string, load []*traffic) {
	t.Helper()
	h = newInstallationOn(t, engines)
	gate := h.node(t)
	apps, load = make([]string, shards), make([]*traffic, shards)
	for made := 0; slices.Contains(load, nil); made++ {
		app, key := h.dev.application(fmt.Sprint("application ", made), "chat")
		if on := layout.Of(uuid.MustParse(app), shards); load[on] == nil {
			apps[on], load[on] = app, &traffic{gateways: []string{gate.base}, key: key, callers: 6, rate: 150}
		}
	}
	for _, f := range load { // the gateway knows the keys
		eventually(t, time.Minute, "a call is answered", func() error {
			first := &traffic{gateways: f.gateways, key: f.key, callers: 1}
			first.run(t.Context(), 1)
			if len(first.failed) > 0 {
				return fmt.Errorf("%v", first.failed)
			}
			f.join(first)
			return nil
		})
	}
	return h, apps, load
}

// machine is what a busy machine may add to an answer's time.
const machine = 2 * time.Second

// answers asks for the statistics of each application and of the account, with a shard that is gone, or none.
func (h *installation) answers(t *testing.T, apps []string, gone int) {
	t.Helper()
	var slowest time.Duration
	ask := func(path string) (int, envelope) {
		began := time.Now()
		status, e := h.dev.try("GET", path, nil)
		slowest = max(slowest, time.Since(began))
		return status, e
	}
	for on, app := range apps {
		for _, path := range []string{"", "/calls"} {
			path = "/api/statistics/applications/" + app + path
			if on == gone {
				if status, e := ask(path); status != 503 || e.Code != 50301 {
					t.Errorf("%s of the shard that is gone: %d %d %s", path, status, e.Code, e.Data)
				}
				continue
			}
			check := func() error {
				status, e := ask(path)
				var data struct{ Total int64 }
				if err := json.Unmarshal(e.Data, &data); status != 200 || err != nil {
					return fmt.Errorf("%s: %d %d %s", path, status, e.Code, e.Msg)
				}
				return nil
			}
			if gone >= 0 {
				if err := check(); err != nil {
					t.Error(err)
				}
				continue
			}
			eventually(t, time.Minute, "the statistics of a shard that is back", check)
		}
	}
	if status, e := ask("/api/statistics/applications/overview"); gone >= 0 && (status != 503 || e.Code != 50301) {
		t.Errorf("the overview of an account on a shard that is gone: %d %d %s", status, e.Code, e.Data)
	}
	if gone < 0 {
		return // a shard that has just come back may be slow
	}
	if h.slowest = max(h.slowest, slowest); h.slowest > 3*time.Second+machine {
		t.Errorf("an answer took %v", h.slowest)
	}
}

// settle waits until everything is counted, and compares it with what was answered.
func (h *installation) settle(t *testing.T, apps []string, load []*traffic) {
	t.Helper()
	over := time.Now()
	for _, app := range apps {
		h.dev.awaitThrough(app, over, 2*time.Minute)
	}
	h.awaitNoDoubts(t)
	all := &traffic{}
	for on, f := range load {
		counted := do[openapi.ApplicationStatistics](h.dev, "GET", "/api/statistics/applications/"+apps[on], nil)
		if int(counted.Summary.Calls) != len(f.seen) {
			t.Errorf("the statistics count %d of %d calls on shard %d", counted.Summary.Calls, len(f.seen), on+1)
		}
		all.join(f)
	}
	found := all.count(t, h.environment["CLICKHOUSE_URL"])
	if len(all.failed)+all.broken+len(found.lost)+found.doubled > 0 {
		t.Errorf("%d calls failed, %d had no answer, %d are lost, %d doubled", len(all.failed), all.broken, len(found.lost), found.doubled)
	}
	mean, least, _ := all.pace(0)
	t.Logf("%d calls (%.0f a second, %d in the slowest), %d rows: %d failed, %d lost, %d doubled", len(all.seen), mean, least, found.rows, len(all.failed)+all.broken, len(found.lost), found.doubled)
	t.Logf("the slowest answer without a shard took %v", h.slowest.Round(time.Millisecond))
	verified(t, h.environment)
}
