package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
)

const noLimits = `{"callsPerDay":null,"concurrency":null,"requestsPerMinute":null,"tokensPerDay":null,"tokensPerMinute":null}`

// limitsOf is what an application's answer says of limits, in short.
func limitsOf(a openapi.Application) string {
	told := func(name string, own, ceiling *int64, holds *openapi.EffectiveLimit) string {
		if own == nil && ceiling == nil && holds == nil {
			return ""
		}
		number := func(n *int64) string {
			if n == nil {
				return "-"
			}
			return fmt.Sprint(*n)
		}
		return fmt.Sprint(name, " ", number(own), " of ", number(ceiling), ": ", holds.Limit, " ", holds.Source, "; ")
	}
	l, c, e := a.Limits, a.Ceilings, a.EffectiveLimits
	return told("rpm", l.RequestsPerMinute, c.RequestsPerMinute, e.RequestsPerMinute) + told("tpm", l.TokensPerMinute, c.TokensPerMinute, e.TokensPerMinute) +
		told("concurrency", l.Concurrency, c.Concurrency, e.Concurrency) + told("cpd", l.CallsPerDay, c.CallsPerDay, e.CallsPerDay) + told("tpd", l.TokensPerDay, c.TokensPerDay, e.TokensPerDay)
}

func TestAnOwnerSetsLimitsWithinCeilingsAndSeesWhatHoldsAndWhoSetIt(t *testing.T) {
	m := newManager(t)
	dev := m.developer("dev")
	made := dev.must(201, "POST", "/api/applications", `{"name":"app"}`)
	if got := dataOf[openapi.Application](t, made); limitsOf(got) != "" {
		t.Errorf("a new application: %s", limitsOf(got))
	}
	app := "/api/applications/" + field[string](t, made, "id")
	expect := func(what, want string, r *reply) {
		t.Helper()
		if got := limitsOf(dataOf[openapi.Application](t, r)); got != want {
			t.Errorf("%s: %s\nwant %s", what, got, want)
		}
	}
	expect("set", "rpm 100 of -: 100 own; tpd 5000 of -: 5000 own; ", dev.must(200, "PATCH", app+"/limits", `{"requestsPerMinute":100,"tokensPerDay":5000}`))
	expect("removed", "rpm 100 of -: 100 own; ", dev.must(200, "PATCH", app+"/limits", `{"tokensPerDay":null}`))
	m.admin.must(200, "PUT", "/api/admin/limits", `{"scope":"all","requestsPerMinute":60,"concurrency":5}`)
	m.admin.must(200, "PUT", "/api/admin/limits", `{"scope":"owner","owner":"dev@example.com","concurrency":8}`)
	const under = "rpm 100 of 60: 60 all; concurrency - of 8: 8 owner; "
	expect("under ceilings", under, dev.must(200, "GET", app, ""))
	refused := dev.must(400, "PATCH", app+"/limits", `{"requestsPerMinute":61,"concurrency":9,"callsPerDay":0}`)
	if !strings.Contains(refused.raw, `"callsPerDay":"must be an integer from 1 to 1000000000000"`) {
		t.Errorf("refused with %s", refused.raw)
	}
	refused = dev.must(400, "PATCH", app+"/limits", `{"requestsPerMinute":61,"concurrency":9}`)
	for _, sentence := range []string{"must be at most 60, the ceiling that an administrator has set for all applications", "must be at most 8, the ceiling that an administrator has set for your account"} {
		if !strings.Contains(refused.raw, sentence) {
			t.Errorf("%s does not say %q", refused.raw, sentence)
		}
	}
	expect("refused", under, dev.must(200, "GET", app, ""))
	raised := field[string](t, made, "id")
	m.admin.must(200, "PUT", "/api/admin/limits", `{"scope":"application","application":"`+raised+`","requestsPerMinute":1000}`)
	expect("raised for one", "rpm 100 of 1000: 100 own; concurrency - of 8: 8 owner; ", dev.must(200, "PATCH", app, `{"name":"app"}`))
	page := dataOf[openapi.ApplicationPage](t, dev.must(200, "GET", "/api/applications", ""))
	if got := limitsOf(page.Items[0]); got != "rpm 100 of 1000: 100 own; concurrency - of 8: 8 owner; " {
		t.Errorf("listed with %s", got)
	}
	for _, body := range []string{`{"concurrency":"5"}`, `{"concurrency":1.5}`, `{"concurrency":1000000000001}`, `{"concurrency":true}`, `[]`, ``} {
		dev.must(400, "PATCH", app+"/limits", body)
	}
}

func TestTheUsageOfLimitsSaysWhatHoldsUntilWhenAndOnlyWhatIsKnown(t *testing.T) {
	m := newManager(t)
	dev := m.developer("dev")
	app := "/api/applications/" + field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"app"}`), "id")
	m.admin.must(200, "PUT", "/api/admin/limits", `{"scope":"all","concurrency":5}`)
	dev.must(200, "PATCH", app+"/limits", `{"callsPerDay":10}`)
	var told []string
	for _, item := range dataOf[openapi.LimitsUsage](t, dev.must(200, "GET", app+"/limits/usage", "")).Items {
		line := item.Name
		if item.Limit != nil {
			line += fmt.Sprint(" ", *item.Limit, " ", *item.Source)
		}
		if item.WindowMs != nil {
			line += fmt.Sprint(" in ", *item.WindowMs)
		}
		if item.ResetsAt != nil {
			line += " until " + (*item.ResetsAt)[len("2026-08-18"):]
		}
		if item.Used != nil {
			line += fmt.Sprint(" used ", *item.Used)
		}
		told = append(told, line)
	}
	const midnight = " until T00:00:00.000+08:00"
	want := []string{"requestsPerMinute in 60000", "tokensPerMinute in 60000", "concurrency 5 all", "callsPerDay 10 own" + midnight, "tokensPerDay" + midnight}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("told %q\nwant %q", told, want)
	}
}

func TestCeilingsAreKeptByAdministratorsAndTheAuditTrailTellsOfThemAndOfLimits(t *testing.T) {
	m := newManager(t)
	dev := m.developer("dev")
	app := field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"app"}`), "id")
	const path = "/api/admin/limits"
	m.admin.mustEqual("GET", path, "", `{"items":[],"page":1,"size":10,"total":0}`)
	made := dataOf[openapi.Ceiling](t, m.admin.must(200, "PUT", path, `{"scope":"application","application":"`+app+`","tokensPerMinute":5,"callsPerDay":null}`))
	if made.Scope != "application" || made.ApplicationID.String() != app || *made.ApplicationName != "app" || *made.OwnerEmail != "dev@example.com" || *made.Limits.TokensPerMinute != 5 || made.UpdatedBy != managingAdmin {
		t.Errorf("made %+v", made)
	}
	dev.must(200, "PATCH", "/api/applications/"+app+"/limits", `{"tokensPerMinute":4}`)
	for query, want := range map[string]int64{"": 1, "?scope=all": 0, "?scope=application": 1, "?scope=": 1, "?q=DEV@": 1, "?q=nobody": 0, "?page=2": 1} {
		if page := dataOf[openapi.CeilingPage](t, m.admin.must(200, "GET", path+query, "")); page.Total != want {
			t.Errorf("%s: %+v, want %d", query, page, want)
		}
	}
	m.admin.must(400, "GET", path+"?scope=everybody", "")
	m.admin.must(400, "GET", path+"?q=%00", "")
	m.admin.must(400, "PUT", path, `{"scope":"owner","owner":"nobody@example.com","concurrency":1}`)
	m.admin.must(400, "PUT", path, `{"scope":"owner","concurrency":1}`)
	m.admin.must(404, "DELETE", path+"/"+made.ID.String(), "")
	taken := dataOf[openapi.Ceiling](t, m.admin.must(200, "PUT", path, `{"scope":"application","application":"`+app+`"}`))
	if taken.Limits.TokensPerMinute != nil || taken.ID != made.ID {
		t.Errorf("taken away: %+v", taken)
	}
	m.admin.mustEqual("GET", path, "", `{"items":[],"page":1,"size":10,"total":0}`)
	var told []string
	for _, e := range dataOf[openapi.AuditPage](t, m.admin.must(200, "GET", "/api/admin/audit?size=5", "")).Items {
		if e.TargetType == "ceiling" || e.Action == "application.set_limits" {
			told = append(told, fmt.Sprint(e.Actor, " ", e.Action, " ", e.TargetName, " ", e.Changes))
		}
	}
	want := []string{
		managingAdmin + " ceiling.update app [{tokensPerMinute 5 <nil>}]", "dev@example.com application.set_limits app [{tokensPerMinute <nil> 4}]",
		managingAdmin + " ceiling.update app [{tokensPerMinute <nil> 5}]",
	}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("told %q\nwant %q", told, want)
	}
}

// TestTheEstimatesOfADayAreToldApartFromWhatIsUsed, of the application's calls of this day, and never more than is used.
func TestTheEstimatesOfADayAreToldApartFromWhatIsUsed(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	dev := w.developer("dev")
	app := w.application(dev, "app")
	dev.must(200, "PATCH", "/api/applications/"+app+"/limits", `{"tokensPerDay":5000,"callsPerDay":10}`)
	told := func() (line string) {
		for _, item := range dataOf[openapi.LimitsUsage](t, dev.must(200, "GET", "/api/applications/"+app+"/limits/usage", "")).Items {
			if item.Used != nil {
				line += fmt.Sprint(item.Name, " ", *item.Used)
			}
			if item.Estimated != nil {
				line += fmt.Sprint(" of which ", *item.Estimated)
			}
		}
		return line
	}
	if got := told(); got != "" {
		t.Errorf("before any call: %s", got)
	}
	today := fmt.Sprint(int64(beijing.Today(w.now)))
	w.redis.HSet(t.Context(), "callgate:limit:{"+app+"}:day-tokens", today, 3000)
	eventually(t, "a day without an estimate is told so", func() bool { return told() == "tokensPerDay 3000 of which 0" }) // once ClickHouse is warm
	left, whole := w.called(app, "gpt", time.Minute, 30, 499), w.called(app, "gpt", 2*time.Minute, 30, 200)
	before := w.called(app, "gpt", 24*time.Hour, 30, 499)
	w.exec("ALTER TABLE calls UPDATE estimated_tokens = 775 WHERE call_id IN ('" + left.String() + "', '" + before.String() + "') SETTINGS mutations_sync = 1")
	if got := told(); got != "tokensPerDay 3000 of which 775" {
		t.Errorf("with one: %s", got)
	}
	w.redis.HSet(t.Context(), "callgate:limit:{"+app+"}:day-tokens", today, 700)
	if got := told(); got != "tokensPerDay 700 of which 700" {
		t.Errorf("while the counts are behind the ledger: %s", got)
	}
	for _, c := range dataOf[openapi.CallPage](t, dev.must(200, "GET", "/api/statistics/applications/"+app+"/calls", "")).Items {
		switch {
		case c.CallID == left && (c.EstimatedTokens == nil || *c.EstimatedTokens != 775), c.CallID == whole && c.EstimatedTokens != nil:
			t.Errorf("%+v", c)
		}
	}
	if detail := field[*int64](t, dev.must(200, "GET", "/api/statistics/applications/"+app+"/calls/"+left.String(), ""), "estimatedTokens"); detail == nil || *detail != 775 {
		t.Errorf("the call's detail has %v", detail)
	}
}

// TestAKeyHasLimitsOfItsOwnBeneathTheCeilings: set with the key and changed with it, shown with what is used of them, kept
// where the key is replaced, and recorded.
func TestAKeyHasLimitsOfItsOwnBeneathTheCeilings(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	dev := w.developer("dev")
	app := w.application(dev, "app")
	keys := "/api/applications/" + app + "/keys"
	told := func(of openapi.KeyFields) (line string) {
		for _, u := range of.LimitsUsage {
			line += fmt.Sprint(u.Name, " ", u.Limit)
			if u.Used != nil {
				line += fmt.Sprint(" used ", *u.Used, " left ", *u.Left)
			}
			line += "; "
		}
		return line
	}
	list := func() []openapi.Key {
		t.Helper()
		return dataOf[openapi.KeyItems](t, dev.must(200, "GET", keys, "")).Items
	}
	if first := list()[0]; told(first.KeyFields) != "" || first.Limits != (openapi.Limits{}) {
		t.Errorf("a key of before: %+v", first)
	}
	w.admin.must(200, "PUT", "/api/admin/limits", `{"scope":"all","callsPerDay":100}`)
	for body, sentence := range map[string]string{
		`{"name":"x","limits":{"callsPerDay":101}}`:                "must be at most 100, the ceiling that an administrator has set for all applications",
		`{"name":"x","limits":{"callsPerDay":0,"concurrency":-1}}`: `"concurrency":"must be an integer from 1 to 1000000000000"`,
		`{"name":"x","limits":{"concurrency":"5"}}`:                `"concurrency":"must not be a string"`,
		`{"name":"x","limits":[]}`:                                 `"limits":"must be an object of limits"`,
		`{"name":"x","limits":null}`:                               `"limits":"must not be null`,
	} {
		if refused := dev.must(400, "POST", keys, body); !strings.Contains(refused.raw, sentence) {
			t.Errorf("%s: %s does not say %q", body, refused.raw, sentence)
		}
	}
	made := dataOf[openapi.NewKey](t, dev.must(201, "POST", keys, `{"name":"Batch","limits":{"callsPerDay":20,"requestsPerMinute":4,"tokensPerDay":null}}`))
	if got := told(made.KeyFields); got != "requestsPerMinute 4 used 0 left 4; callsPerDay 20; " {
		t.Errorf("made with %s", got)
	}
	w.redis.HSet(t.Context(), "callgate:limit:{"+made.ID.String()+"}:day-calls", fmt.Sprint(int64(beijing.Today(w.now))), 25)
	dev.must(200, "PATCH", keys+"/"+made.ID.String(), `{"limits":{"requestsPerMinute":null,"concurrency":3}}`)
	if got := told(list()[1].KeyFields); got != "concurrency 3 used 0 left 3; callsPerDay 20 used 25 left 0; " {
		t.Errorf("listed with %s", got)
	}
	if got := dataOf[openapi.Key](t, dev.must(200, "PATCH", keys+"/"+made.ID.String(), `{"name":"Night"}`)); *got.Limits.CallsPerDay != 20 {
		t.Errorf("renamed: %+v", got.Limits)
	}

	first := list()[0].ID.String()
	dev.must(200, "PATCH", keys+"/"+first, `{"limits":{"callsPerDay":7}}`)
	dev.must(200, "POST", "/api/applications/"+app+"/access-key/rotate", `{"overlapHours":1}`)
	limited := map[bool]int{}
	for _, k := range list() {
		if k.Limits.CallsPerDay != nil && *k.Limits.CallsPerDay == 7 {
			limited[k.First]++
		}
	}
	if limited[true] != 1 || limited[false] != 1 {
		t.Errorf("after a rotation with an overlap: %v", limited)
	}

	var trail []string
	for _, e := range dataOf[openapi.AuditPage](t, w.admin.must(200, "GET", "/api/admin/audit?size=20", "")).Items {
		if strings.HasPrefix(e.Action, "access_key.") {
			for _, c := range e.Changes {
				if c.Field == "callsPerDay" || c.Field == "requestsPerMinute" {
					trail = append(trail, fmt.Sprint(e.Action, " ", c))
				}
			}
		}
	}
	want := []string{"access_key.update {callsPerDay <nil> 7}", "access_key.update {requestsPerMinute 4 <nil>}",
		"access_key.create {requestsPerMinute <nil> 4}", "access_key.create {callsPerDay <nil> 20}"}
	if fmt.Sprint(trail) != fmt.Sprint(want) {
		t.Errorf("recorded %q\nwant %q", trail, want)
	}
}
