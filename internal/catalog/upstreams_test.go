package catalog

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/fault"
	"callgate/internal/secret"
)

// provider takes one key at a time, and counts the requests of each.
type provider struct {
	*httptest.Server
	key   atomic.Pointer[string]
	asked sync.Map // key -> *atomic.Int64
}

func newProvider(t *testing.T, key string) *provider {
	t.Helper()
	p := &provider{}
	p.key.Store(&key)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		count, _ := p.asked.LoadOrStore(shown, new(atomic.Int64))
		count.(*atomic.Int64).Add(1)
		if shown != *p.key.Load() {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) saw(key string) int64 {
	if count, ok := p.asked.Load(key); ok {
		return count.(*atomic.Int64).Load()
	}
	return 0
}

func (w *world) upstream(id string, p *provider, key string) Upstream {
	w.T.Helper()
	u, err := w.CreateUpstream(w.Ctx, admin, UpstreamSettings{ID: &id, Name: new("Name of " + id), BaseURL: &p.URL, Key: &key})
	if err != nil {
		w.T.Fatal(err)
	}
	return u
}

// sharedKey opens an upstream's key as the gateway does.
func (w *world) sharedKey(id string) string {
	w.T.Helper()
	var sealed []byte
	if err := w.Pool.QueryRow(w.Ctx, `SELECT sealed_key FROM upstreams WHERE id = $1`, id).Scan(&sealed); err != nil {
		w.T.Fatal(err)
	}
	plain, err := w.Ring.Open(sealed, secret.SharedUpstreamKeyContext(id))
	if err != nil {
		w.T.Fatal(err)
	}
	return string(plain)
}

func TestAKeyThatTheUpstreamDoesNotTakeIsNeverSaved(t *testing.T) {
	w := newWorld(t)
	p := newProvider(t, "sk-canary-good")
	id := "openai"
	_, err := w.CreateUpstream(w.Ctx, admin, UpstreamSettings{ID: &id, Name: new("OpenAI"), BaseURL: &p.URL, Key: new("sk-canary-x")})
	if fault.KindOf(err) != fault.Invalid || strings.Contains(fmt.Sprint(err), "canary") || !strings.Contains(fmt.Sprint(err), "answered 401") {
		t.Fatalf("created with a wrong key: %v", err)
	}
	u := w.upstream(id, p, "sk-canary-good")
	_, entries := w.lastEntry()
	for name, settings := range map[string]UpstreamSettings{
		"a wrong key":        {Key: new("sk-canary-x")},
		"another style":      {Auth: new("x-api-key")},
		"a wrong key by now": {BaseURL: new(p.URL + "/v9"), Key: new("sk-canary-x")},
	} {
		if _, err := w.UpdateUpstream(w.Ctx, admin, id, settings); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	now, err := w.Upstream(w.Ctx, id)
	if _, after := w.lastEntry(); err != nil || !now.Updated.Equal(u.Updated) || after != entries || w.sharedKey(id) != "sk-canary-good" {
		t.Errorf("after refused edits: %+v, %v", now, err)
	}
	changed, err := w.UpdateUpstream(w.Ctx, admin, id, UpstreamSettings{Key: new("sk-canary-x"), SkipCheck: new(true)})
	if err != nil || w.sharedKey(id) != "sk-canary-x" || changed.FormerKeyUntil == nil {
		t.Fatalf("saved without a check: %+v, %v", changed, err)
	}
	if entry, _ := w.lastEntry(); !strings.Contains(fmt.Sprint(entry), "keyChecked") || strings.Contains(fmt.Sprint(entry), "canary") {
		t.Errorf("entry %+v", entry)
	}
}

func TestTheKeyBeforeCanBePutBackForADay(t *testing.T) {
	w := newWorld(t)
	p := newProvider(t, "sk-1")
	w.upstream("u", p, "sk-1")
	if _, err := w.RestoreUpstreamKey(w.Ctx, admin, "u"); fault.KindOf(err) != fault.Conflict {
		t.Fatalf("restored what never was: %v", err)
	}
	p.key.Store(new("sk-2"))
	rotated, err := w.UpdateUpstream(w.Ctx, admin, "u", UpstreamSettings{Key: new("sk-2")})
	if err != nil || rotated.FormerKeyUntil == nil || time.Until(*rotated.FormerKeyUntil) < 23*time.Hour || w.sharedKey("u") != "sk-2" {
		t.Fatalf("rotated: %+v, %v", rotated, err)
	}
	for _, want := range []string{"sk-1", "sk-2", "sk-1"} { // they change places
		restored, err := w.RestoreUpstreamKey(w.Ctx, admin, "u")
		if err != nil || w.sharedKey("u") != want || !restored.Updated.After(rotated.Updated) {
			t.Fatalf("restored %s: %+v, %v", want, restored, err)
		}
		if entry, _ := w.lastEntry(); entry.Action != "upstream.restore_key" || strings.Contains(fmt.Sprint(entry), "sk-") {
			t.Errorf("entry %+v", entry)
		}
	}
	w.Exec(`UPDATE upstreams SET former_until = now() - interval '1 second'`)
	if _, err := w.RestoreUpstreamKey(w.Ctx, admin, "u"); fault.KindOf(err) != fault.Conflict {
		t.Errorf("restored after its time: %v", err)
	}
	if err := w.ReportUpstreams(w.Ctx, uuid.New(), nil); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := w.Pool.QueryRow(w.Ctx, `SELECT count(former_key) FROM upstreams`).Scan(&left); err != nil || left > 0 {
		t.Errorf("%d keys are kept past their time, %v", left, err)
	}
}

// TestNoKeyOfAnUpstreamIsSentToAnotherOrigin: not the stored one, and not the one before.
func TestNoKeyOfAnUpstreamIsSentToAnotherOrigin(t *testing.T) {
	w := newWorld(t)
	own, other := newProvider(t, "sk-1"), newProvider(t, "sk-new")
	w.upstream("u", own, "sk-1")
	if _, err := w.UpdateUpstream(w.Ctx, admin, "u", UpstreamSettings{BaseURL: &other.URL}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("moved without a key: %v", err)
	}
	if _, err := w.UpdateUpstream(w.Ctx, admin, "u", UpstreamSettings{BaseURL: &other.URL, SkipCheck: new(true)}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("moved without a key and a check: %v", err)
	}
	if _, err := w.CheckUpstream(w.Ctx, admin, "u", UpstreamSettings{BaseURL: &other.URL}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("checked without a key: %v", err)
	}
	moved, err := w.UpdateUpstream(w.Ctx, admin, "u", UpstreamSettings{BaseURL: &other.URL, Key: new("sk-new")})
	if err != nil || moved.FormerKeyUntil != nil {
		t.Fatalf("moved: %+v, %v", moved, err)
	}
	if _, err := w.RestoreUpstreamKey(w.Ctx, admin, "u"); fault.KindOf(err) != fault.Conflict {
		t.Errorf("the key of the former host was put back: %v", err)
	}
	if n := other.saw("sk-1"); n > 0 {
		t.Errorf("another host got the key %d times", n)
	}
}

func TestACheckOfAnUpstreamIsRecordedWhenItUsesTheStoredKey(t *testing.T) {
	w := newWorld(t)
	p := newProvider(t, "sk-1")
	w.upstream("u", p, "sk-1")
	_, before := w.lastEntry()
	result, err := w.CheckUpstream(w.Ctx, admin, "u", UpstreamSettings{Key: new("sk-wrong")})
	if _, after := w.lastEntry(); err != nil || result.OK || result.Status != 401 || after != before {
		t.Errorf("a key of one's own: %+v, %v, %d entries", result, err, after-before)
	}
	result, err = w.CheckUpstream(w.Ctx, admin, "u", UpstreamSettings{})
	if entry, _ := w.lastEntry(); err != nil || !result.OK || entry.Action != "upstream.check" || entry.Actor != admin {
		t.Errorf("the stored key: %+v, %v, entry %+v", result, err, entry)
	}
}

func TestAnUpstreamInUseIsNotDeleted(t *testing.T) {
	w := newWorld(t)
	p := newProvider(t, "sk-1")
	w.upstream("u", p, "sk-1")
	w.group("g", 1)
	c := w.capability("c", "g", 1)
	members := []Member{{UpstreamID: "u", Weight: 1, Status: Enabled}}
	if _, err := w.Update(w.Ctx, admin, c.ID, Settings{Upstreams: &members}); err != nil {
		t.Fatal(err)
	}
	if err := w.DeleteUpstream(w.Ctx, admin, "u"); fault.KindOf(err) != fault.Conflict {
		t.Errorf("deleted: %v", err)
	}
	if _, err := w.Update(w.Ctx, admin, c.ID, Settings{Upstreams: &[]Member{}}); err != nil {
		t.Fatal(err)
	}
	if err := w.DeleteUpstream(w.Ctx, admin, "u"); err != nil {
		t.Error(err)
	}
	if _, err := w.Upstream(w.Ctx, "u"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("still there: %v", err)
	}
}

func TestACapabilityNamesUpstreamsInTheirOrder(t *testing.T) {
	w := newWorld(t)
	p := newProvider(t, "sk-1")
	for _, id := range []string{"a", "b", "c"} {
		w.upstream(id, p, "sk-1")
	}
	w.group("g", 1)
	members := []Member{
		{UpstreamID: "c", Weight: 1, Priority: 1, Status: Enabled}, {UpstreamID: "a", Weight: 1, Status: Disabled}, {UpstreamID: "b", Weight: 5, Status: Enabled},
	}
	made, err := w.Create(w.Ctx, admin, Settings{ID: new("m"), Name: new("M"), GroupID: new("g"), Upstreams: &members})
	if err != nil || made.HasUpstreamKey || made.UpstreamBaseURL != "" {
		t.Fatalf("without an address of its own: %+v, %v", made, err)
	}
	stored, err := w.Details(w.Ctx, "m")
	if err != nil || !slices.Equal(memberIDs(stored.Upstreams), []string{"b", "a", "c"}) || stored.HasUpstreamKey || stored.Upstreams[0].Health != HealthUnknown {
		t.Fatalf("stored: %+v, %v", stored, err)
	}
	if w.storedKey("m") != "" {
		t.Error("it has a key of its own")
	}
	for name, wrong := range map[string]Settings{
		"none and no address": {Upstreams: &[]Member{}},
		"unknown":             {Upstreams: &[]Member{{UpstreamID: "x", Weight: 1, Status: Enabled}}},
		"all disabled":        {Upstreams: &[]Member{{UpstreamID: "a", Weight: 1, Status: Disabled}}},
		"twice":               {Upstreams: &[]Member{{UpstreamID: "a", Weight: 1, Status: Enabled}, {UpstreamID: "a", Weight: 1, Status: Enabled}}},
		"no weight":           {Upstreams: &[]Member{{UpstreamID: "a", Status: Enabled}}},
		"priority":            {Upstreams: &[]Member{{UpstreamID: "a", Weight: 1, Priority: 101, Status: Enabled}}},
		"address, no key":     {UpstreamBaseURL: &p.URL},
	} {
		if _, err := w.Update(w.Ctx, admin, "m", wrong); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	own, err := w.Update(w.Ctx, admin, "m", Settings{UpstreamBaseURL: &p.URL, UpstreamKey: new("sk-own"), Upstreams: &[]Member{}})
	if err != nil || !own.HasUpstreamKey || len(own.Upstreams) > 0 || w.storedKey("m") != "sk-own" {
		t.Errorf("its own again: %+v, %v", own, err)
	}
	if entry, _ := w.lastEntry(); !strings.Contains(fmt.Sprint(entry.Changes), "b (priority 0, weight 5, enabled)") {
		t.Errorf("entry %+v", entry)
	}
	gone, err := w.Update(w.Ctx, admin, "m", Settings{UpstreamBaseURL: new(""), Upstreams: &members})
	if err != nil || gone.HasUpstreamKey || w.storedKey("m") != "" {
		t.Errorf("its own taken away: %+v, %v", gone, err)
	}
}

// TestRotatingTheKeyOfAnUpstreamIsOneStepForAllItsCapabilities: and each of them is told to the gateways.
func TestRotatingTheKeyOfAnUpstreamIsOneStepForAllItsCapabilities(t *testing.T) {
	w := newWorld(t)
	p := newProvider(t, "sk-1")
	w.upstream("u", p, "sk-1")
	w.group("g", 1)
	members := []Member{{UpstreamID: "u", Weight: 1, Status: Enabled}}
	for i := range 58 {
		id := fmt.Sprintf("c%02d", i)
		if _, err := w.Create(w.Ctx, admin, Settings{ID: &id, Name: &id, GroupID: new("g"), Upstreams: &members}); err != nil {
			t.Fatal(err)
		}
	}
	var told int64
	newest := func() (version int64) {
		if err := w.Pool.QueryRow(w.Ctx, `SELECT max(version) FROM access_changes`).Scan(&version); err != nil {
			t.Fatal(err)
		}
		return version
	}
	before := newest()
	p.key.Store(new("sk-2"))
	if _, err := w.UpdateUpstream(w.Ctx, admin, "u", UpstreamSettings{Key: new("sk-2")}); err != nil {
		t.Fatal(err)
	}
	if err := w.Pool.QueryRow(w.Ctx, `SELECT count(DISTINCT capability_id) FROM access_changes WHERE version > $1`, before).Scan(&told); err != nil || told != 58 {
		t.Errorf("%d capabilities are told, %v", told, err)
	}
	before = newest()
	if _, err := w.UpdateUpstream(w.Ctx, admin, "u", UpstreamSettings{Name: new("Renamed")}); err != nil || newest() != before {
		t.Errorf("a new name is told to the gateways: %v", err)
	}
	if u, err := w.Upstream(w.Ctx, "u"); err != nil || len(u.CapabilityIDs) != 58 {
		t.Errorf("used by %d, %v", len(u.CapabilityIDs), err)
	}
}

func TestUpstreamsAreEditedUnderAPrecondition(t *testing.T) {
	w := newWorld(t)
	p := newProvider(t, "sk-1")
	u := w.upstream("u", p, "sk-1")
	seen := u.Updated.Truncate(time.Millisecond)
	if _, err := w.UpdateUpstream(w.Ctx, admin, "u", UpstreamSettings{Name: new("One")}, seen); err != nil {
		t.Fatal(err)
	}
	now, err := w.UpdateUpstream(w.Ctx, admin, "u", UpstreamSettings{Name: new("Two")}, seen)
	if fault.KindOf(err) != fault.Changed || now.Name != "One" {
		t.Errorf("%+v, %v", now, err)
	}
}

func TestKeysOfUpstreamsAreSealedAgainUnderTheNewestKey(t *testing.T) {
	w := newWorld(t)
	p := newProvider(t, "sk-1")
	w.upstream("u", p, "sk-1")
	w.upstream("v", p, "sk-1")
	p.key.Store(new("sk-2"))
	if _, err := w.UpdateUpstream(w.Ctx, admin, "u", UpstreamSettings{Key: new("sk-2")}); err != nil {
		t.Fatal(err)
	}
	changes := func() (n int) {
		if err := w.Pool.QueryRow(w.Ctx, `SELECT count(*) FROM access_changes`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := changes()
	newer, err := secret.ParseKeyring("new:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32)) +
		",test:" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	for column, want := range map[secret.Column]int{secret.SharedUpstreamKeys: 2, secret.FormerUpstreamKeys: 1} {
		done, err := newer.Reseal(w.Ctx, w.Pool, column, func(int) {}, slog.New(slog.DiscardHandler))
		if err != nil || done.Sealed != want || done.Unopened+done.Left > 0 {
			t.Errorf("%s: %+v, %v", column, done, err)
		}
	}
	w.ring = newer
	if _, err := w.RestoreUpstreamKey(w.Ctx, admin, "u"); err != nil {
		t.Error(err)
	}
	if n := changes(); n != before {
		t.Errorf("%d changes are told, of capabilities that use none", n-before)
	}
}

func TestTheHealthOfAnUpstreamIsWhatLivingGatewaysReport(t *testing.T) {
	w := newWorld(t)
	p := newProvider(t, "sk-1")
	w.upstream("u", p, "sk-1")
	one, two := uuid.New(), uuid.New()
	for host, id := range map[string]uuid.UUID{"one": one, "two": two} {
		w.Exec(`INSERT INTO gateways (spool_id, host, role, version, started_at) VALUES ($1, $2, 'gateway', 'test', now())`, id, host)
	}
	report := func(id uuid.UUID, state string) {
		t.Helper()
		now := time.Now()
		r := UpstreamReport{State: state, Calls: 20, Failures: 10, Error: "connection refused", ErrorAt: &now}
		if state != "closed" {
			r.OpenedAt = &now
		}
		if err := w.ReportUpstreams(w.Ctx, id, map[string]UpstreamReport{"u": r, "deleted": r}); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(health string, gateways int) {
		t.Helper()
		u, err := w.Upstream(w.Ctx, "u")
		if err != nil || u.Health != health || len(u.Gateways) != gateways {
			t.Errorf("%+v, %v; want %s", u, err, health)
		}
	}
	expect(HealthUnknown, 0)
	report(one, "closed")
	expect(HealthOK, 1)
	report(two, "open")
	expect(HealthDegraded, 2)
	report(one, "open")
	expect(HealthDown, 2)
	report(two, "probing")
	expect(HealthDegraded, 2)
	w.Exec(`UPDATE gateways SET ended_at = now() WHERE spool_id = $1`, two)
	expect(HealthDown, 1)
	w.Exec(`UPDATE gateway_upstreams SET reported_at = now() - interval '1 minute'`)
	expect(HealthUnknown, 0)
	report(uuid.New(), "open") // of a gateway that never showed a sign of life
	expect(HealthUnknown, 0)
}
