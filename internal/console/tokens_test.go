package console

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"callgate/internal/application"
	"callgate/internal/catalog"
	"callgate/internal/identity"
	"callgate/internal/limits"
	"callgate/internal/openapi"
	"callgate/internal/secret"
)

// another serves one more console on the manager's stores, and gives its address.
func (m *manager) another(change func(*Deps)) string {
	m.t.Helper()
	ring, log := &secret.Keyring{}, slog.New(slog.DiscardHandler)
	d := Deps{
		Identity: m.identity, Applications: application.New(m.pool, ring, nil), Catalog: catalog.New(m.pool, ring, true),
		Limits: limits.New(m.pool), Pool: m.pool, Logger: log,
	}
	change(&d)
	first := m.url
	m.listen(New(reporting(d)), log)
	second := m.url
	m.url = first
	return second
}

// at is the client at another console.
func (c *client) at(url string) *client {
	there := *c.manager
	there.url = url
	return &client{&there, c.token}
}

func TestAManagementTokenIsShownOnceAndRevokedAtEveryConsoleAtOnce(t *testing.T) {
	m := newManager(t)
	second := m.another(func(d *Deps) { d.Identity = m.newIdentity(slog.New(slog.DiscardHandler), nil) })
	dev := m.developer("dev")
	end := time.Now().Add(366 * 24 * time.Hour).Add(-time.Minute).Format(time.RFC3339)
	made := dev.must(201, "POST", "/api/tokens", fmt.Sprintf(`{"name":" Dashboard ","access":"full","expiresAt":%q}`, end))
	token := field[string](t, made, "token")
	script := &client{m, token}

	listed := dev.must(200, "GET", "/api/tokens", "")
	items := dataOf[openapi.ManagementTokenItems](t, listed).Items
	if len(items) != 1 || items[0].Name != "Dashboard" || items[0].Access != "full" || items[0].MaskedToken != secret.MaskToken(token) || items[0].LastUsedAt != nil {
		t.Errorf("listed %s", listed.raw)
	}
	if strings.Contains(listed.raw, token[8:len(token)-4]) {
		t.Error("the list shows the token")
	}
	app := field[string](t, script.must(201, "POST", "/api/applications", `{"name":"Made by a script"}`), "id")
	for _, console := range []*client{script, script.at(second)} {
		console.must(200, "GET", "/api/applications/"+app, "")
	}
	if items := dataOf[openapi.ManagementTokenItems](t, dev.must(200, "GET", "/api/tokens", "")).Items; items[0].LastUsedAt == nil {
		t.Error("the use is not noted")
	}
	dev.must(200, "DELETE", "/api/tokens/"+items[0].ID.String(), "")
	for _, console := range []*client{script, script.at(second)} {
		if r := console.must(401, "GET", "/api/applications/"+app, ""); r.body.Code != 40102 || !strings.Contains(r.body.Msg, "revoked") {
			t.Errorf("answered %s", r.raw)
		}
	}

	trail := m.admin.must(200, "GET", "/api/admin/audit?action=token.", "")
	var actions []string
	for _, e := range dataOf[openapi.AuditPage](t, trail).Items {
		actions = append(actions, fmt.Sprint(e.Actor, " ", e.Action, " ", e.TargetType, " ", e.TargetName))
	}
	if want := "[dev@example.com token.revoke token Dashboard dev@example.com token.create token Dashboard]"; fmt.Sprint(actions) != want {
		t.Errorf("recorded %v, want %s", actions, want)
	}
	if strings.Contains(trail.raw, token[4:]) {
		t.Error("the trail has the token")
	}
}

func TestWhatIsWrongWithAManagementTokenIsTold(t *testing.T) {
	m := newManager(t)
	dev := m.developer("dev")
	soon := time.Now().Add(time.Hour).Format(time.RFC3339)
	dev.mustRefuse("POST", "/api/tokens", `{}`, "name", "access", "expiresAt")
	dev.mustRefuse("POST", "/api/tokens", `{"name":7,"access":null,"expiresAt":"`+soon+`"}`, "name", "access")
	for range 20 {
		dev.managementToken("read")
	}
	if r := dev.must(409, "POST", "/api/tokens", `{"name":"x","access":"read","expiresAt":"`+soon+`"}`); r.body.Code != 40901 {
		t.Errorf("answered %s", r.raw)
	}
	token, _ := m.developer("reader").managementToken("read")
	for _, c := range []struct{ method, path, says string }{
		{"POST", "/api/applications", "needs one of full access"}, {"GET", "/api/tokens", "sign in"}, {"GET", "/api/auth/sessions", "sign in"},
	} {
		if r := (&client{m, token}).must(403, c.method, c.path, `{"name":"x"}`); r.body.Code != 40302 || !strings.Contains(r.body.Msg, c.says) {
			t.Errorf("%s %s: %s", c.method, c.path, r.raw)
		}
	}
}

func TestTheTokensOfAnAccountShareItsLimitAndGuessesAreBounded(t *testing.T) {
	m := newManager(t)
	dev := m.developer("dev")
	one, _ := dev.managementToken("read")
	two, _ := dev.managementToken("full")
	limited := m.another(func(d *Deps) { d.RateLimit, d.StrangerRateLimit = 2, 3 })
	for _, token := range []string{one, two} {
		(&client{m, token}).at(limited).must(200, "GET", "/api/capabilities/groups", "")
	}
	dev.at(limited).must(429, "GET", "/api/capabilities", "")
	(&client{m, one}).at(limited).must(429, "GET", "/api/capabilities", "")

	guess := &client{m, secret.Pepper(make([]byte, 32)).MintToken()}
	for range 3 {
		guess.at(limited).must(401, "GET", "/api/capabilities", "")
	}
	guess.at(limited).must(429, "GET", "/api/capabilities", "")
	m.signIn(identity.Developer, "other@example.com").at(limited).must(200, "GET", "/api/capabilities/groups", "") // nobody else pays for it
}
