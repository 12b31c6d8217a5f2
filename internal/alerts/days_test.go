package alerts

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/databasetest"
	"callgate/internal/days"
	"callgate/internal/fault"
)

// days of a platform with two owners, as who closes them keeps them.
func (w *world) closeDay(day string, revision int, calls map[string]int64) {
	w.T.Helper()
	w.Exec(`INSERT INTO days (day, state, revision, checked_at, missed) VALUES ($1, 'closed', $2, now(), 0) ON CONFLICT (day) DO UPDATE SET state = 'closed', revision = $2`, day, revision)
	w.Exec(`INSERT INTO day_revisions (day, revision, applications, figures, missing) VALUES ($1, $2, 2, '{}', '{"calls": 2, "anyones": 2, "spools": [{"node": "gateway-9", "calls": null}]}')`, day, revision)
	for app, n := range calls {
		w.Exec(`INSERT INTO day_figures (day, revision, application_id, owner_id, figures) SELECT $1, $2, id, owner_id, $4 FROM applications WHERE id = $3`,
			day, revision, app, days.Figures{Calls: n, Successes: n - 1, Tokens: days.Tokens{Input: &n}, Costs: []days.Cost{}})
	}
	w.Exec(`INSERT INTO day_events (day, revision, kind) VALUES ($1, $2, 'closed')`, day, revision)
}

func (w *world) reopenDay(day string, revision int) {
	w.T.Helper()
	w.Exec(`UPDATE days SET state = 'reopened' WHERE day = $1`, day)
	w.Exec(`INSERT INTO day_events (day, revision, kind, found) VALUES ($1, $2, 'reopened', '{"calls": 41, "callsBefore": 40}')`, day, revision)
}

// payloads are what was sent of a rule, in order.
func (w *world) payloads(r Rule) (found []payloadOfDay) {
	w.T.Helper()
	for n := range w.Count(`SELECT count(*) FROM alert_events WHERE rule_id = $1`, r.ID) {
		var text []byte
		if err := w.Pool.QueryRow(w.Ctx, `SELECT payload FROM alert_events WHERE rule_id = $1 AND sequence = $2`, r.ID, n+1).Scan(&text); err != nil {
			w.T.Fatal(err)
		}
		var p payloadOfDay
		if err := json.Unmarshal(text, &p); err != nil {
			w.T.Fatal(err)
		}
		found = append(found, p)
	}
	return found
}

func daysTo(kind TargetType, url string) Draft {
	return Draft{Name: "Days", Kind: DayClosed, TargetType: kind, Channels: []ChannelDraft{{Kind: Webhook, URL: &url}, {Kind: Mail}}}
}

// TestWhoAskedIsToldOfEachClosingAndReopeningOnce: an owner of his own applications, an administrator of all, nobody of what
// was before he asked.
func TestWhoAskedIsToldOfEachClosingAndReopeningOnce(t *testing.T) {
	w := newWorld(t)
	other, theirs := w.owner("other@example.com")
	h := newHook(t, nil)
	w.closeDay("2026-08-15", 1, map[string]int64{w.app: 5})
	mine, desk := w.rule(w.who, daysTo(Account, h.URL)), w.rule(w.desk, daysTo(Platform, h.URL))
	_ = other
	w.evaluate(1)
	if n := w.Count(`SELECT count(*) FROM alert_events`); n != 0 {
		t.Fatalf("%d events of what was before", n)
	}
	w.closeDay("2026-08-16", 1, map[string]int64{w.app: 30, theirs: 10})
	w.evaluate(2)
	w.reopenDay("2026-08-16", 1)
	w.evaluate(1)
	w.closeDay("2026-08-16", 2, map[string]int64{w.app: 31, theirs: 10})
	w.evaluate(2)
	for _, r := range []Rule{mine, desk} {
		if kinds := w.events(r); !slices.Equal(kinds, []string{"closed", "reopened", "closed"}) {
			t.Errorf("%s: %v", r.Target.Type, kinds)
		}
	}
	own, all := w.payloads(mine), w.payloads(desk)
	if p := own[0]; p.Type != "day.closed" || p.Data.Day.String() != "2026-08-16" || p.Data.Revision != 1 || p.Data.Figures.Calls != 30 || *p.Data.Figures.Tokens.Input != 30 ||
		len(p.Data.Apps) != 1 || p.Data.Apps[0].Name != "Search" || p.Data.Changes != nil || p.Data.Missing != (dayMissing{2, true}) || p.Data.Rule.Kind != DayClosed || p.Data.URL != "https://callgate.example/" {
		t.Errorf("%+v", p)
	}
	if p := all[0]; p.Data.Figures.Calls != 40 || len(p.Data.Apps) != 2 || p.Data.AppsTotal != 2 || p.Data.URL != "https://callgate.example/admin/spools" {
		t.Errorf("%+v", p)
	}
	if p := all[1]; p.Type != "day.reopened" || p.Data.Revision != 1 || *p.Data.CallsNow != 41 || own[1].Data.CallsNow != nil {
		t.Errorf("%+v", p)
	}
	if p := all[2]; p.Data.Revision != 2 || p.Data.Changes.Calls != 1 || p.Data.Figures.Calls != 41 || p.Data.Apps[0].Changes.Calls != 1 || p.Data.Apps[1].Changes != nil {
		t.Errorf("%+v", p)
	}
	for _, p := range slices.Concat(own, all) {
		if text, _ := json.Marshal(p); strings.Contains(string(text), "gateway-9") {
			t.Errorf("a gateway is told: %s", text)
		}
	}
	w.deliver(quick)
	w.until("everything is delivered", time.Minute, func() bool {
		return w.Count(`SELECT count(*) FROM alert_deliveries WHERE status = 'delivered'`) == 12
	})
	var subjects []string
	for range 6 {
		mail := <-w.mails
		subjects = append(subjects, mail[1])
		if !strings.Contains(mail[2], "调用 / calls ") || !strings.Contains(mail[2], "known to be missing 2") {
			t.Errorf("%q", mail)
		}
	}
	slices.Sort(subjects)
	if subjects[0] != "[Callgate] 日结 / Day closed: 2026-08-16" || subjects[2] != "[Callgate] 日结 / Day closed: 2026-08-16 (2)" || subjects[5] != "[Callgate] 日结撤回 / Day reopened: 2026-08-16" {
		t.Errorf("%q", subjects)
	}
	listed, _, err := w.List(w.Ctx, w.who)
	if err != nil || len(listed) != 1 || listed[0].State.Sequence != 3 || *listed[0].State.Figures.Day != "2026-08-16" || *listed[0].State.Figures.Revision != 2 || listed[0].Target.Type != Account {
		t.Errorf("%+v, %v", listed, err)
	}
}

// TestARuleOfDaysIsSilencedDisabledAndChecked as others are.
func TestARuleOfDaysIsSilencedDisabledAndChecked(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		who    Who
		change func(*Draft)
		fields []string
	}{
		{w.who, func(d *Draft) { d.TargetType = Platform }, []string{"targetType"}},
		{w.desk, func(d *Draft) {}, []string{"targetType"}},
		{w.who, func(d *Draft) { d.TargetType, d.TargetID = Application, &w.app }, []string{"targetType"}},
		{w.who, func(d *Draft) { d.Threshold = ptr(5.0) }, []string{"threshold"}},
	} {
		d := daysTo(Account, "http://127.0.0.1:1/")
		c.change(&d)
		_, err := w.Create(w.Ctx, c.who, d)
		databasetest.MustFail(t, err, fault.Invalid, c.fields...)
	}
	r := w.rule(w.who, daysTo(Account, "http://127.0.0.1:1/"))
	if _, err := w.Update(w.Ctx, w.who, r.ID, Edit{SilencedUntil: ptr("2090-01-01T00:00:00+08:00")}); err != nil {
		t.Fatal(err)
	}
	w.closeDay("2026-08-16", 1, map[string]int64{w.app: 30})
	w.evaluate(1)
	if kinds := w.events(r); len(kinds) != 0 {
		t.Errorf("silenced: %v", kinds)
	}
	if _, err := w.Update(w.Ctx, w.who, r.ID, Edit{SilencedUntil: ptr("")}); err != nil {
		t.Fatal(err)
	}
	w.evaluate(1)
	if kinds := w.events(r); !slices.Equal(kinds, []string{"closed"}) {
		t.Errorf("no longer: %v", kinds)
	}
	for _, on := range []bool{false, true} { // what is closed meanwhile is not told
		if _, err := w.Update(w.Ctx, w.who, r.ID, Edit{Enabled: &on}); err != nil {
			t.Fatal(err)
		}
		if !on {
			w.closeDay("2026-08-17", 1, nil)
			w.evaluate(1)
		}
	}
	w.closeDay("2026-08-18", 1, nil)
	w.evaluate(1)
	if found := w.payloads(r); len(found) != 2 || found[1].Data.Day.String() != "2026-08-18" || found[1].Data.Figures.Calls != 0 {
		t.Errorf("%+v", found)
	}
	if _, err := w.Test(w.Ctx, w.who, r.ID, "https://callgate.example"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Log(w.Ctx, w.who, r.ID, 1, 10); err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(w.Ctx, w.who, r.ID); err != nil {
		t.Fatal(err)
	}
	if n := w.Count(`SELECT count(*) FROM alert_days`); n != 0 || uuid.Nil == r.ID {
		t.Errorf("%d are left", n)
	}
}

// TestAnApplicationThatWasMovedIsToldToItsNewOwnerAlone: of the days before too, so that figures and changes are about the
// same applications; and nobody can watch what is another's by then.
func TestAnApplicationThatWasMovedIsToldToItsNewOwnerAlone(t *testing.T) {
	w := newWorld(t)
	h := newHook(t, nil)
	to, theirs := w.owner("other@example.com")
	former, next := w.rule(w.who, daysTo(Account, h.URL)), w.rule(to, daysTo(Account, h.URL))
	w.rule(w.who, draft(w.app, h.URL))
	w.closeDay("2026-08-16", 1, map[string]int64{w.app: 30, theirs: 10})
	w.Exec(`UPDATE applications SET owner_id = $2 WHERE id = $1`, w.app, to.Owner)
	if n := w.Count(`SELECT count(*) FROM alert_rules WHERE kind = 'failureRate'`); n != 0 {
		t.Errorf("%d alerts of the former owner are left", n)
	}
	w.evaluate(1)
	w.closeDay("2026-08-16", 2, map[string]int64{w.app: 31, theirs: 10})
	w.evaluate(1)
	if p := w.payloads(former); len(p) != 2 || p[0].Data.AppsTotal != 0 || p[1].Data.Figures.Calls != 0 || p[1].Data.Changes.Calls != 0 {
		t.Errorf("the former owner is told %+v", p)
	}
	if p := w.payloads(next); len(p) != 2 || p[0].Data.Figures.Calls != 40 || p[1].Data.Figures.Calls != 41 || p[1].Data.Changes.Calls != 1 {
		t.Errorf("the new owner is told %+v", p)
	}
	_, err := w.Create(w.Ctx, w.who, draft(w.app, h.URL))
	databasetest.MustFail(t, err, fault.Invalid, "targetId")
}
