package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"callgate/internal/openapi"
)

// share makes two upstreams that nobody answers for: shared, with a former key, and spare.
func (m *manager) share() {
	m.t.Helper()
	for _, id := range []string{"shared", "spare"} {
		m.admin.must(201, "POST", "/api/admin/upstreams", fmt.Sprintf(`{"id":%q,"name":"Name of %s","baseUrl":"http://127.0.0.1:1","key":"sk-canary-1","skipCheck":true}`, id, id))
	}
	m.admin.must(200, "PATCH", "/api/admin/upstreams/shared", `{"key":"sk-canary-2","skipCheck":true}`)
}

func TestAnUpstreamLivesThroughTheBackOfficeWithoutShowingItsKey(t *testing.T) {
	m := newManager(t)
	m.seed("a", "b")
	good := "sk-canary-good"
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer "+good {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(provider.Close)
	const path = "/api/admin/upstreams"
	body := fmt.Sprintf(`{"id":"openai","name":"OpenAI","baseUrl":%q,"key":%q}`, provider.URL, good)
	m.admin.mustRefuse("POST", path, strings.Replace(body, good, "sk-canary-bad", 1), "key")
	m.admin.mustRefuse("POST", path, `{}`, "name", "baseUrl", "key")
	m.admin.mustRefuse("POST", path, `{"id":"-no","name":"","baseUrl":"ftp://x","key":"a b","auth":"none","checkPath":"v1"}`, "id", "name", "baseUrl", "key", "auth", "checkPath")
	made := dataOf[openapi.Upstream](t, m.admin.must(201, "POST", path, body))
	if made.ID != "openai" || made.Auth != "bearer" || made.CheckPath != "/v1/models" || made.FormerKeyUntil != nil || made.Health != "unknown" {
		t.Fatalf("made %+v", made)
	}
	m.admin.must(409, "POST", path, body)
	m.admin.must(404, "GET", path+"/nope", "")
	m.admin.must(404, "PATCH", path+"/nope", `{}`)
	m.admin.must(404, "DELETE", path+"/nope", "")
	m.admin.must(404, "POST", path+"/nope/check", `{}`)
	m.admin.must(404, "POST", path+"/nope/restore-key", "")
	m.admin.must(409, "POST", path+"/openai/restore-key", "")
	m.admin.mustRefuse("PATCH", path+"/openai", `{"id":"other"}`, "id")
	m.admin.mustRefuse("PATCH", path+"/openai", `{"key":"sk-canary-bad"}`, "key")
	m.admin.mustRefuse("PATCH", path+"/openai", `{"baseUrl":"http://127.0.0.1:1"}`, "key")
	if checked := dataOf[openapi.CheckResult](t, m.admin.must(200, "POST", path+"/openai/check", `{"key":"sk-canary-bad"}`)); checked.OK || *checked.Status != 401 {
		t.Errorf("checked %+v", checked)
	}
	capability := dataOf[openapi.AdminCapability](t, m.admin.must(200, "PATCH", "/api/admin/capabilities/a", `{"upstreams":[{"upstreamId":"openai"}]}`))
	if len(capability.Upstreams) != 1 || capability.Upstreams[0] != (openapi.CapabilityUpstream{UpstreamID: "openai", Weight: 1, Status: "enabled", Health: "unknown"}) {
		t.Errorf("capability %+v", capability)
	}
	m.admin.must(201, "POST", "/api/admin/capabilities", `{"id":"c","name":"C","groupId":"g","upstreams":[{"upstreamId":"openai","weight":3,"priority":2}]}`)
	m.admin.mustRefuse("PATCH", "/api/admin/capabilities/c", `{"upstreams":[]}`, "upstreamBaseUrl")
	m.admin.mustRefuse("PATCH", "/api/admin/capabilities/a", `{"upstreams":[{"upstreamId":"nope"}]}`, "upstreams")
	m.admin.mustRefuse("PATCH", "/api/admin/capabilities/a", `{"upstreams":null}`, "upstreams")
	good = "sk-canary-new"
	rotated := dataOf[openapi.Upstream](t, m.admin.must(200, "PATCH", path+"/openai", `{"key":"sk-canary-new"}`))
	if rotated.FormerKeyUntil == nil || fmt.Sprint(rotated.CapabilityIDs) != "[a c]" {
		t.Errorf("rotated %+v", rotated)
	}
	m.admin.must(200, "POST", path+"/openai/restore-key", "")
	if r := m.admin.must(409, "DELETE", path+"/openai", ""); !strings.Contains(r.body.Msg, "a, c") {
		t.Error(r.body.Msg)
	}
	if list := dataOf[openapi.UpstreamItems](t, m.admin.must(200, "GET", path, "")); len(list.Items) != 1 {
		t.Errorf("list %+v", list)
	}
	trail := m.admin.must(200, "GET", "/api/admin/audit?size=100", "").raw
	if strings.Contains(trail, "sk-canary") || !strings.Contains(trail, "upstream.restore_key") || !strings.Contains(trail, "upstream.create") {
		t.Errorf("audit %s", trail)
	}
}
