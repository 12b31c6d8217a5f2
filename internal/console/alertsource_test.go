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
