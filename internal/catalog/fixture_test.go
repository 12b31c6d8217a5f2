package catalog

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"callgate/internal/audit"
	"callgate/internal/databasetest"
	"callgate/internal/secret"
)

const admin = "admin@example.com"

type world struct {
	*Store
	databasetest.Database
}

func newWorld(t *testing.T) *world {
	t.Helper()
	database := databasetest.New(t)
	return &world{New(database.Pool, database.Ring, true), database}
}

func (w *world) group(id string, order int64) {
	w.T.Helper()
	if _, err := w.CreateGroup(w.Ctx, admin, GroupSettings{ID: &id, Name: new("Group " + id), SortOrder: &order}); err != nil {
		w.T.Fatal(err)
	}
}

func (w *world) capability(id, group string, order int64) Details {
	w.T.Helper()
	return w.capabilityAt("https://upstream.example/v1", id, group, order)
}

func (w *world) capabilityAt(baseURL, id, group string, order int64) Details {
	w.T.Helper()
	d, err := w.Create(w.Ctx, admin, Settings{ID: &id, Name: new("Name of " + id), GroupID: &group, SortOrder: &order,
		UpstreamBaseURL: &baseURL, UpstreamKey: new("sk-canary-" + id)})
	if err != nil {
		w.T.Fatal(err)
	}
	return d
}

// storedKey opens the upstream key as the gateway does.
func (w *world) storedKey(id string) string {
	w.T.Helper()
	var sealed []byte
	if err := w.Pool.QueryRow(w.Ctx, `SELECT upstream_key FROM capabilities WHERE id = $1`, id).Scan(&sealed); err != nil {
		w.T.Fatal(err)
	}
	plain, err := w.Ring.Open(sealed, secret.UpstreamKeyContext(id))
	if err != nil {
		w.T.Fatal(err)
	}
	return string(plain)
}

// lastEntry is the newest entry of the audit log, and how many there are.
func (w *world) lastEntry() (audit.Row, int) {
	w.T.Helper()
	rows, total, err := audit.List(w.Ctx, w.Pool, audit.Filter{}, 1, 1)
	if err != nil || len(rows) != 1 {
		w.T.Fatalf("audit: %v, %v", rows, err)
	}
	return rows[0], total
}

// serverThatWants notes every Authorization but its own in wrong.
func serverThatWants(t *testing.T, authorization string, wrong *sync.Map) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != authorization {
			wrong.Store(got+" instead of "+authorization, true)
		}
	}))
	t.Cleanup(server.Close)
	return server
}
