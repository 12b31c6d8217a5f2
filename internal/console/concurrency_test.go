package console

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"callgate/internal/access"
	"callgate/internal/alerts"
	"callgate/internal/application"
	"callgate/internal/budget"
	"callgate/internal/catalog"
	"callgate/internal/embedded"
	"callgate/internal/limits"
	"callgate/internal/pricing"
	"callgate/internal/saved"
	"callgate/internal/secret"
)

// newBusyManager has as many database connections as production, so that edits really meet.
func newBusyManager(t *testing.T) *manager {
	t.Helper()
	m := newManager(t)
	settings := m.pool.Config()
	settings.MaxConns = 16
	return m.over(settings)
}

// over is a second console on the same stores, which reaches PostgreSQL as settings say.
func (m *manager) over(settings *pgxpool.Config) *manager {
	m.t.Helper()
	second := *m
	pool, err := pgxpool.NewWithConfig(m.t.Context(), settings)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(pool.Close)
	options, err := redis.ParseURL(embedded.Redis(m.t))
	if err != nil {
		m.t.Fatal(err)
	}
	rdb := redis.NewClient(options)
	m.t.Cleanup(func() { _ = rdb.Close() })
	ring, err := secret.ParseKeyring("test:" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if err != nil {
		m.t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	second.listen(New(reporting(Deps{
		Identity:     m.identity,
		Applications: application.New(pool, ring, secret.Pepper("a pepper of thirty-two bytes long")),
		Catalog:      catalog.New(pool, ring, true),
		Pricing:      pricing.New(pool),
		Limits:       limits.New(pool),
		Budgets:      budget.New(pool),
		Saved:        saved.New(pool),
		Alerts:       alerts.New(pool, ring, true, m.identity.Administrator),
		Pool:         pool,
		Announcer:    access.NewAnnouncer(pool, rdb, log),
		Logger:       log,
	})), log)
	second.admin = &client{&second, m.admin.token}
	return &second
}

// edit is one request of many and how it went; began and ended tell which order is possible.
type edit struct {
	kind, method, path, body string
	value                    string // what the edit leaves behind; a set is sorted and joined
	began, ended             time.Time
	status                   int
	data                     json.RawMessage
}

// together sends all edits at once and fills in how they went.
func (c *client) together(edits []edit) {
	c.t.Helper()
	start := make(chan struct{})
	var running sync.WaitGroup
	for i := range edits {
		running.Go(func() {
			e := &edits[i]
			<-start
			e.began = time.Now()
			r, err := c.send(e.method, e.path, e.body)
			e.ended = time.Now()
			if err != nil {
				c.t.Errorf("%s: %v", e.kind, err)
				return
			}
			e.status, e.data = r.status, r.body.Data
		})
	}
	close(start)
	running.Wait()
	http.DefaultClient.CloseIdleConnections()
}

// lastly tells whether e can have been the last successful one of its kind.
func (e edit) lastly(edits []edit) bool {
	return e.status == 200 && !slices.ContainsFunc(edits, func(o edit) bool {
		return o.kind == e.kind && o.status == 200 && o.began.After(e.ended)
	})
}

// explained tells whether some order of the edits leaves this set of bindings behind: a complete set
// that can be the last one, and the single bindings that can have come after it.
func explained(final []string, edits []edit) bool {
	return slices.ContainsFunc(edits, func(set edit) bool {
		if set.kind != "set" || !set.lastly(edits) {
			return false
		}
		possible := strings.Fields(set.value)
		certain := slices.Clone(possible)
		for _, e := range edits {
			if e.kind != "bind" || e.status != 200 {
				continue
			}
			if e.ended.After(set.began) {
				possible = append(possible, e.value)
			}
			if e.began.After(set.ended) {
				certain = append(certain, e.value)
			}
		}
		in := func(list []string) func(string) bool {
			return func(id string) bool { return slices.Contains(list, id) }
		}
		return !slices.ContainsFunc(final, func(id string) bool { return !in(possible)(id) }) &&
			!slices.ContainsFunc(certain, func(id string) bool { return !in(final)(id) })
	})
}

// mixed is n edits of an application, of every kind but its end.
func mixed(app string, n int) []edit {
	path := "/api/applications/" + app
	sets := [][]string{{"a", "b"}, {"b", "c"}, {"a", "c", "d"}, {}}
	edits := make([]edit, 0, n)
	for i := range n {
		switch i % 5 {
		case 0:
			set := sets[i/5%len(sets)]
			body, _ := json.Marshal(map[string]any{"capabilityIds": set, "description": fmt.Sprint(i)})
			edits = append(edits, edit{kind: "set", method: "PATCH", path: path, body: string(body), value: strings.Join(set, " ")})
		case 1, 2:
			id := string(rune('a' + i%4))
			edits = append(edits, edit{kind: "bind", method: "PATCH", path: path + "/capabilities/" + id, value: id})
		case 3:
			edits = append(edits, edit{kind: "rotate", method: "POST", path: path + "/access-key/rotate"})
		case 4:
			status := []string{"active", "disabled"}[i/5%2]
			edits = append(edits, edit{kind: "status", method: "PATCH", path: path + "/status", body: `{"status":"` + status + `"}`, value: status})
		}
	}
	return edits
}

// agrees tells whether the answer to a successful edit shows what it left behind.
func (e edit) agrees() bool {
	var shown struct {
		Status        string
		CapabilityIDs []string `json:"capabilityIds"`
		AccessKey     string
	}
	if err := json.Unmarshal(e.data, &shown); err != nil {
		return false
	}
	switch e.kind {
	case "set":
		return strings.Join(shown.CapabilityIDs, " ") == e.value
	case "bind":
		return slices.Contains(shown.CapabilityIDs, e.value)
	case "status":
		return shown.Status == e.value
	}
	return strings.HasPrefix(shown.AccessKey, "cg-")
}

func TestTwoHundredConcurrentEditsEndAsSomeOrderOfThemWould(t *testing.T) {
	m := newBusyManager(t)
	m.seed("a", "b", "c", "d")
	dev := m.developer("dev")
	app := field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"Busy"}`), "id")
	edits := mixed(app, 200)
	stop := make(chan struct{})
	var administrator sync.WaitGroup
	administrator.Go(func() { // edits the same capabilities meanwhile
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if r, err := m.admin.send("PATCH", "/api/admin/capabilities/b", fmt.Sprintf(`{"sortOrder":%d,"upstreamKey":"sk-%d"}`, i, i)); err != nil || r.status != 200 {
				t.Errorf("the administrator's edit: %+v, %v", r, err)
			}
		}
	})
	dev.together(edits)
	close(stop)
	administrator.Wait()

	for _, e := range edits {
		if e.status != 200 || !e.agrees() {
			t.Errorf("%s %s %s: %d %s", e.kind, e.method, e.body, e.status, e.data)
		}
	}
	final := dev.must(200, "GET", "/api/applications/"+app, "")
	if set := field[[]string](t, final, "capabilityIds"); !explained(set, edits) {
		t.Errorf("no order of the edits leaves %v", set)
	}
	status := field[string](t, final, "status")
	if !slices.ContainsFunc(edits, func(e edit) bool { return e.kind == "status" && e.value == status && e.lastly(edits) }) {
		t.Errorf("no order of the edits leaves the status %s", status)
	}
	key := field[string](t, dev.must(200, "GET", "/api/applications/"+app+"/access-key", ""), "accessKey")
	if field[string](t, final, "maskedAccessKey") != secret.Mask(key) {
		t.Errorf("the mask is not of the key revealed: %s", final.raw)
	}
	if !slices.ContainsFunc(edits, func(e edit) bool {
		return e.kind == "rotate" && strings.Contains(string(e.data), key) && e.lastly(edits)
	}) {
		t.Error("the key left behind is of no rotation that can have been the last")
	}
}

func TestADeleteAmongEditsHappensOnceAndNothingComesAfterIt(t *testing.T) {
	m := newBusyManager(t)
	m.seed("a", "b", "c", "d")
	dev := m.developer("dev")
	app := field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"Doomed","capabilityIds":["a"]}`), "id")
	edits := mixed(app, 190)
	for range 10 {
		edits = slices.Insert(edits, len(edits)/2, edit{kind: "delete", method: "DELETE", path: "/api/applications/" + app})
	}
	dev.together(edits)
	var deleted []edit
	for _, e := range edits {
		switch {
		case e.status == 200 && e.kind == "delete":
			deleted = append(deleted, e)
		case e.status != 404 && (e.status != 200 || !e.agrees()):
			t.Errorf("%s %s: %d %s", e.kind, e.body, e.status, e.data)
		}
	}
	if len(deleted) != 1 {
		t.Fatalf("deleted %d times", len(deleted))
	}
	for _, e := range edits {
		if e.status == 200 && e.began.After(deleted[0].ended) {
			t.Errorf("%s succeeded after the end of the application", e.kind)
		}
		if e.status == 404 && e.ended.Before(deleted[0].began) {
			t.Errorf("%s found nothing before the end of the application", e.kind)
		}
	}
	dev.must(404, "GET", "/api/applications/"+app, "")
	var left int
	err := m.pool.QueryRow(t.Context(), `
		SELECT (SELECT count(*) FROM access_keys) + (SELECT count(*) FROM application_capabilities)
		     + (SELECT count(*) FROM applications) + abs((SELECT count(*) FROM deleted_applications) - 1)`).Scan(&left)
	if err != nil || left != 0 {
		t.Errorf("%d rows too many or too few are left, %v", left, err)
	}
}
