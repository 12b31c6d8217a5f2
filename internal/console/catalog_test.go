package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"callgate/internal/openapi"
)

func TestDevelopersSeeTheCatalogWithoutUpstreams(t *testing.T) {
	m := newManager(t)
	m.seed("b", "a", "off")
	m.admin.must(201, "POST", "/api/admin/groups", `{"id":"first","name":"First","sortOrder":-1}`)
	m.admin.must(201, "POST", "/api/admin/capabilities", `{"id":"z","name":"Z","groupId":"first","upstreamBaseUrl":"https://canary-host.example","upstreamKey":"sk-canary-z",
		"upstreamModel":"z-1","defaultPath":"/v1/chat/completions","description":"last letter"}`)
	m.admin.must(200, "PATCH", "/api/admin/capabilities/off/status", `{"status":"disabled"}`)
	dev := m.developer("dev")
	const unpriced = `"price":null,"otherPrices":0,"costBelieved":false,"applicationCount":0`
	capability := func(id, order, status string) string {
		return fmt.Sprintf(`{"id":%q,"name":"Name of %s","groupId":"g","description":"","sortOrder":%s,"status":%q,"upstreamModel":"","defaultPath":"",`+unpriced+`}`, id, id, order, status)
	}
	z := `{"id":"z","name":"Z","groupId":"first","description":"last letter","sortOrder":0,"status":"enabled","upstreamModel":"z-1","defaultPath":"/v1/chat/completions",` + unpriced + `}`
	dev.mustEqual("GET", "/api/capabilities", "", `{"items":[`+z+`,`+capability("b", "0", "enabled")+`,`+capability("a", "1", "enabled")+`]}`)
	dev.mustEqual("GET", "/api/capabilities/groups", "", `{"items":[{"id":"first","name":"First","sortOrder":-1},{"id":"g","name":"Group","sortOrder":0}]}`)
	dev.mustEqual("GET", "/api/capabilities/off", "", strings.TrimSuffix(capability("off", "2", "disabled"), "}")+`,"prices":[]}`)
	for _, absent := range []string{"nope", "%00", "a%2Fb", strings.Repeat("x", 200)} {
		dev.must(404, "GET", "/api/capabilities/"+absent, "")
		dev.must(404, "GET", "/api/capabilities/"+absent+"/applications", "")
	}
	first := field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"first","capabilityIds":["a"]}`), "id")
	second := field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"second"}`), "id")
	dev.must(404, "PATCH", "/api/applications/"+second+"/capabilities/nope", "")
	dev.mustEqual("GET", "/api/capabilities/a/applications", "", fmt.Sprintf(
		`{"items":[{"id":%q,"name":"second","status":"active","bound":false},{"id":%q,"name":"first","status":"active","bound":true}]}`, second, first))
}

func TestACapabilityLivesThroughTheBackOfficeWithoutShowingItsKey(t *testing.T) {
	m := newManager(t)
	m.admin.must(201, "POST", "/api/admin/groups", `{"id":"g","name":"Group","sortOrder":4}`)
	details := func(name, status string, bound int) string {
		return fmt.Sprintf(`{"id":"gpt:4","name":%q,"groupId":"g","description":"d","sortOrder":2,"status":%q,"upstreamModel":"m","defaultPath":"/v1/messages",`+
			`"upstreamBaseUrl":"https://canary-host.example/v1","upstreamAuth":"x-api-key","hasUpstreamKey":true,"upstreams":[],"allowedMethods":[],"allowedPaths":[],"boundApplicationCount":%d}`, name, status, bound)
	}
	body := `{"id":"gpt:4","name":"GPT","groupId":"g","description":"d","sortOrder":2,"upstreamBaseUrl":"https://canary-host.example/v1",
		"upstreamAuth":"x-api-key","upstreamKey":"sk-canary","upstreamModel":"m","defaultPath":"/v1/messages"}`
	if r := m.admin.must(201, "POST", "/api/admin/capabilities", body); !sameJSON(r.body.Data, details("GPT", "enabled", 0)) {
		t.Fatalf("made %s", r.body.Data)
	}
	if r := m.admin.must(409, "POST", "/api/admin/capabilities", body); r.body.Code != 40901 {
		t.Fatalf("made twice: %s", r.raw)
	}
	m.developer("dev").must(201, "POST", "/api/applications", `{"name":"app","capabilityIds":["gpt:4"]}`)
	m.admin.mustEqual("GET", "/api/admin/capabilities/gpt%3A4", "", details("GPT", "enabled", 1))
	m.admin.mustEqual("PATCH", "/api/admin/capabilities/gpt:4", `{"name":"GPT 4","upstreamKey":""}`, details("GPT 4", "enabled", 1))
	m.admin.mustEqual("PATCH", "/api/admin/capabilities/gpt:4/status", `{"status":"disabled"}`, details("GPT 4", "disabled", 1))
	m.admin.mustEqual("GET", "/api/admin/capabilities?q=gpt&status=disabled&groupId=g&page=1&size=5", "", `{"items":[`+details("GPT 4", "disabled", 1)+`],"total":1,"page":1,"size":5}`)
	m.admin.mustEqual("GET", "/api/admin/capabilities?status=enabled", "", `{"items":[],"total":0,"page":1,"size":10}`)
	if r := m.admin.must(405, "DELETE", "/api/admin/capabilities/gpt:4", ""); r.body.Code != 40501 || r.header.Get("Allow") != "GET, HEAD, PATCH" {
		t.Fatalf("deleted: %s", r.raw)
	}
	m.admin.mustRefuse("PATCH", "/api/admin/capabilities/gpt:4", `{"allowedMethods":["TRACE"],"allowedPaths":["v1"]}`, "allowedMethods", "allowedPaths")
	m.admin.mustRefuse("PATCH", "/api/admin/capabilities/gpt:4", `{"allowedPaths":null}`, "allowedPaths")
	m.admin.must(404, "PATCH", "/api/admin/capabilities/nope", `{}`)
	m.admin.must(404, "PATCH", "/api/admin/capabilities/nope/status", `{"status":"enabled"}`)
	m.admin.mustRefuse("PATCH", "/api/admin/capabilities/gpt:4", `{"id":"other"}`, "id")
	m.admin.mustRefuse("PATCH", "/api/admin/capabilities/gpt:4", `{"upstreamKey":null}`, "upstreamKey")
	m.admin.mustRefuse("PATCH", "/api/admin/capabilities/gpt:4", `{"sortOrder":1.5}`, "sortOrder")
	m.admin.mustRefuse("PATCH", "/api/admin/capabilities/gpt:4", `{"sortOrder":2147483648}`, "sortOrder")
	m.admin.mustRefuse("POST", "/api/admin/capabilities", `{}`, "id", "name", "groupId", "upstreamBaseUrl", "upstreamKey")
	m.admin.mustRefuse("POST", "/api/admin/capabilities", strings.Replace(body, `"gpt:4"`, `"-no"`, 1), "id")
	m.admin.mustRefuse("POST", "/api/admin/capabilities", strings.Replace(body, `"g"`, `"nope"`, 1), "groupId")
	m.admin.mustRefuse("GET", "/api/admin/capabilities?status=x&q=%00", "", "status", "q")
	r := m.admin.must(200, "GET", "/api/admin/audit?size=100", "")
	trail := dataOf[openapi.AuditPage](t, r).Items
	disabled, renamed := trail[0], trail[1]
	disabled.ID, disabled.At, disabled.Actor = 0, "", ""
	if want := (openapi.AuditEntry{Action: "capability.set_status", TargetType: "capability", TargetID: "gpt:4", TargetName: "GPT 4",
		Changes: []openapi.AuditChange{{Field: "status", From: "enabled", To: "disabled"}}}); !reflect.DeepEqual(disabled, want) ||
		!slices.Contains(renamed.Changes, openapi.AuditChange{Field: "name", From: "GPT", To: "GPT 4"}) || strings.Contains(r.raw, "sk-canary") {
		t.Fatalf("audit %s", r.raw)
	}
}

func TestGroupsAndOrdersAreMaintainedInTheBackOffice(t *testing.T) {
	m := newManager(t)
	m.seed("a", "b", "c")
	m.admin.must(201, "POST", "/api/admin/groups", `{"id":"h","name":"Late","sortOrder":9}`)
	if made := m.admin.must(201, "POST", "/api/admin/groups", `{"name":"No id"}`); field[string](t, made, "id") == "" {
		t.Fatalf("made %s", made.raw)
	}
	m.admin.must(409, "POST", "/api/admin/groups", `{"id":"h","name":"again"}`)
	m.admin.mustRefuse("POST", "/api/admin/groups", `{"id":"a b","name":""}`, "id", "name")
	m.admin.mustEqual("PATCH", "/api/admin/groups/h", `{"name":"Later"}`, `{"id":"h","name":"Later","sortOrder":9}`)
	m.admin.mustEqual("GET", "/api/admin/groups/h", "", `{"id":"h","name":"Later","sortOrder":9}`)
	m.admin.must(404, "GET", "/api/admin/groups/nope", "")
	m.admin.must(404, "PATCH", "/api/admin/groups/nope", `{"name":"x"}`)
	m.admin.mustRefuse("PATCH", "/api/admin/groups/h", `{"sortOrder":null}`, "sortOrder")
	m.admin.must(200, "PUT", "/api/admin/groups/order", `{"ids":["h","g"]}`)
	groups := m.admin.must(200, "GET", "/api/admin/groups", "")
	if list := dataOf[openapi.GroupList](t, groups); list.Total != 3 || list.Page != 1 ||
		list.Items[1].ID != "h" || list.Items[1].Name != "Later" || list.Items[1].SortOrder != 1 || list.Items[2].ID != "g" || list.Items[2].SortOrder != 2 {
		t.Fatalf("groups %s", groups.raw)
	}
	m.admin.mustRefuse("PUT", "/api/admin/groups/order", `{"ids":["h","nope"]}`, "ids")
	m.admin.must(200, "PUT", "/api/admin/capabilities/order", `{"groupId":"g","ids":["c","a","b"]}`)
	m.admin.mustRefuse("PUT", "/api/admin/capabilities/order", `{"groupId":"h","ids":["a"]}`, "ids")
	m.admin.mustRefuse("PUT", "/api/admin/capabilities/order", `{"ids":["a"]}`, "groupId")
	listed := m.developer("dev").must(200, "GET", "/api/capabilities", "").raw
	if c, a, b := strings.Index(listed, `"id":"c"`), strings.Index(listed, `"id":"a"`), strings.Index(listed, `"id":"b"`); c < 0 || c > a || a > b {
		t.Fatalf("order %s", listed)
	}
	page := m.admin.must(200, "GET", "/api/admin/audit?page=2&size=3", "")
	if got := dataOf[openapi.AuditPage](t, page).PageFields; got != (openapi.PageFields{Page: 2, Size: 3, Total: 10}) {
		t.Fatalf("audit %s", page.raw)
	}
}

func TestAConnectionCheckNeverShowsTheKey(t *testing.T) {
	m := newManager(t)
	m.seed("a")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sk-canary-a" {
			w.WriteHeader(401)
		}
		_, _ = fmt.Fprint(w, r.Header)
	}))
	t.Cleanup(server.Close)
	m.admin.mustRefuse("POST", "/api/admin/capabilities/check", fmt.Sprintf(`{"id":"a","upstreamBaseUrl":%q}`, server.URL), "upstreamKey")
	m.admin.must(200, "PATCH", "/api/admin/capabilities/a", fmt.Sprintf(`{"upstreamBaseUrl":%q,"upstreamKey":"sk-canary-a"}`, server.URL))
	ok := m.admin.must(200, "POST", "/api/admin/capabilities/check", fmt.Sprintf(`{"id":"a","upstreamBaseUrl":%q,"upstreamAuth":"bearer","upstreamModel":"m","defaultPath":"/v1/chat/completions"}`, server.URL))
	if got := dataOf[openapi.CheckResult](t, ok); !got.OK || got.Stage != "http" || *got.Status != 200 {
		t.Fatalf("check %s", ok.raw)
	}
	refused := m.admin.must(200, "POST", "/api/admin/capabilities/check", fmt.Sprintf(`{"upstreamBaseUrl":%q,"upstreamAuth":"bearer","upstreamKey":"sk-canary-wrong"}`, server.URL))
	if got := dataOf[openapi.CheckResult](t, refused); got.OK || *got.Status != 401 || strings.Contains(ok.raw+refused.raw, "canary") {
		t.Fatalf("check %s", refused.raw)
	}
	m.admin.mustRefuse("POST", "/api/admin/capabilities/check", `{"upstreamBaseUrl":"gopher://x"}`, "upstreamBaseUrl")
	if audit := m.admin.must(200, "GET", "/api/admin/audit", "").raw; !strings.Contains(audit, "capability.check") || strings.Contains(audit, "sk-canary") {
		t.Fatalf("audit %s", audit)
	}
}

func TestWhatIsDoneToAnApplicationIsRecordedButNeverItsKey(t *testing.T) {
	m := newManager(t)
	dev := m.developer("dev")
	id := field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"app"}`), "id")
	dev.must(200, "GET", "/api/applications/"+id+"/access-key", "")
	dev.must(200, "POST", "/api/applications/"+id+"/access-key/rotate", "")
	dev.must(200, "PATCH", "/api/applications/"+id, `{"name":"app"}`) // changes nothing
	dev.must(200, "DELETE", "/api/applications/"+id, "")
	r := m.admin.must(200, "GET", "/api/admin/audit", "")
	trail := dataOf[openapi.AuditPage](t, r)
	var actions []string
	for _, entry := range trail.Items {
		actions = append(actions, entry.Action)
	}
	if want := []string{"application.delete", "access_key.rotate", "access_key.reveal", "application.create", "administrator.sign_in"}; !slices.Equal(actions, want) {
		t.Fatalf("recorded %v, want %v", actions, want)
	}
	if first := trail.Items[4]; first.Actor != managingAdmin || first.TargetType != "administrator" || first.TargetID != managingAdmin {
		t.Fatalf("the sign-in is recorded as %+v", first)
	}
	rotation := trail.Items[1]
	rotation.ID, rotation.At = 0, ""
	if want := (openapi.AuditEntry{Actor: "dev@example.com", Action: "access_key.rotate", TargetType: "application", TargetID: id, TargetName: "app",
		Changes: []openapi.AuditChange{{Field: "accessKey", To: "(changed)"}}}); trail.Total != 5 || !reflect.DeepEqual(rotation, want) || strings.Contains(r.raw, "cg-") {
		t.Fatalf("audit %s", r.raw)
	}
	if strings.Contains(r.raw, "cg-") {
		t.Fatal("the audit shows a key")
	}
}
