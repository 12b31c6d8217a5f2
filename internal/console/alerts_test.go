package console

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"callgate/internal/openapi"
	"callgate/internal/secret"
)

// An alert of the administrators on the capability gpt, with its webhook and something that was sent to it.
const (
	deskAlert    = "01920000-0000-7000-8000-0000000000c1"
	deskChannel  = "01920000-0000-7000-8000-0000000000c2"
	deskDelivery = "01920000-0000-7000-8000-0000000000c3"
)

func (m *manager) watchGPT() {
	m.t.Helper()
	ring, err := secret.ParseKeyring("test:" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO alert_rules (id, name, kind, capability_id, threshold, resolve_threshold, window_minutes, min_calls, created_by)
			VALUES ($1, 'GPT fails', 'failureRate', 'gpt', 20, 16, 5, 20, 'root@example.com')`, []any{deskAlert}},
		{`INSERT INTO alert_states (rule_id) VALUES ($1)`, []any{deskAlert}},
		{`INSERT INTO alert_channels (id, rule_id, position, kind, destination, sealed_url, sealed_secret) VALUES ($1, $2, 0, 'webhook', 'http://127.0.0.1:1', $3, $4)`,
			[]any{deskChannel, deskAlert, ring.Seal([]byte("http://127.0.0.1:1/hook-canary"), secret.AlertURLContext(deskChannel)),
				ring.Seal([]byte("whsec_c2VjcmV0"), secret.AlertSecretContext(deskChannel))}},
		{`INSERT INTO alert_events (id, rule_id, kind, sequence, at, figures, payload) VALUES ($1, $1, 'firing', 1, now(), '{}', '{}')`, []any{deskAlert}},
		{`INSERT INTO alert_deliveries (id, event_id, channel_id, channel_kind, destination, status, deadline)
			VALUES ($1, $2, $3, 'webhook', 'http://127.0.0.1:1', 'delivered', now())`, []any{deskDelivery, deskAlert, deskChannel}},
	} {
		if _, err := m.pool.Exec(m.t.Context(), s.sql, s.args...); err != nil {
			m.t.Fatalf("%s: %v", s.sql, err)
		}
	}
}

// watch makes an alert of an application with a webhook, and sends it a test.
func (m *manager) watch(c *client, app string) (alert, channel, delivery string) {
	m.t.Helper()
	made := dataOf[openapi.Alert](m.t, c.must(201, "POST", "/api/alerts", fmt.Sprintf(`{"name":"Watched","kind":"failureRate","targetType":"application","targetId":%q,
		"threshold":20,"channels":[{"kind":"webhook","url":"http://127.0.0.1:1/hook-canary?k=hook-canary"}]}`, app)))
	tested := dataOf[openapi.AlertDeliveryItems](m.t, c.must(200, "POST", "/api/alerts/"+made.ID.String()+"/test", ""))
	return made.ID.String(), made.Channels[0].ID.String(), tested.Items[0].ID.String()
}

// settleDeliveries has nothing wait any more: nobody delivers here.
func (m *manager) settleDeliveries() {
	m.t.Helper()
	if _, err := m.pool.Exec(m.t.Context(), `UPDATE alert_deliveries SET status = 'given_up' WHERE status = 'pending'`); err != nil {
		m.t.Fatal(err)
	}
}

// settleAlert gives an operation on alerts one that there is, and a draft that goes together.
func (f *fuzzer) settleAlert(op openapi.Operation, s *shot, body map[string]any) {
	by, target := &client{f.manager, f.dev.Token.Value}, fmt.Sprintf(`"targetType":"application","targetId":%q`, f.applications[0])
	base := "/api/alerts"
	if strings.HasPrefix(op.Path, "/api/admin/") {
		by, base, target = f.desk, "/api/admin/alerts", `"targetType":"capability","targetId":"a"`
	}
	for _, kept := range dataOf[openapi.AlertItems](f.t, by.must(200, "GET", base, "")).Items {
		by.must(200, "DELETE", base+"/"+kept.ID.String(), "")
	}
	if strings.HasSuffix(op.ID, "reateAlert") {
		for _, name := range []string{"period", "currency", "limit"} {
			delete(body, name)
		}
		body["kind"] = pick(f, []string{"failureRate", "p95"})
		body["targetType"], body["targetId"] = "application", f.applications[0]
		if by == f.desk {
			body["targetType"], body["targetId"] = "capability", "a"
		}
	}
	if s.path["id"] != "" || !strings.Contains(op.Path, "{id}") {
		return
	}
	made := dataOf[openapi.Alert](f.t, by.must(201, "POST", base, `{"name":"Fuzz","kind":"failureRate",`+target+`,"threshold":20,"channels":[{"kind":"webhook","url":"http://127.0.0.1:1/"}]}`))
	s.path["id"] = made.ID.String()
	if _, wanted := s.path["channelId"]; wanted {
		s.path["channelId"] = made.Channels[0].ID.String()
	}
	if _, wanted := s.path["deliveryId"]; wanted {
		if _, err := f.pool.Exec(f.t.Context(), `DELETE FROM alert_sends`); err != nil { // tests are bounded
			f.t.Fatal(err)
		}
		tested := by.must(200, "POST", base+"/"+s.path["id"]+"/test", "")
		s.path["deliveryId"] = dataOf[openapi.AlertDeliveryItems](f.t, tested).Items[0].ID.String()
	}
}

// TestAlertsAreMadeEditedTestedAndDeletedWithoutShowingTheirURLs walks the interface as an owner's page does.
func TestAlertsAreMadeEditedTestedAndDeletedWithoutShowingTheirURLs(t *testing.T) {
	m := newManager(t)
	m.seed("gpt")
	dev := m.developer("dev")
	app := field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"Search"}`), "id")
	dev.mustEqual("GET", "/api/alerts", "", `{"items":[],"max":50}`)
	alert, channel, delivery := m.watch(dev, app)
	path := "/api/alerts/" + alert
	read := func(r *reply) *reply {
		t.Helper()
		if strings.Contains(r.raw, "hook-canary") {
			t.Errorf("an answer shows the URL: %s", r.raw)
		}
		return r
	}
	listed := dataOf[openapi.AlertItems](t, read(dev.must(200, "GET", "/api/alerts", "")))
	if a := listed.Items[0]; a.Target.Name != "Search" || a.State.Value != "ok" || a.State.Known || *a.State.UnknownReason != "not_evaluated" ||
		a.Channels[0].Destination != "http://127.0.0.1:1" || a.Deliveries.Pending != 1 || a.Sequence != 0 {
		t.Errorf("%+v", a)
	}
	dev.must(409, "POST", path+"/test", "") // the one before waits
	page := dataOf[openapi.AlertDeliveryPage](t, read(dev.must(200, "GET", path+"/deliveries", "")))
	if len(page.Items) != 1 || page.Items[0].ID.String() != delivery || page.Items[0].Event != "test" || page.Items[0].Sequence != nil {
		t.Errorf("%+v", page)
	}
	read(dev.must(200, "POST", path+"/deliveries/"+delivery+"/resend", ""))
	first := field[string](t, dev.must(200, "GET", path+"/channels/"+channel+"/secret", ""), "secret")
	second := field[string](t, dev.must(200, "POST", path+"/channels/"+channel+"/rotate-secret", `{"overlapHours":2}`), "secret")
	if first == second || !strings.HasPrefix(first, "whsec_") || !strings.HasPrefix(second, "whsec_") {
		t.Errorf("secrets %s and %s", first, second)
	}
	dev.mustRefuse("POST", path+"/channels/"+channel+"/rotate-secret", `{"overlapHours":73}`, "overlapHours")
	edited := dataOf[openapi.Alert](t, read(dev.must(200, "PATCH", path, fmt.Sprintf(`{"silencedUntil":"2090-01-01T00:00:00+08:00","channels":[{"kind":"webhook","id":%q},{"kind":"mail"}]}`, channel))))
	if edited.SilencedUntil == nil || len(edited.Channels) != 2 || edited.Channels[0].FormerSecretUntil == nil || edited.Channels[1].Destination != "dev@example.com" {
		t.Errorf("%+v", edited)
	}
	if again := dataOf[openapi.Alert](t, dev.must(200, "PATCH", path, `{"silencedUntil":null}`)); again.SilencedUntil != nil {
		t.Errorf("%+v", again)
	}
	dev.mustRefuse("PATCH", path, `{"channels":[{"kind":"webhook","id":"x"}]}`, "channels")
	dev.must(200, "DELETE", path, "")
	dev.must(404, "GET", path+"/deliveries", "")
	trail := read(m.admin.must(200, "GET", "/api/admin/audit?size=100", ""))
	for _, action := range []string{"alert.create", "alert.test", "alert.resend", "alert.reveal_secret", "alert.rotate_secret", "alert.update", "alert.delete"} {
		if !strings.Contains(trail.raw, action) {
			t.Errorf("%s is not in the trail", action)
		}
	}
	if strings.Contains(trail.raw, first) || strings.Contains(trail.raw, second) {
		t.Error("the trail tells a secret")
	}
}
