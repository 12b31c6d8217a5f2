package console

import (
	"encoding/json"
	"strings"
	"testing"

	"callgate/internal/openapi"
)

// lostSpool is the spool of a gateway that will not come back.
const lostSpool = "01920000-0000-7000-8000-0000000000aa"

// loseSpool makes it, with 12 calls in it.
func (m *manager) loseSpool() {
	m.t.Helper()
	for _, statement := range []string{
		`INSERT INTO spools (id, node, through, updated_at) VALUES ('` + lostSpool + `', 'gateway-2', now() - interval '1 hour', now() - interval '1 hour')`,
		`INSERT INTO gateways (spool_id, host, role, version, started_at, seen_at, oldest_at, held_bytes, held_calls)
		VALUES ('` + lostSpool + `', 'gateway-2', 'gateway', '1.4.0', now() - interval '1 day', now() - interval '1 hour', now() - interval '1 hour', 3000, '{"2026-08-17": 12}')`,
	} {
		if _, err := m.pool.Exec(m.t.Context(), statement); err != nil {
			m.t.Fatal(err)
		}
	}
}

func (m *manager) spools(query string) (page openapi.SpoolPage) {
	m.t.Helper()
	if err := json.Unmarshal(m.admin.must(200, "GET", "/api/admin/spools"+query, "").body.Data, &page); err != nil {
		m.t.Fatal(err)
	}
	return page
}

func TestTheBackOfficeListsSpoolsAndGivesUpALostOne(t *testing.T) {
	m := newManager(t)
	if page := m.spools(""); page.Total != 0 || page.Items == nil || len(page.Items) != 0 {
		t.Fatalf("without gateways: %+v", page)
	}
	m.loseSpool()
	page := m.spools("?page=1&size=5")
	if page.Total != 1 || len(page.Items) != 1 {
		t.Fatalf("%+v", page)
	}
	s := page.Items[0]
	if s.ID.String() != lostSpool || s.Host != "gateway-2" || s.State != "silent" || *s.Role != "gateway" || *s.Version != "1.4.0" ||
		*s.HeldBytes != 3000 || *s.HeldCalls != 12 || s.OldestAt == nil || s.RetiredAt != nil || s.MissedCalls != nil {
		t.Errorf("%+v", s)
	}
	if past := m.spools("?page=2"); past.Total != 1 || len(past.Items) != 0 {
		t.Errorf("past the end: %+v", past)
	}
	for range 2 { // idempotent
		var gone openapi.Spool
		if err := json.Unmarshal(m.admin.must(200, "POST", "/api/admin/spools/"+lostSpool+"/retire", "").body.Data, &gone); err != nil {
			t.Fatal(err)
		}
		if gone.State != "retired" || *gone.RetiredBy != managingAdmin || *gone.MissedCalls != 12 || gone.RetiredAt == nil {
			t.Errorf("%+v", gone)
		}
	}
	audit := m.admin.must(200, "GET", "/api/admin/audit", "").raw
	if strings.Count(audit, "spool.retire") != 1 || !strings.Contains(audit, `"field":"missedCalls","from":null,"to":12`) || !strings.Contains(audit, managingAdmin) {
		t.Errorf("audit %s", audit)
	}
	for _, id := range []string{"01920000-0000-7000-8000-000000000001", "it"} {
		m.admin.must(404, "POST", "/api/admin/spools/"+id+"/retire", "")
	}
	m.admin.mustRefuse("GET", "/api/admin/spools?page=0", "", "page")
}

func TestASpoolThatAGatewayReportsIsNotGivenUp(t *testing.T) {
	m := newManager(t)
	m.loseSpool()
	if _, err := m.pool.Exec(t.Context(), `UPDATE spools SET updated_at = now()`); err != nil {
		t.Fatal(err)
	}
	r := m.admin.must(409, "POST", "/api/admin/spools/"+lostSpool+"/retire", "")
	if !strings.Contains(r.body.Msg, "gateway-2") || !strings.Contains(r.body.Msg, "Stop that gateway first") {
		t.Error(r.body.Msg)
	}
	if state := m.spools("").Items[0].State; state != "adopted" {
		t.Errorf("it is %s", state)
	}
}
