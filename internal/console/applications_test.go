package console

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

func TestAnApplicationLivesThroughItsEndpoints(t *testing.T) {
	m := newManager(t)
	m.seed("a", "b:1")
	dev := m.developer("dev")
	made := dev.must(201, "POST", "/api/applications", `{"name":" Orders ","description":"why","capabilityIds":["b:1","a","a"],"unknown":1}`)
	id, key := field[string](t, made, "id"), field[string](t, made, "accessKey")
	at, mask := field[string](t, made, "createdAt"), key[:7]+"…"+key[len(key)-4:]
	if !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+08:00$`).MatchString(at) {
		t.Fatalf("created at %s", at)
	}
	application := func(name, description, status, capabilities, updated string) string {
		return fmt.Sprintf(`{"id":%q,"name":%q,"description":%q,"status":%q,"capabilityIds":%s,"maskedAccessKey":%q,"disabledByAdministrator":null,"limits":%s,"ceilings":%[7]s,"effectiveLimits":%[7]s,"createdAt":%[8]q,"updatedAt":%[9]q}`,
			id, name, description, status, capabilities, mask, noLimits, at, updated)
	}
	if want := strings.TrimSuffix(application("Orders", "why", "active", `["a","b:1"]`, at), "}") + fmt.Sprintf(`,"accessKey":%q}`, key); !sameJSON(made.body.Data, want) {
		t.Fatalf("made %s\nwant %s", made.body.Data, want)
	}
	path := "/api/applications/" + id
	dev.mustEqual("GET", path, "", application("Orders", "why", "active", `["a","b:1"]`, at))
	dev.mustEqual("GET", "/api/applications", "", `{"items":[`+application("Orders", "why", "active", `["a","b:1"]`, at)+`],"total":1,"page":1,"size":10}`)

	changed := func(r *reply, name, description, status, capabilities string) {
		t.Helper()
		if want := application(name, description, status, capabilities, field[string](t, r, "updatedAt")); !sameJSON(r.body.Data, want) {
			t.Fatalf("%s\nwant %s", r.body.Data, want)
		}
		dev.mustEqual("GET", path, "", string(r.body.Data))
	}
	changed(dev.must(200, "PATCH", path, `{"name":"Bills","capabilityIds":["a"]}`), "Bills", "why", "active", `["a"]`)
	changed(dev.must(200, "PATCH", path, `{"description":""}`), "Bills", "", "active", `["a"]`)
	changed(dev.must(200, "PATCH", path+"/status", `{"status":"disabled"}`), "Bills", "", "disabled", `["a"]`)
	changed(dev.must(200, "PATCH", path+"/status", `{"status":"disabled"}`), "Bills", "", "disabled", `["a"]`)
	changed(dev.must(200, "PATCH", path+"/status", `{"status":"active"}`), "Bills", "", "active", `["a"]`)
	changed(dev.must(200, "PATCH", path+"/capabilities/b%3A1", ``), "Bills", "", "active", `["a","b:1"]`)
	changed(dev.must(200, "PATCH", path+"/capabilities/b:1", ``), "Bills", "", "active", `["a","b:1"]`)
	changed(dev.must(200, "PATCH", path, `{"capabilityIds":[]}`), "Bills", "", "active", `[]`)

	dev.mustEqual("GET", path+"/access-key", "", fmt.Sprintf(`{"accessKey":%q}`, key))
	rotated := field[string](t, dev.must(200, "POST", path+"/access-key/rotate", ""), "accessKey")
	if rotated == key {
		t.Fatal("the key did not change")
	}
	dev.mustEqual("GET", path+"/access-key", "", fmt.Sprintf(`{"accessKey":%q}`, rotated))

	dev.mustEqual("DELETE", path, "", "null")
	for _, gone := range [][2]string{{"GET", ""}, {"PATCH", ""}, {"DELETE", ""}, {"GET", "/access-key"}, {"POST", "/access-key/rotate"}, {"PATCH", "/capabilities/a"}} {
		if r := dev.must(404, gone[0], path+gone[1], `{}`); r.body.Code != 40401 {
			t.Fatalf("%v: %s", gone, r.raw)
		}
	}
	dev.mustEqual("GET", "/api/applications", "", `{"items":[],"total":0,"page":1,"size":10}`)
}

func TestApplicationRequestsAreRefusedFieldByField(t *testing.T) {
	m := newManager(t)
	m.seed("a", "off")
	m.admin.must(200, "PATCH", "/api/admin/capabilities/off/status", `{"status":"disabled"}`)
	dev := m.developer("dev")
	id := field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"app"}`), "id")
	for body, fields := range map[string][]string{
		`{}`:                               {"name"},
		`{"name":null,"description":null}`: {"name", "description"},
		`{"name":5}`:                       {"name"},
		`{"name":5,"description":[],"capabilityIds":"a"}`: {"name", "description", "capabilityIds"},
		`{"name":"  "}`:                                                  {"name"},
		`{"name":"a\u0000"}`:                                             {"name"},
		`{"name":"a\nb","description":"\u0007"}`:                         {"name", "description"},
		`{"name":"` + strings.Repeat("字", 65) + `"}`:                     {"name"},
		`{"name":"a","description":"` + strings.Repeat("x", 1025) + `"}`: {"description"},
		`{"name":"a","capabilityIds":["nope"]}`:                          {"capabilityIds"},
		`{"name":"a","capabilityIds":["\u0000"]}`:                        {"capabilityIds"},
		`{"name":"a","capabilityIds":[null]}`:                            {"capabilityIds"},
		`{"name":"a","capabilityIds":["off"]}`:                           {"capabilityIds"},
		`{"name":"a","capabilityIds":"a"}`:                               {"capabilityIds"},
	} {
		dev.mustRefuse("POST", "/api/applications", body, fields...)
		if body != `{}` {
			dev.mustRefuse("PATCH", "/api/applications/"+id, body, fields...)
		}
	}
	dev.mustRefuse("PATCH", "/api/applications/"+id+"/status", `{"status":"paused"}`, "status")
	dev.mustRefuse("PATCH", "/api/applications/"+id+"/status", `{}`, "status")
	dev.mustRefuse("PATCH", "/api/applications/"+id+"/capabilities/off", ``, "capabilityId")
	for _, page := range []string{"page=0", "page=x", "page=-1", "page=1.5", "page=", "size=0", "size=101", "size=x", "page=99999999999999999999"} {
		dev.mustRefuse("GET", "/api/applications?"+page, "", strings.SplitN(page, "=", 2)[0])
	}
	if r := dev.must(400, "POST", "/api/applications", `{"name":"a",}`); !strings.Contains(r.body.Msg, "byte 13") {
		t.Fatalf("malformed JSON: %s", r.raw)
	}
	for _, body := range []string{``, `null`, `[]`, `"x"`} {
		dev.must(400, "POST", "/api/applications", body)
	}
	big := `{"name":"a","x":"` + strings.Repeat("x", maxBody) + `"}`
	if r := dev.must(413, "POST", "/api/applications", big); r.body.Code != 41301 {
		t.Fatalf("large body: %s", r.raw)
	}
	dev.mustEqual("GET", "/api/applications?page=7&size=100", "", `{"items":[],"total":1,"page":7,"size":100}`)
}

func TestAnothersApplicationAnswersExactlyAsAnAbsentOne(t *testing.T) {
	m := newManager(t)
	m.seed("a")
	owner, other := m.developer("owner"), m.developer("other")
	made := owner.must(201, "POST", "/api/applications", `{"name":"mine","capabilityIds":["a"]}`)
	id := field[string](t, made, "id")
	before := owner.must(200, "GET", "/api/applications/"+id, "")
	for _, request := range [][3]string{
		{"GET", "", ""}, {"PATCH", "", `{"name":"x"}`}, {"DELETE", "", ""}, {"GET", "/access-key", ""},
		{"POST", "/access-key/rotate", ""}, {"PATCH", "/status", `{"status":"disabled"}`}, {"PATCH", "/capabilities/a", ""},
	} {
		var bodies []string
		for _, target := range []string{id, strings.ToUpper(id), uuid.NewString(), "nonsense", strings.ReplaceAll(id, "-", ""), "%00"} {
			r := other.must(404, request[0], "/api/applications/"+target+request[1], request[2])
			bodies = append(bodies, strings.ReplaceAll(r.raw, r.body.RequestID, ""))
		}
		for _, body := range bodies {
			if body != bodies[0] {
				t.Fatalf("%v can be told apart: %q", request, bodies)
			}
		}
	}
	owner.mustEqual("GET", "/api/applications/"+id, "", string(before.body.Data))
	owner.mustEqual("GET", "/api/applications/"+id+"/access-key", "", fmt.Sprintf(`{"accessKey":%q}`, field[string](t, made, "accessKey")))
	other.mustEqual("GET", "/api/applications", "", `{"items":[],"total":0,"page":1,"size":10}`)
	other.mustEqual("GET", "/api/capabilities/a/applications", "", `{"items":[]}`)
}

func TestOnlyAUserTokenOpensTheManagementInterface(t *testing.T) {
	m := newManager(t)
	m.seed("a")
	dev := m.developer("dev")
	key := field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"app"}`), "accessKey")
	for _, path := range []string{"/api/applications", "/api/capabilities", "/api/capabilities/groups", "/api/capabilities/a"} {
		for _, c := range []struct {
			credential *client
			code       int
		}{{&client{m, ""}, 40101}, {&client{m, key}, 40102}, {m.admin, 40102}, {&client{m, "x.y.z"}, 40102}} {
			if r := c.credential.must(401, "GET", path, ""); r.body.Code != c.code {
				t.Errorf("%s: %s, want %d", path, r.raw, c.code)
			}
		}
	}
	if r := dev.must(403, "GET", "/api/admin/capabilities", ""); r.body.Code != 40301 {
		t.Fatalf("a developer in the back office: %s", r.raw)
	}
	(&client{m, key}).must(401, "GET", "/api/admin/capabilities", "")
	(&client{m, ""}).must(401, "GET", "/api/admin/audit", "")
}

// 200 requests of five kinds race on one application: each must succeed, none may be lost.
func TestTwoHundredConcurrentEditsOverHTTPLoseNothing(t *testing.T) {
	m := newManager(t)
	m.seed("a", "b", "c", "d")
	dev := m.developer("dev")
	path := "/api/applications/" + field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"app"}`), "id")
	var edits errgroup.Group
	edits.SetLimit(24)
	for i := range 200 {
		edits.Go(func() error {
			method, target, body := "PATCH", path+"/capabilities/"+string(rune('a'+i%4)), ""
			if i%5 == 4 {
				target, body = path, fmt.Sprintf(`{"description":"edit %d"}`, i)
			}
			r, err := dev.send(method, target, body)
			if err == nil && r.status != 200 {
				err = fmt.Errorf("%s: %d %s", target, r.status, r.raw)
			}
			return err
		})
	}
	if err := edits.Wait(); err != nil {
		t.Fatal(err)
	}
	r := dev.must(200, "GET", path, "")
	if got := fmt.Sprint(field[[]string](t, r, "capabilityIds")); got != "[a b c d]" || field[string](t, r, "description") == "" {
		t.Fatalf("after the edits: %s", r.raw)
	}
}

func TestListedApplicationsNeverShowAKey(t *testing.T) {
	m := newManager(t)
	dev := m.developer("dev")
	var keys []string
	for i := range 3 {
		keys = append(keys, field[string](t, dev.must(201, "POST", "/api/applications", fmt.Sprintf(`{"name":"app %d"}`, i)), "accessKey"))
	}
	r := dev.must(200, "GET", "/api/applications?page=1&size=2", "")
	var page struct {
		Items             []struct{ Name, MaskedAccessKey string }
		Total, Page, Size int
	}
	if err := json.Unmarshal(r.body.Data, &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Items) != 2 || page.Items[0].Name != "app 2" || page.Items[1].Name != "app 1" || page.Total != 3 || page.Size != 2 {
		t.Fatalf("page %+v", page)
	}
	for _, key := range keys {
		if strings.Contains(r.raw, key) || strings.Contains(r.raw, key[8:20]) {
			t.Fatal("the list shows a key")
		}
	}
}
