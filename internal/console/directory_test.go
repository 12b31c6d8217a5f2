package console

import (
	"encoding/csv"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/fault"
	"callgate/internal/identity"
	"callgate/internal/openapi"
)

// heldUser is a user whose sessions administrators end in tests of who may.
const heldUser = "01920000-0000-7000-8000-0000000000b1"

func (m *manager) holdUser() {
	m.t.Helper()
	if _, err := m.pool.Exec(m.t.Context(), `INSERT INTO users (id, email) VALUES ('`+heldUser+`', 'held@example.com')`); err != nil {
		m.t.Fatal(err)
	}
}

// forbidden is what no answer of the back office may hold: of a key, of what was sent, of what was answered.
func (r *reply) forbidden(t *testing.T, more ...string) {
	t.Helper()
	for _, of := range append(more, "cg-", "body of a caller", "their message", "/v1/x", "accessKey", "maskedAccessKey", "requestBody") {
		if strings.Contains(r.raw, of) {
			t.Errorf("the answer tells of %q: %s", of, r.raw)
		}
	}
}

func TestAnAdministratorDisablesAnApplicationAndItsOwnerIsToldWhy(t *testing.T) {
	m := newManager(t)
	m.seed("a")
	dev := m.developer("dev")
	made := dev.must(201, "POST", "/api/applications", `{"name":"Search","capabilityIds":["a"]}`)
	id := field[string](t, made, "id")
	own, office := "/api/applications/"+id, "/api/admin/applications/"+id+"/status"
	if !strings.Contains(made.raw, `"disabledByAdministrator":null`) {
		t.Errorf("made %s", made.raw)
	}
	m.admin.mustRefuse("PATCH", office, `{"status":"disabled"}`, "reason")
	m.admin.mustRefuse("PATCH", office, `{"status":"off","reason":"why"}`, "status")
	m.admin.must(404, "PATCH", "/api/admin/applications/"+uuid.NewString()+"/status", `{"status":"active"}`)
	judged := m.admin.must(200, "PATCH", office, `{"status":"disabled","reason":"It calls without end"}`)
	judged.forbidden(t)
	if got := dataOf[openapi.ListedApplication](t, judged); got.Status != "disabled" || got.DisabledByOwner || got.DisabledByAdministrator.By != managingAdmin || got.CapabilityCount != 1 {
		t.Errorf("%s", judged.raw)
	}

	shown := dev.must(200, "GET", own, "")
	if got := dataOf[openapi.Application](t, shown); got.Status != "disabled" || got.DisabledByAdministrator == nil || got.DisabledByAdministrator.Reason != "It calls without end" ||
		strings.Contains(shown.raw, managingAdmin) {
		t.Errorf("its owner is told %s", shown.raw)
	}
	refused := dev.must(409, "PATCH", own+"/status", `{"status":"active"}`)
	if refused.body.Code != 40901 || !strings.Contains(refused.body.Msg, "only an administrator can enable it") || !strings.Contains(refused.body.Msg, "It calls without end") ||
		strings.Contains(refused.raw, managingAdmin) {
		t.Errorf("refused %s", refused.raw)
	}
	if zh := fault.Chinese(refused.body.Msg); !strings.Contains(zh, "管理员已停用此应用") || !strings.Contains(zh, "It calls without end") {
		t.Errorf("in Chinese: %s", zh)
	}
	for _, edit := range [][3]string{{"PATCH", own, `{"name":"Renamed"}`}, {"PATCH", own + "/limits", `{"callsPerDay":5}`}, {"POST", own + "/access-key/rotate", ""}} {
		dev.must(200, edit[0], edit[1], edit[2])
	}
	list := dev.must(200, "GET", "/api/applications", "")
	if got := dataOf[openapi.ApplicationPage](t, list).Items[0]; got.Status != "disabled" || got.DisabledByAdministrator == nil {
		t.Errorf("after edits: %s", list.raw)
	}

	var page openapi.DirectoryPage
	for query, want := range map[string]int64{"": 1, "?status=disabledByAdministrator": 1, "?q=RENAMED&sort=name": 1, "?status=active": 0, "?q=dev&sort=owner&page=1&size=5": 1} {
		r := m.admin.must(200, "GET", "/api/admin/applications"+query, "")
		r.forbidden(t)
		if page = dataOf[openapi.DirectoryPage](t, r); page.Total != want || page.LastCallsKnown || len(page.Items) != int(want) {
			t.Errorf("%s: %s", query, r.raw)
		}
	}
	m.admin.mustRefuse("GET", "/api/admin/applications?status=x&sort=x", "", "status", "sort")
	m.admin.mustRefuse("GET", "/api/admin/applications?q=%00", "", "q")

	if r := m.admin.must(200, "PATCH", office, `{"status":"active"}`); dataOf[openapi.ListedApplication](t, r).Status != "active" {
		t.Errorf("enabled again: %s", r.raw)
	}
	if r := dev.must(200, "GET", own, ""); !strings.Contains(r.raw, `"disabledByAdministrator":null`) || !strings.Contains(r.raw, `"status":"active"`) {
		t.Errorf("its owner is told %s", r.raw)
	}
	trail := dataOf[openapi.AuditPage](t, m.admin.must(200, "GET", "/api/admin/audit?actor="+managingAdmin+"&action=application.&target="+id, ""))
	if trail.Total != 2 || trail.Items[1].Changes[1] != (openapi.AuditChange{Field: "administratorReason", To: "It calls without end"}) {
		t.Errorf("%+v", trail)
	}
}

// TestWhatRunsIsEndedOnlyWhereAskedFor: each time it is, and the trail says so.
func TestWhatRunsIsEndedOnlyWhereAskedFor(t *testing.T) {
	m := newManager(t)
	dev := m.developer("dev")
	id := field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"Search"}`), "id")
	m.seed("chat")
	capability := "chat"
	for path, bodies := range map[string][2]string{
		"/api/admin/applications/" + id + "/status":         {`{"status":"disabled","reason":"why"}`, `{"status":"disabled","reason":"why","endRunning":true}`},
		"/api/admin/capabilities/" + capability + "/status": {`{"status":"disabled","endRunning":false}`, `{"status":"disabled","endRunning":true}`},
	} {
		target := strings.Split(path, "/")[4]
		m.admin.must(200, "PATCH", path, `{"status":"`+map[bool]string{true: "active", false: "enabled"}[target == id]+`","endRunning":true}`)
		for n, body := range []string{bodies[0], bodies[0], bodies[1], bodies[1]} {
			m.admin.must(200, "PATCH", path, body)
			trail := dataOf[openapi.AuditPage](t, m.admin.must(200, "GET", "/api/admin/audit?action="+map[bool]string{true: "application.set", false: "capability.set"}[target == id]+"&target="+target, ""))
			told := 0
			for _, item := range trail.Items {
				for _, change := range item.Changes {
					if change.Field == "endRunning" && change.To == true {
						told++
					}
				}
			}
			if want := max(0, n-1); told != want {
				t.Errorf("%s, %d: told %d times that what runs was ended", path, n, told)
			}
		}
	}
}

func TestAStaleJudgementIsToldTheApplicationAsItIs(t *testing.T) {
	m := newManager(t)
	dev := m.developer("dev")
	made := dev.must(201, "POST", "/api/applications", `{"name":"Search"}`)
	id, seen := field[string](t, made, "id"), field[string](t, made, "updatedAt")
	dev.must(200, "PATCH", "/api/applications/"+id, `{"name":"Renamed"}`)
	r, err := m.admin.sendIf(`"`+seen+`"`, "PATCH", "/api/admin/applications/"+id+"/status", `{"status":"disabled","reason":"why"}`)
	if err != nil || r.status != 409 || r.body.Code != 40902 || !strings.Contains(r.raw, "Renamed") || !strings.Contains(r.raw, `"status":"active"`) {
		t.Fatalf("%v: %s", err, r.raw)
	}
}

// TestAnApplicationIsMovedToAnotherOwner: what a page of its former owner has open is a 404 from then on.
func TestAnApplicationIsMovedToAnotherOwner(t *testing.T) {
	m := newManager(t)
	m.seed("a")
	former, next := m.developer("former"), m.developer("next")
	made := former.must(201, "POST", "/api/applications", `{"name":"Search","capabilityIds":["a"]}`)
	id := field[string](t, made, "id")
	key := field[string](t, made, "accessKey")
	own, office := "/api/applications/"+id, "/api/admin/applications/"+id+"/owner"
	m.admin.mustRefuse("PATCH", office, `{}`, "owner")
	m.admin.mustRefuse("PATCH", office, `{"owner":"nobody@example.com"}`, "owner")
	m.admin.must(404, "PATCH", "/api/admin/applications/"+uuid.NewString()+"/owner", `{"owner":"next@example.com"}`)
	moved := m.admin.must(200, "PATCH", office, `{"owner":"next@example.com","reason":"They have left"}`)
	moved.forbidden(t)
	if got := dataOf[openapi.ListedApplication](t, moved); got.Owner.Email != "next@example.com" || got.CapabilityCount != 1 || got.Status != "active" {
		t.Errorf("%s", moved.raw)
	}
	for _, path := range []string{own, own + "/access-key", own + "/keys", own + "/limits/usage", "/api/statistics/applications/" + id} {
		former.must(404, "GET", path, "")
	}
	former.must(404, "PATCH", own, `{"name":"Mine"}`)
	next.must(200, "GET", own, "")
	if got := field[string](t, next.must(200, "GET", own+"/access-key", ""), "accessKey"); got != key {
		t.Errorf("another key: %q", got)
	}
	m.admin.must(200, "PATCH", office, `{"owner":"next@example.com"}`)
	trail := dataOf[openapi.AuditPage](t, m.admin.must(200, "GET", "/api/admin/audit?action=application.move&target="+id, ""))
	if trail.Total != 1 || trail.Items[0].Actor != managingAdmin || trail.Items[0].Changes[0] != (openapi.AuditChange{Field: "owner", From: "former@example.com", To: "next@example.com"}) {
		t.Errorf("%+v", trail)
	}
}

func TestAnAdministratorEndsAllSessionsOfAUser(t *testing.T) {
	m := newManager(t)
	one := m.session(identity.Developer, "ada@example.com")
	two := &client{m, m.session(identity.Developer, "ada@example.com").Token.Value}
	page := dataOf[openapi.UserPage](t, m.admin.must(200, "GET", "/api/admin/users?q=ADA&page=1&size=5", ""))
	if page.Total != 1 || page.Items[0].SessionCount != 2 || page.Items[0].LastSignInAt == nil || page.Items[0].ID != one.Principal.UserID {
		t.Fatalf("%+v", page)
	}
	path := "/api/admin/users/" + one.Principal.UserID.String() + "/sessions"
	if u := dataOf[openapi.UserAccount](t, m.admin.must(200, "DELETE", path, "")); u.SessionCount != 0 || u.Email != "ada@example.com" {
		t.Errorf("%+v", u)
	}
	two.must(401, "GET", "/api/applications", "")
	(&client{m, one.Token.Value}).must(401, "GET", "/api/auth/me", "")
	m.admin.must(200, "DELETE", path, "")
	m.admin.must(404, "DELETE", "/api/admin/users/"+uuid.NewString()+"/sessions", "")
	m.admin.mustRefuse("GET", "/api/admin/users?q=%00", "", "q")
	if trail := m.admin.must(200, "GET", "/api/admin/audit?action=user.end_sessions&target=ada@", ""); dataOf[openapi.AuditPage](t, trail).Total != 1 {
		t.Errorf("%s", trail.raw)
	}
}

func TestAnyCallIsFoundByItsIdWithoutWhatWasSentOrAnswered(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	dev := w.developer("dev")
	app, gone := w.application(dev, "Search"), w.application(dev, "Gone")
	failed := w.failed(app, "gpt", time.Minute, 502, "their message")
	fine := w.called(app, "gpt", 2*time.Minute, 10, 200)
	lost := w.called(gone, "gpt", time.Minute, 10, 200)
	dev.must(200, "DELETE", "/api/applications/"+gone, "")
	r := w.admin.must(200, "GET", "/api/admin/calls/"+failed.String(), "")
	r.forbidden(t)
	if got := dataOf[openapi.CallFacts](t, r); got.Success || got.StatusCode != 502 || got.Reason == nil || got.Application.Name != "Search" || got.Owner.Email != "dev@example.com" {
		t.Errorf("%s", r.raw)
	}
	if got := dataOf[openapi.CallFacts](t, w.admin.must(200, "GET", "/api/admin/calls/"+fine.String(), "")); !got.Success || got.Reason != nil {
		t.Errorf("%+v", got)
	}
	for _, id := range []string{lost.String(), uuid.Must(uuid.NewV7()).String(), uuid.NewString(), "x"} {
		w.admin.must(404, "GET", "/api/admin/calls/"+id, "")
	}
	trace := strings.Repeat("ab", 16)
	w.exec(`ALTER TABLE calls UPDATE trace_id = $1 WHERE call_id IN ($2, $3) SETTINGS mutations_sync = 1`, trace, failed.String(), lost.String())
	r = w.admin.must(200, "GET", "/api/admin/calls?traceId="+trace, "")
	r.forbidden(t)
	if got := dataOf[openapi.CallFactsFound](t, r); len(got.Items) != 1 || got.Items[0].CallID != failed || got.Items[0].Owner.Email != "dev@example.com" || got.More {
		t.Errorf("%s", r.raw)
	}
	w.admin.mustRefuse("GET", "/api/admin/calls?traceId=x", "", "traceId")
	page := dataOf[openapi.DirectoryPage](t, w.admin.must(200, "GET", "/api/admin/applications", ""))
	if !page.LastCallsKnown || page.Total != 1 || page.Items[0].LastCallAt == nil {
		t.Errorf("%+v", page)
	}
}

func TestTheTrailIsFilteredAndExported(t *testing.T) {
	m := newManager(t)
	m.seed("a")
	evil := `=HYPERLINK("http://evil")`
	body, _ := json.Marshal(map[string]string{"name": evil})
	id := field[string](t, m.developer("dev").must(201, "POST", "/api/applications", string(body)), "id")
	for query, want := range map[string]int64{
		"actor=DEV@": 1, "action=application.create": 1, "target=" + id: 1, "target=" + url.QueryEscape("=hyper"): 1, "action=nothing": 0,
		"from=2026-01-01T00:00:00%2B08:00&actor=dev@": 1, "to=2020-01-01T00:00:00%2B08:00": 0,
	} {
		if page := dataOf[openapi.AuditPage](t, m.admin.must(200, "GET", "/api/admin/audit?"+query, "")); page.Total != want || int64(len(page.Items)) != want {
			t.Errorf("%s: %d of %d", query, len(page.Items), page.Total)
		}
		file, _ := m.admin.send("GET", "/api/admin/audit.csv?"+query, "")
		rows, err := csv.NewReader(strings.NewReader(file.raw)).ReadAll()
		if err != nil || file.status != 200 || int64(len(rows)) != want+1 || strings.Join(rows[0], ",") != "\ufeff"+strings.Join(auditHeader, ",") {
			t.Fatalf("%s: %v, %d: %s", query, err, file.status, file.raw)
		}
		if want == 1 && (rows[1][6] != "'"+evil || rows[1][5] != id || rows[1][2] != "dev@example.com") {
			t.Errorf("%q", rows[1])
		}
		file.forbidden(t)
	}
	m.admin.mustRefuse("GET", "/api/admin/audit?from=x", "", "from")
	m.admin.mustRefuse("GET", "/api/admin/audit.csv?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "", "to")
	m.admin.mustRefuse("GET", "/api/admin/audit?actor=%00", "", "actor")
	m.admin.mustRefuse("GET", "/api/admin/audit?target="+strings.Repeat("x", 255), "", "target")
}

// TestALongTrailIsExportedWhole in blocks, newest first.
func TestALongTrailIsExportedWhole(t *testing.T) {
	m := newManager(t)
	if _, err := m.pool.Exec(t.Context(), `INSERT INTO audit_log (actor, action, target_type, target_id) SELECT 'many@example.com', 'noun.verb', 'noun', n::text FROM generate_series(1, 2500) AS n`); err != nil {
		t.Fatal(err)
	}
	file, _ := m.admin.send("GET", "/api/admin/audit.csv?actor=many@", "")
	rows, err := csv.NewReader(strings.NewReader(file.raw)).ReadAll()
	if err != nil || len(rows) != 2501 || rows[1][5] != "2500" || rows[2500][5] != "1" {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
}

// TestStatisticsThatDoNotAnswerKeepNobodyFromDisabling: the directory is there without them.
func TestStatisticsThatDoNotAnswerKeepNobodyFromDisabling(t *testing.T) {
	w := newWatcher(t)
	app := w.application(w.developer("dev"), "Search")
	w.exec(`RENAME TABLE app_models TO app_models_away`)
	page := dataOf[openapi.DirectoryPage](t, w.admin.must(200, "GET", "/api/admin/applications", ""))
	if page.LastCallsKnown || page.Total != 1 || page.Items[0].LastCallAt != nil {
		t.Errorf("%+v", page)
	}
	w.admin.must(200, "PATCH", "/api/admin/applications/"+app+"/status", `{"status":"`+application.Disabled+`","reason":"why"}`)
}
