package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/alerts"
	"callgate/internal/catalog"
	"callgate/internal/identity"
	"callgate/internal/openapi"
	"callgate/internal/report"
)

// A key that a rotation left behind ends because it was meant to: nobody is warned of it.
func TestOfKeysThatEndTheOldOneOfARotationIsNotTold(t *testing.T) {
	m := newManager(t)
	dev := m.signIn(identity.Developer, "dev@example.com")
	made := dev.must(201, "POST", "/api/applications", `{"name":"Bot"}`)
	id := uuid.MustParse(field[string](t, made, "id"))
	path := "/api/applications/" + id.String()
	source := report.New(report.Deps{Pool: m.pool}).AlertSource()
	expiring := func() string {
		found, err := source.ExpiringKeys(t.Context(), []uuid.UUID{id})
		if err != nil {
			t.Fatal(err)
		}
		return found[id].Name
	}
	dev.must(200, "POST", path+"/access-key/rotate", `{"overlapHours":24}`)
	if name := expiring(); name != "" {
		t.Errorf("after a rotation %q is about to end", name)
	}
	dev.must(201, "POST", path+"/keys", `{"name":"Batch","expiresAt":"2099-01-01T00:00:00+08:00"}`)
	if name := expiring(); name != "Batch" {
		t.Errorf("%q is about to end", name)
	}
}

// An owner watches the upstreams behind an application, and is told the capability; never an upstream by its name or address.
func TestAnOwnerWatchesUpstreamsWithoutBeingToldTheirNames(t *testing.T) {
	m := newManager(t)
	m.seed("gpt")
	dev := m.developer("dev")
	app := field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"Search","capabilityIds":["gpt"]}`), "id")
	made := dev.must(201, "POST", "/api/alerts", fmt.Sprintf(`{"name":"Out","kind":"upstreamLeftOut","targetType":"application","targetId":%q,
		"threshold":5,"channels":[{"kind":"mail"}]}`, app))
	alert := dataOf[openapi.Alert](t, made)
	if alert.Unit != "minutes" || !alert.Enabled || alert.Threshold != 5 {
		t.Errorf("%+v", alert)
	}
	for _, sql := range []string{
		`INSERT INTO upstreams (id, name, base_url, sealed_key) VALUES ('eu', 'canary', 'http://canary', 'sealed')`,
		`INSERT INTO capability_upstreams (capability_id, upstream_id) VALUES ('gpt', 'eu')`,
		`INSERT INTO gateways (spool_id, host, role, version, started_at) VALUES ('01920000-0000-7000-8000-0000000000d1', 'one', 'gateway', 'test', now())`,
		`INSERT INTO gateway_upstreams (spool_id, upstream_id, state, opened_at, calls, failures)
			SELECT spool_id, 'eu', 'open', now() - interval '6 minutes', 20, 20 FROM gateways`,
	} {
		if _, err := m.pool.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	source := report.New(report.Deps{Catalog: catalog.New(m.pool, nil, true)}).AlertSource()
	for target, id := range map[alerts.TargetType]string{alerts.Application: app, alerts.Capability: "gpt", alerts.Upstream: "eu"} {
		found, err := source.LeftOut(t.Context(), target, []string{id})
		if one := found[id]; err != nil || one.Capability == "" || one.Upstream != "canary" || one.For < 6*time.Minute {
			t.Errorf("of the %s there is %+v, %v", target, found, err)
		}
	}
	if _, err := m.pool.Exec(t.Context(), `UPDATE alert_states SET figures = '{"capabilityName":"GPT"}', measured = 6, unknown = '' WHERE rule_id = $1`, alert.ID); err != nil {
		t.Fatal(err)
	}
	listed := dev.must(200, "GET", "/api/alerts", "")
	if f := dataOf[openapi.AlertItems](t, listed).Items[0].State.Figures; f.CapabilityName == nil || *f.CapabilityName != "GPT" || f.UpstreamName != nil {
		t.Errorf("%+v", f)
	}
	if strings.Contains(listed.raw, "canary") {
		t.Errorf("an owner is told %s", listed.raw)
	}
	for _, target := range []string{`"targetType":"capability","targetId":"gpt"`, `"targetType":"upstream","targetId":"eu"`} {
		dev.mustRefuse("POST", "/api/alerts", `{"name":"Out","kind":"upstreamLeftOut",`+target+`,"threshold":5,"channels":[{"kind":"mail"}]}`, "targetType")
		m.admin.must(201, "POST", "/api/admin/alerts", `{"name":"Out","kind":"upstreamLeftOut",`+target+`,"threshold":5,"channels":[{"kind":"mail"}]}`)
	}
}

// TestAnAlertOfABudgetIsToldWhatTheBudgetShows of each application's own budgets, an override counted; those of keys are none.
func TestAnAlertOfABudgetIsToldWhatTheBudgetShows(t *testing.T) {
	w := newWatcher(t)
	w.seed("gpt")
	w.priceGPT() // 2 and 8 dollars a million
	dev := w.developer("dev")
	app := field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"Spender","capabilityIds":["gpt"]}`), "id")
	other := field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"Saver"}`), "id")
	path := "/api/applications/" + app
	for range 3 {
		w.usedTokens(app, "gpt", 100_000, 10_000) // 0.28
	}
	set := dev.must(200, "PUT", path+"/budgets", `{"budgets":[{"period":"week","amount":"1","currency":"USD","action":"warn"},{"period":"month","amount":"0.42","currency":"USD","action":"warn"}]}`)
	week := dataOf[openapi.BudgetItems](t, set).Items[0]
	source, ids := w.console.Report.AlertSource(), []uuid.UUID{uuid.MustParse(app), uuid.MustParse(other)}
	spent := func() map[string]alerts.BudgetSpent {
		t.Helper()
		found, err := source.Budgets(t.Context(), ids, w.now)
		if err != nil || len(found) != 1 || len(found[ids[0]]) != 2 {
			t.Fatalf("%+v, %v", found, err)
		}
		return found[ids[0]]
	}
	found := spent()
	if b := found["week"]; b.Spent != "0.84" || b.Amount != "1" || b.Currency != "USD" || b.Percent != 84 || b.Unknown != 0 || b.From != week.From {
		t.Errorf("of the week: %+v", b)
	}
	if b := found["month"]; b.Percent != 200 || b.UsedUpOn == nil && w.now.Sub(b.From.Start()) > time.Hour {
		t.Errorf("of the month: %+v", b)
	}
	until := w.now.Add(time.Hour).Format(time.RFC3339)
	dev.must(200, "POST", fmt.Sprintf("%s/budgets/%s/override", path, week.ID), fmt.Sprintf(`{"amount":"2","until":%q,"reason":"a release"}`, until))
	if b := spent()["week"]; b.Amount != "2" || b.Percent != 42 {
		t.Errorf("with an override: %+v", b)
	}
	made := dataOf[openapi.Alert](t, dev.must(201, "POST", "/api/alerts", fmt.Sprintf(`{"name":"Goes","kind":"budget","targetType":"application","targetId":%q,
		"threshold":80,"period":"week","channels":[{"kind":"mail"}]}`, app)))
	if made.Unit != "percent" || made.Period == nil || *made.Period != "week" || made.ResolveThreshold != 80 || !made.Enabled {
		t.Errorf("%+v", made)
	}
}
