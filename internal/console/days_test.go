package console

import (
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
)

// TestTheBackOfficeTellsHowDaysStand: open, held up, closed with what is missing, and reopened.
func TestTheBackOfficeTellsHowDaysStand(t *testing.T) {
	m := newManager(t)
	today := beijing.Today(time.Now())
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := m.pool.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	days := func() []openapi.ClosedDay {
		return dataOf[openapi.ClosedDayItems](t, m.admin.must(200, "GET", "/api/admin/days", "")).Items
	}
	exec(`UPDATE collection SET days_from = $1`, today.String()) // the stores may be of before midnight
	if found := days(); len(found) != 1 || found[0].Day != today || found[0].State != "open" || *found[0].WaitsFor != "time" || found[0].Calls != nil {
		t.Fatalf("at first: %+v", found)
	}
	exec(`UPDATE collection SET days_from = '2020-01-01'`)
	exec(`INSERT INTO spools (id, node, through, updated_at) VALUES ($1, 'gateway-2', $2, now() - interval '1 hour')`, lostSpool, (today - 2).Start())
	for back, state := range map[beijing.Day]string{4: "closed", 3: "reopened"} {
		exec(`INSERT INTO days (day, state, revision, checked_at, missed) VALUES ($1, $2, 2, now(), 3)`, (today - back).String(), state)
		exec(`INSERT INTO day_revisions (day, revision, applications, figures, missing) VALUES ($1, 2, 5, '{"calls": 40, "successes": 38}',
			'{"calls": 3, "anyones": 3, "spools": [{"id": "`+lostSpool+`", "node": "gateway-3", "at": "2026-08-17T01:31:00Z", "by": "root@example.com", "calls": null}]}')`, (today - back).String())
	}
	found := days()
	if len(found) != 14 {
		t.Fatalf("%d days", len(found))
	}
	if d := found[4]; d.State != "closed" || d.Revision != 2 || *d.Calls != 40 || *d.Failures != 2 || *d.ApplicationCount != 5 || *d.MissingCalls != 3 || d.WaitsFor != nil ||
		len(d.Spools) != 1 || d.Spools[0].Calls != nil || d.Spools[0].RetiredAt != "2026-08-17T09:31:00.000+08:00" {
		t.Errorf("closed: %+v", d)
	}
	if d := found[3]; d.State != "reopened" || d.Revision != 2 || *d.WaitsFor != "spools" || len(d.HeldBy) != 1 {
		t.Errorf("reopened: %+v", d)
	}
	if d := found[2]; d.State != "open" || *d.WaitsFor != "spools" || len(d.HeldBy) != 1 || d.HeldBy[0].ID.String() != lostSpool || !d.HeldBy[0].Silent || d.HeldBy[0].Host != "gateway-2" {
		t.Errorf("held up: %+v", d)
	}
	if d := found[5]; d.State != "open" || *d.WaitsFor != "check" || len(d.HeldBy) != 0 {
		t.Errorf("due: %+v", d)
	}
}
