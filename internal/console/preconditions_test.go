package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"callgate/internal/openapi"
)

// guarded is an edit that takes a precondition, and where the object it edits is read.
type guarded struct {
	by         *client
	path, body string
	read       string
	meanwhile  string // another edit of the same object, a body of `also`
	also       string // method and path
	only       bool   // what is read is a list that holds the object alone
}

// edits gives every edit of the interface by its operation id.
func edits(m *manager) map[string]guarded {
	m.seed("a", "b")
	dev := m.developer("dev")
	app := "/api/applications/" + field[string](m.t, dev.must(201, "POST", "/api/applications", `{"name":"app","capabilityIds":["a"]}`), "id")
	application := guarded{by: dev, read: app, also: "PATCH " + app, meanwhile: `{"description":%q}`}
	capability := guarded{by: m.admin, read: "/api/admin/capabilities/a", also: "PATCH /api/admin/capabilities/b", meanwhile: `{"description":%q}`}
	group := guarded{by: m.admin, read: "/api/admin/groups/g", also: "PATCH /api/admin/groups/g", meanwhile: `{"name":%q}`}
	with := func(g guarded, path, body string) guarded { g.path, g.body = path, body; return g }
	all := map[string]guarded{
		"updateApplication":    with(application, app, `{"name":"renamed"}`),
		"setApplicationStatus": with(application, app+"/status", `{"status":"disabled"}`),
		"bindCapability":       with(application, app+"/capabilities/b", ``),
		"setApplicationLimits": with(application, app+"/limits", `{"concurrency":3}`),
		"updateGroup":          with(group, group.read, `{"sortOrder":7}`),
		"orderGroups":          with(group, "/api/admin/groups/order", `{"ids":["g"]}`),
		"orderCapabilities":    with(capability, "/api/admin/capabilities/order", `{"groupId":"g","ids":["b","a"]}`),
	}
	orders := all["orderGroups"]
	orders.read = "/api/admin/groups"
	all["orderGroups"] = orders
	orders = all["orderCapabilities"]
	orders.read = "/api/admin/capabilities?groupId=g"
	all["orderCapabilities"] = orders
	keys := app + "/keys"
	key := guarded{by: dev, read: keys, only: true, meanwhile: `{"name":%q}`,
		also: "PATCH " + keys + "/" + dataOf[openapi.KeyItems](m.t, dev.must(200, "GET", keys, "")).Items[0].ID.String()}
	all["updateKey"] = with(key, strings.TrimPrefix(key.also, "PATCH "), `{"allowedCidrs":["192.0.2.7"],"limits":{"callsPerDay":7}}`)
	price := guarded{by: m.admin, read: "/api/admin/prices?capability=a", also: "PUT /api/admin/prices", only: true,
		meanwhile: `{"capabilityId":"a","from":"2026-01-01","currency":"USD","input":"3","output":"8","note":%q}`}
	m.admin.must(200, "PUT", "/api/admin/prices", `{"capabilityId":"a","from":"2026-01-01","currency":"USD","input":"2","output":"8"}`)
	all["putPrice"] = with(price, "/api/admin/prices", `{"capabilityId":"a","from":"2026-01-01","currency":"USD","input":"4","output":"8"}`)
	rate := guarded{by: m.admin, read: "/api/admin/rates", also: "PUT /api/admin/rates", only: true}
	rate.meanwhile = `{"currency":"USD","toCurrency":"CNY","from":"2026-01-01","rate":"7.3","note":%q}`
	m.admin.must(200, "PUT", "/api/admin/rates", `{"currency":"USD","toCurrency":"CNY","from":"2026-01-01","rate":"7.1"}`)
	all["putRate"] = with(rate, "/api/admin/rates", `{"currency":"USD","toCurrency":"CNY","from":"2026-01-01","rate":"7.2"}`)
	ceiling := guarded{by: m.admin, read: "/api/admin/limits?scope=all", also: "PUT /api/admin/limits", only: true}
	ceiling.meanwhile = `{"scope":"all","concurrency":50,"note":%q}`
	m.admin.must(200, "PUT", "/api/admin/limits", `{"scope":"all","concurrency":10}`)
	all["putCeiling"] = with(ceiling, "/api/admin/limits", `{"scope":"all","concurrency":40}`)
	drafts := `"budgets":[{"period":"month","amount":"%d","currency":"USD","action":"block"}]`
	all["setApplicationBudgets"] = with(guarded{by: dev, read: app + "/budgets", also: application.also, meanwhile: application.meanwhile}, app+"/budgets", `{`+fmt.Sprintf(drafts, 5)+`}`)
	ofKey := keys + "/" + dataOf[openapi.KeyItems](m.t, dev.must(200, "GET", keys, "")).Items[0].ID.String() + "/budgets"
	all["setKeyBudgets"] = with(guarded{by: dev, read: ofKey, also: application.also, meanwhile: application.meanwhile}, ofKey, `{`+fmt.Sprintf(drafts, 6)+`}`)
	budgets := guarded{by: m.admin, read: "/api/admin/budgets?scope=capability", also: "PUT /api/admin/budgets"}
	budgets.meanwhile = `{"scope":"capability","capabilityId":"a",` + fmt.Sprintf(drafts, 50) + `,"note":%q}`
	m.admin.must(200, "PUT", "/api/admin/budgets", `{"scope":"capability","capabilityId":"a",`+fmt.Sprintf(drafts, 10)+`}`)
	all["setBudgets"] = with(budgets, "/api/admin/budgets", `{"scope":"capability","capabilityId":"a",`+fmt.Sprintf(drafts, 40)+`}`)
	watched := field[string](m.t, dev.must(200, "GET", app, ""), "id")
	made, _, _ := m.watch(dev, watched)
	alert := guarded{by: dev, read: "/api/alerts", also: "PATCH /api/alerts/" + made, only: true, meanwhile: `{"name":%q}`}
	all["updateAlert"] = with(alert, "/api/alerts/"+made, `{"minCalls":7}`)
	made = field[string](m.t, m.admin.must(201, "POST", "/api/admin/alerts", `{"name":"a","kind":"p95","targetType":"capability","targetId":"a","threshold":5,"channels":[{"kind":"mail"}]}`), "id")
	alert = guarded{by: m.admin, read: "/api/admin/alerts", also: "PATCH /api/admin/alerts/" + made, only: true, meanwhile: `{"name":%q}`}
	all["adminUpdateAlert"] = with(alert, "/api/admin/alerts/"+made, `{"minCalls":7}`)
	judged := "/api/admin/applications/" + watched + "/status"
	all["judgeApplication"] = guarded{by: m.admin, path: judged, body: `{"status":"active"}`, read: "/api/admin/applications?q=" + watched, only: true,
		also: "PATCH " + judged, meanwhile: `{"status":"disabled","reason":%q}`}
	moved := all["judgeApplication"]
	moved.path, moved.body = "/api/admin/applications/"+watched+"/owner", `{"owner":"dev@example.com"}`
	all["moveApplication"] = moved
	m.share()
	upstream := guarded{by: m.admin, read: "/api/admin/upstreams/shared", also: "PATCH /api/admin/upstreams/shared", meanwhile: `{"name":%q}`}
	all["updateUpstream"] = with(upstream, upstream.read, `{"checkModel":"m"}`)
	capability.also = "PATCH /api/admin/capabilities/a"
	all["updateCapability"] = with(capability, capability.read, `{"sortOrder":7}`)
	all["setCapabilityStatus"] = with(capability, capability.read+"/status", `{"status":"disabled"}`)
	return all
}

// seen is the precondition of what is edited, and the object as it is.
func (e guarded) seen() (ifMatch string, data map[string]any) {
	e.by.t.Helper()
	ifMatch, data = e.by.seen(e.read)
	if e.only {
		data = data["items"].([]any)[0].(map[string]any)
	}
	return ifMatch, data
}

// seen is the precondition of what is read at a path: the updatedAt of an object, or the newest of a list.
func (c *client) seen(path string) (ifMatch string, data map[string]any) {
	c.t.Helper()
	data = dataOf[map[string]any](c.t, c.must(200, "GET", path, ""))
	newest, _ := data["updatedAt"].(string)
	items, _ := data["items"].([]any)
	for _, item := range items {
		newest = max(newest, item.(map[string]any)["updatedAt"].(string))
	}
	return `"` + newest + `"`, data
}

func TestEveryEditIsRefusedWhenTheObjectWasChangedSinceItWasRead(t *testing.T) {
	m := newManager(t)
	all := edits(m)
	for _, op := range documented.Operations("/api/") {
		if op.Method != http.MethodPatch && op.Method != http.MethodPut {
			continue
		}
		e, known := all[op.ID]
		if !known || !slices.ContainsFunc(op.Parameters, func(p map[string]any) bool { return p["name"] == "If-Match" }) {
			t.Errorf("%s: no precondition is documented, or none is tried here", op.ID)
			continue
		}
		answer := func(want int, ifMatch string) *reply {
			t.Helper()
			r, err := e.by.sendIf(ifMatch, op.Method, e.path, e.body)
			if err != nil || r.status != want {
				t.Fatalf("%s, If-Match %s: %+v, %v, want %d", op.ID, ifMatch, r, err, want)
			}
			return r
		}
		stale, _ := e.seen()
		method, path, _ := strings.Cut(e.also, " ")
		e.by.must(200, method, path, fmt.Sprintf(e.meanwhile, "meanwhile "+op.ID))
		current, before := e.seen()

		refused := answer(409, stale)
		told := dataOf[map[string]any](t, refused)
		if items, list := before["items"]; list && fmt.Sprint(told["items"]) != fmt.Sprint(items) || !list && fmt.Sprint(told) != fmt.Sprint(before) || refused.body.Code != 40902 {
			t.Errorf("%s told %s\nwant %v", op.ID, refused.raw, before)
		}
		if _, after := e.seen(); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("%s was refused and changed the object: %v\nbefore %v", op.ID, after, before)
		}
		for _, malformed := range []string{strings.Trim(current, `"`), `W/` + current, current + ", " + current, `""`, `"` + strings.Repeat("1", 3000) + `"`, `"2026-08-17T01:31:00.000Z"`} {
			if r := answer(400, malformed); r.body.Code != 40001 {
				t.Errorf("%s, If-Match %.60s: %s", op.ID, malformed, r.raw)
			}
		}
		answer(200, current)
		answer(200, "*")
		answer(200, "")
	}
}

func TestOfTwoEditorsWhoReadTheSameOneWins(t *testing.T) {
	m := newBusyManager(t)
	all := edits(m)
	for id, bodies := range map[string][2]string{
		"updateApplication": {`{"name":"one"}`, `{"name":"two"}`},
		"updateCapability":  {`{"name":"one"}`, `{"name":"two"}`},
		"updateGroup":       {`{"name":"one"}`, `{"name":"two"}`},
		"orderCapabilities": {`{"groupId":"g","ids":["a","b"]}`, `{"groupId":"g","ids":["b","a"]}`},
	} {
		e := all[id]
		method := "PATCH"
		if id == "orderCapabilities" {
			method = "PUT"
		}
		for round := range 20 {
			if id == "orderCapabilities" { // neither order is the present one
				m.admin.must(200, "PATCH", "/api/admin/capabilities/a", `{"sortOrder":9}`)
				m.admin.must(200, "PATCH", "/api/admin/capabilities/b", `{"sortOrder":8}`)
			} else {
				e.by.must(200, method, e.path, fmt.Sprintf(`{"name":"round %d"}`, round))
			}
			ifMatch, _ := e.seen()
			var both sync.WaitGroup
			won := make([]bool, 2)
			start := make(chan struct{})
			for i := range bodies {
				both.Go(func() {
					<-start
					r, err := e.by.sendIf(ifMatch, method, e.path, bodies[i])
					if err != nil || r.status != 200 && r.body.Code != 40902 {
						t.Errorf("%s: %+v, %v", id, r, err)
						return
					}
					won[i] = r.status == 200
				})
			}
			close(start)
			both.Wait()
			if won[0] == won[1] {
				t.Fatalf("%s, round %d: of two editors these won: %v", id, round, won)
			}
		}
	}
}

func TestNoTwoStatesOfAnObjectShareTheirUpdatedAt(t *testing.T) {
	m := newManager(t)
	e := edits(m)["updateGroup"]
	// Faster than milliseconds pass, and with a clock that was set back.
	if _, err := m.pool.Exec(t.Context(), `
		DO $$ BEGIN FOR i IN 1..50 LOOP
			UPDATE capability_groups SET name = 'quick ' || i, updated_at = clock_timestamp();
			UPDATE capability_groups SET updated_at = updated_at - interval '1 hour';
		END LOOP; END $$`); err != nil {
		t.Fatal(err)
	}
	last, _ := e.seen()
	for i := range 50 {
		changed := e.by.must(200, "PATCH", e.path, fmt.Sprintf(`{"name":"edit %d"}`, i))
		if now := `"` + field[string](t, changed, "updatedAt") + `"`; now <= last {
			t.Fatalf("edit %d leaves %s after %s", i, now, last)
		} else if last, _ = e.seen(); last != now {
			t.Fatalf("edit %d tells %s, a reader is told %s", i, now, last)
		}
	}
	var group openapi.Group
	if err := json.Unmarshal(e.by.must(200, "GET", e.read, "").body.Data, &group); err != nil || group.Name != "edit 49" {
		t.Fatalf("%+v, %v", group, err)
	}
}
