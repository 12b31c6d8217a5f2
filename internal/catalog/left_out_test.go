package catalog

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestWhatIsLeftOutIsWhatLivingGatewaysReport of applications, capabilities and upstreams, each by the upstream that has been out for
// longest.
func TestWhatIsLeftOutIsWhatLivingGatewaysReport(t *testing.T) {
	w := newWorld(t)
	p := newProvider(t, "sk-1")
	for _, id := range []string{"u", "v"} {
		w.upstream(id, p, "sk-1")
	}
	owner, app, other := uuid.New(), uuid.New(), uuid.New()
	w.Exec(`INSERT INTO capability_groups (id, name) VALUES ('left', 'Left')`)
	w.Exec(`INSERT INTO capabilities (id, name, group_id, upstream_base_url, upstream_key) VALUES ('cap', 'Cap', 'left', 'http://upstream', 'sealed')`)
	w.Exec(`INSERT INTO capability_upstreams (capability_id, upstream_id) VALUES ('cap', 'u'), ('cap', 'v')`)
	w.Exec(`INSERT INTO users (id, email) VALUES ($1, 'owner@example.com')`, owner)
	w.Exec(`INSERT INTO applications (id, owner_id, name) VALUES ($1, $3, 'App'), ($2, $3, 'Other')`, app, other, owner)
	w.Exec(`INSERT INTO application_capabilities (application_id, capability_id) VALUES ($1, 'cap')`, app)
	ids := map[LeftOutBy][]string{LeftOutByApplication: {app.String(), other.String()}, LeftOutByCapability: {"cap"}, LeftOutByUpstream: {"u", "v"}}
	find := func(by LeftOutBy) map[string]LeftOut {
		t.Helper()
		found, err := w.LeftOut(w.Ctx, by, ids[by])
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	// expect demands the minutes of each id, 0 of one that is in.
	expect := func(what string, minutes map[string]float64) {
		t.Helper()
		for by, asked := range ids {
			found := find(by)
			for _, id := range asked {
				one, ok := found[id]
				want := minutes[id]
				if !ok || (one.Capability == "Cap") != (want > 0) || (one.Upstream != "") != (want > 0) || one.For.Minutes() < want || one.For.Minutes() > want+1 {
					t.Errorf("%s: of %s %+v, want %g min", what, id, one, want)
				}
			}
		}
	}
	for by := range ids {
		if found := find(by); found != nil {
			t.Errorf("without a gateway there is %v", found)
		}
	}
	one, two := uuid.New(), uuid.New()
	for host, id := range map[string]uuid.UUID{"one": one, "two": two} {
		w.Exec(`INSERT INTO gateways (spool_id, host, role, version, started_at) VALUES ($1, $2, 'gateway', 'test', now())`, id, host)
	}
	expect("nothing was called", nil)
	report := func(gateway uuid.UUID, state string, minutes map[string]int) {
		t.Helper()
		reports := map[string]UpstreamReport{}
		for id, n := range minutes {
			at := time.Now().Add(-time.Duration(n) * time.Minute)
			reports[id] = UpstreamReport{State: state, OpenedAt: &at}
			if state == "closed" {
				reports[id] = UpstreamReport{State: state}
			}
		}
		if err := w.ReportUpstreams(w.Ctx, gateway, reports); err != nil {
			t.Fatal(err)
		}
	}
	report(one, "open", map[string]int{"u": 7, "v": 3})
	report(two, "probing", map[string]int{"u": 9})
	expect("two gateways", map[string]float64{app.String(): 9, "cap": 9, "u": 9, "v": 3})
	w.Exec(`UPDATE gateways SET ended_at = now() WHERE spool_id = $1`, two)
	expect("one has ended", map[string]float64{app.String(): 7, "cap": 7, "u": 7, "v": 3})
	w.Exec(`UPDATE capability_upstreams SET status = 'disabled' WHERE upstream_id = 'u'`)
	expect("u is disabled", map[string]float64{app.String(): 3, "cap": 3, "v": 3})
	w.Exec(`UPDATE gateway_upstreams SET reported_at = now() - interval '1 minute'`)
	expect("the report is old", nil)
	report(one, "open", map[string]int{"v": 4})
	expect("it reports again", map[string]float64{app.String(): 4, "cap": 4, "v": 4})
	report(one, "closed", map[string]int{"v": 0})
	expect("v is back", nil)
	report(one, "open", map[string]int{"v": 4})
	w.Exec(`UPDATE gateways SET seen_at = now() - interval '1 minute'`)
	for by := range ids {
		if found := find(by); found != nil {
			t.Errorf("of gateways that are gone there is %v", found)
		}
	}
}
