package catalog

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"callgate/internal/audit"
	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

func TestCreatedCapabilityHasTheFieldsGivenAndASealedKey(t *testing.T) {
	w := newWorld(t)
	w.group("g", 0)
	full := Settings{ID: new("gpt-4o:2024.1_x"), Name: new(" GPT "), GroupID: new("g"), Description: new("chat"),
		SortOrder: new(int64(-3)), Status: new(Disabled), UpstreamBaseURL: new("https://API.example.com/v1/"),
		UpstreamAuth: new("x-api-key"), UpstreamKey: new("sk-canary"), UpstreamModel: new("gpt-4o"),
		DefaultPath: new("/v1/chat/completions"), AllowedMethods: &[]string{"QUERY", "POST", "QUERY"},
		AllowedPaths: &[]string{" /v1/chat", "/v1/models", "/v1/chat"}}
	d, err := w.Create(w.Ctx, admin, full)
	want := Details{
		Capability: Capability{ID: "gpt-4o:2024.1_x", Name: "GPT", GroupID: "g", Description: "chat", SortOrder: -3, Status: Disabled,
			UpstreamModel: "gpt-4o", DefaultPath: "/v1/chat/completions"},
		UpstreamBaseURL: "https://api.example.com/v1", UpstreamAuth: "x-api-key", HasUpstreamKey: true, UpdatedAt: d.UpdatedAt,
		AllowedMethods: []string{"POST", "QUERY"}, AllowedPaths: []string{"/v1/chat", "/v1/models"}, Upstreams: []Member{},
	}
	if err != nil || !reflect.DeepEqual(d, want) || d.UpdatedAt.IsZero() {
		t.Fatalf("created %+v, %v", d, err)
	}
	if got, err := w.Details(w.Ctx, d.ID); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("kept %+v, %v", got, err)
	}
	if got, err := w.Capability(w.Ctx, d.ID); err != nil || got != want.Capability {
		t.Fatalf("developers see %+v, %v", got, err)
	}
	if key := w.storedKey(d.ID); key != "sk-canary" {
		t.Fatalf("kept key %q", key)
	}
	if n := w.Count(`SELECT count(*) FROM capabilities c WHERE position('sk-canary'::bytea IN c.upstream_key) > 0`); n != 0 {
		t.Fatal("the key is kept in the clear")
	}
	entry, _ := w.lastEntry()
	if entry.Action != "capability.create" || entry.Actor != admin || entry.TargetID != d.ID || entry.TargetName != "GPT" ||
		!slices.Contains(entry.Changes, audit.Change{Field: "upstreamKey", To: audit.Secret}) {
		t.Fatalf("recorded %+v", entry)
	}
	_, err = w.Create(w.Ctx, admin, full)
	databasetest.MustFail(t, err, fault.Conflict)
}

func TestANewCapabilityNeedsItsFiveFieldsAndHasDefaults(t *testing.T) {
	w := newWorld(t)
	_, err := w.Create(w.Ctx, admin, Settings{})
	databasetest.MustFail(t, err, fault.Invalid, "id", "name", "groupId", "upstreamBaseUrl", "upstreamKey")
	_, err = w.Create(w.Ctx, admin, Settings{ID: new(""), Name: new(" "), GroupID: new(""), UpstreamBaseURL: new(""), UpstreamKey: new("")})
	databasetest.MustFail(t, err, fault.Invalid, "id", "name", "groupId", "upstreamBaseUrl", "upstreamKey")
	least := Settings{ID: new("a"), Name: new("a"), GroupID: new("g"), UpstreamBaseURL: new("http://127.0.0.1:9"), UpstreamKey: new("k")}
	_, err = w.Create(w.Ctx, admin, least)
	databasetest.MustFail(t, err, fault.Invalid, "groupId")
	w.group("g", 0)
	d, err := w.Create(w.Ctx, admin, least)
	if err != nil || d.Status != Enabled || d.UpstreamAuth != "bearer" || d.SortOrder != 0 {
		t.Fatalf("created %+v, %v", d, err)
	}
}

func TestEveryWrongSettingIsNamed(t *testing.T) {
	w := newWorld(t)
	w.group("g", 0)
	w.capability("a", "g", 0)
	many := slices.Repeat([]string{"/v1"}, 51)
	for _, c := range []struct {
		settings Settings
		field    string
	}{
		{Settings{ID: new("b")}, "id"},
		{Settings{Name: new("")}, "name"},
		{Settings{Name: new(strings.Repeat("字", 65))}, "name"},
		{Settings{Description: new(strings.Repeat("字", 1025))}, "description"},
		{Settings{Description: new("a\x00")}, "description"},
		{Settings{GroupID: new("nope")}, "groupId"},
		{Settings{GroupID: new("\x00")}, "groupId"},
		{Settings{SortOrder: new(int64(1 << 31))}, "sortOrder"},
		{Settings{SortOrder: new(int64(-1<<31 - 1))}, "sortOrder"},
		{Settings{Status: new("active")}, "status"},
		{Settings{UpstreamAuth: new("basic")}, "upstreamAuth"},
		{Settings{UpstreamBaseURL: new("")}, "upstreamBaseUrl"},
		{Settings{UpstreamBaseURL: new("ftp://example.com")}, "upstreamBaseUrl"},
		{Settings{UpstreamBaseURL: new("https://user:pass@example.com")}, "upstreamBaseUrl"},
		{Settings{UpstreamKey: new("a\r\nX-Evil: 1")}, "upstreamKey"},
		{Settings{UpstreamKey: new("clé")}, "upstreamKey"},
		{Settings{UpstreamKey: new(" ")}, "upstreamKey"},
		{Settings{UpstreamKey: new(strings.Repeat("k", 4097))}, "upstreamKey"},
		{Settings{UpstreamModel: new("a\nb")}, "upstreamModel"},
		{Settings{UpstreamModel: new(strings.Repeat("m", 257))}, "upstreamModel"},
		{Settings{AllowedMethods: &[]string{"TRACE"}}, "allowedMethods"},
		{Settings{AllowedMethods: &[]string{"post"}}, "allowedMethods"},
		{Settings{AllowedPaths: &[]string{""}}, "allowedPaths"},
		{Settings{AllowedPaths: &[]string{"/v1", "v1"}}, "allowedPaths"},
		{Settings{AllowedPaths: &[]string{"/v1/%2e%2e"}}, "allowedPaths"},
		{Settings{AllowedPaths: &many}, "allowedPaths"},
		{Settings{DefaultPath: new("v1/chat")}, "defaultPath"},
		{Settings{DefaultPath: new("/v1/../admin")}, "defaultPath"},
		{Settings{DefaultPath: new("/v1/%2e%2E/admin")}, "defaultPath"},
		{Settings{DefaultPath: new("/v1%2f..%2fadmin")}, "defaultPath"},
		{Settings{DefaultPath: new(`/v1\admin`)}, "defaultPath"},
		{Settings{DefaultPath: new("/v1%5cadmin/%5c")}, "defaultPath"},
		{Settings{DefaultPath: new("/v1?model=x")}, "defaultPath"},
		{Settings{DefaultPath: new("/v1 x")}, "defaultPath"},
		{Settings{DefaultPath: new("/v1/%zz")}, "defaultPath"},
		{Settings{DefaultPath: new("/" + strings.Repeat("p", 512))}, "defaultPath"},
	} {
		_, err := w.Update(w.Ctx, admin, "a", c.settings)
		databasetest.MustFail(t, err, fault.Invalid, c.field)
	}
	if _, total := w.lastEntry(); total != 2 {
		t.Fatalf("%d audit entries, want the two creations", total)
	}
	longest := Settings{UpstreamKey: new(strings.Repeat("k", 4096)), SortOrder: new(int64(1<<31 - 1)), DefaultPath: new("")}
	if d, err := w.Update(w.Ctx, admin, "a", longest); err != nil || d.SortOrder != 1<<31-1 {
		t.Fatalf("%+v, %v", d, err)
	}
}

func TestPrivateUpstreamsAreRefusedUnlessAllowed(t *testing.T) {
	w := newWorld(t)
	w.group("g", 0)
	strict := New(w.Pool, w.Ring, false)
	for _, private := range []string{"http://127.0.0.1:80", "http://169.254.169.254", "http://[::ffff:10.0.0.1]/", "http://localhost/v1"} {
		settings := Settings{ID: new("a"), Name: new("a"), GroupID: new("g"), UpstreamBaseURL: &private, UpstreamKey: new("k")}
		_, err := strict.Create(w.Ctx, admin, settings)
		databasetest.MustFail(t, err, fault.Invalid, "upstreamBaseUrl")
	}
}

func TestOmittedFieldsStayAndAnEmptyKeyKeepsTheStoredOne(t *testing.T) {
	w := newWorld(t)
	w.group("g", 0)
	before := w.capability("a", "g", 7)
	_, entries := w.lastEntry()
	for _, nothing := range []Settings{{}, {UpstreamKey: new("")}, {ID: new("a"), Name: new(before.Name)}} {
		if d, err := w.Update(w.Ctx, admin, "a", nothing); err != nil || !reflect.DeepEqual(d, before) {
			t.Fatalf("changed to %+v, %v", d, err)
		}
	}
	if _, now := w.lastEntry(); now != entries {
		t.Fatal("an edit that changed nothing was recorded")
	}
	d, err := w.Update(w.Ctx, admin, "a", Settings{Name: new("New"), UpstreamKey: new("")})
	if err != nil || d.Name != "New" || d.SortOrder != 7 || w.storedKey("a") != "sk-canary-a" {
		t.Fatalf("renamed %+v, %v", d, err)
	}
	entry, _ := w.lastEntry()
	if entry.Action != "capability.update" || !slices.Equal(entry.Changes, audit.Changes{{Field: "name", From: before.Name, To: "New"}}) {
		t.Fatalf("recorded %+v", entry)
	}
	if _, err = w.Update(w.Ctx, admin, "a", Settings{UpstreamKey: new("sk-canary-new")}); err != nil || w.storedKey("a") != "sk-canary-new" {
		t.Fatalf("key %q, %v", w.storedKey("a"), err)
	}
	entry, _ = w.lastEntry()
	if !slices.Equal(entry.Changes, audit.Changes{{Field: "upstreamKey", To: audit.Secret}}) {
		t.Fatalf("recorded %+v", entry)
	}
	if n := w.Count(`SELECT count(*) FROM audit_log WHERE audit_log::text LIKE '%canary%'`); n != 0 {
		t.Fatal("the audit log shows a key")
	}
	if n := w.Count(`SELECT count(*) FROM access_changes WHERE capability_id = 'a'`); n != 3 {
		t.Fatalf("%d changes were told, want creation, name and key", n)
	}
}

func TestDisabledCapabilityLeavesTheAvailableListAndKeepsItsBindings(t *testing.T) {
	w := newWorld(t)
	w.group("g", 0)
	w.capability("a", "g", 0)
	w.capability("b", "g", 0)
	w.Exec(`INSERT INTO users (id, email) VALUES ('00000000-0000-0000-0000-000000000001', 'u@example.com')`)
	w.Exec(`INSERT INTO applications (id, owner_id, name) VALUES ('00000000-0000-0000-0000-000000000002', '00000000-0000-0000-0000-000000000001', 'app')`)
	w.Exec(`INSERT INTO application_capabilities (application_id, capability_id) VALUES ('00000000-0000-0000-0000-000000000002', 'a')`)
	d, err := w.SetStatus(w.Ctx, admin, "a", Disabled)
	if err != nil || d.Status != Disabled || d.BoundApplicationCount != 1 {
		t.Fatalf("disabled %+v, %v", d, err)
	}
	available, err := w.Available(w.Ctx)
	if err != nil || len(available) != 1 || available[0].ID != "b" {
		t.Fatalf("available %+v, %v", available, err)
	}
	if c, err := w.Capability(w.Ctx, "a"); err != nil || c.Status != Disabled {
		t.Fatalf("shown %+v, %v", c, err)
	}
	_, entries := w.lastEntry()
	if _, err := w.SetStatus(w.Ctx, admin, "a", Disabled); err != nil {
		t.Fatal(err)
	}
	if _, now := w.lastEntry(); now != entries {
		t.Fatal("setting the same state was recorded")
	}
	_, err = w.SetStatus(w.Ctx, admin, "a", "gone")
	databasetest.MustFail(t, err, fault.Invalid, "status")
	if d, err := w.SetStatus(w.Ctx, admin, "a", Enabled); err != nil || d.Status != Enabled {
		t.Fatalf("enabled %+v, %v", d, err)
	}
}

func TestUnknownAndMalformedIdentifiersAreAbsent(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"nope", "", "\x00", "-a", "a b", "字", strings.Repeat("x", 65), "a\n"} {
		for name, operation := range map[string]func() error{
			"capability": func() error { _, err := w.Capability(w.Ctx, id); return err },
			"details":    func() error { _, err := w.Details(w.Ctx, id); return err },
			"update":     func() error { _, err := w.Update(w.Ctx, admin, id, Settings{}); return err },
			"status":     func() error { _, err := w.SetStatus(w.Ctx, admin, id, Enabled); return err },
			"group":      func() error { _, err := w.Group(w.Ctx, id); return err },
			"regroup":    func() error { _, err := w.UpdateGroup(w.Ctx, admin, id, GroupSettings{}); return err },
		} {
			if err := operation(); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s %q: %v", name, id, err)
			}
		}
	}
}

func TestDevelopersNeverSeeAnAddressOrKey(t *testing.T) {
	w := newWorld(t)
	w.group("g", 0)
	w.capability("a", "g", 0)
	available, err := w.Available(w.Ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := []Capability{{ID: "a", Name: "Name of a", GroupID: "g", Status: Enabled}} // and has no field for more
	if !slices.Equal(available, want) {
		t.Fatalf("developers see %+v", available)
	}
}

func TestSearchNarrowsByGroupStatusAndText(t *testing.T) {
	w := newWorld(t)
	w.group("late", 2)
	w.group("early", 1)
	for i, id := range []string{"Alpha", "beta", "gamma_1", "gammaX1"} {
		w.capability(id, []string{"late", "early"}[i%2], int64(10-i))
	}
	if _, err := w.SetStatus(w.Ctx, admin, "beta", Disabled); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		filter Filter
		want   string
		total  int
	}{
		{Filter{}, "gammaX1 beta gamma_1 Alpha", 4},
		{Filter{GroupID: "late"}, "gamma_1 Alpha", 2},
		{Filter{GroupID: "nope"}, "", 0},
		{Filter{Status: Disabled}, "beta", 1},
		{Filter{Text: "ALPHA"}, "Alpha", 1},
		{Filter{Text: "name of g"}, "gammaX1 gamma_1", 2},
		{Filter{Text: "gamma_1"}, "gamma_1", 1},
		{Filter{Text: "%"}, "", 0},
		{Filter{GroupID: "early", Status: Enabled, Text: "1"}, "gammaX1", 1},
		{Filter{Page: 2, Size: 3}, "Alpha", 4},
		{Filter{Page: 1<<31 - 1, Size: 100}, "", 4},
	} {
		if c.filter.Page == 0 {
			c.filter.Page, c.filter.Size = 1, 10
		}
		found, total, err := w.Search(w.Ctx, c.filter)
		var ids []string
		for _, d := range found {
			ids = append(ids, d.ID)
		}
		if got := strings.Join(ids, " "); err != nil || got != c.want || total != c.total {
			t.Errorf("%+v: %q, %d, %v", c.filter, got, total, err)
		}
	}
	_, _, err := w.Search(w.Ctx, Filter{Text: "\x00", GroupID: "\x00", Status: "x", Page: 1, Size: 1})
	databasetest.MustFail(t, err, fault.Invalid, "q", "groupId", "status")
	if names, err := w.Names(w.Ctx); err != nil || len(names) != 4 || names["beta"] != "Name of beta" {
		t.Fatalf("names %v, %v", names, err)
	}
}

func TestConcurrentEditsOfOneCapabilityLoseNoField(t *testing.T) {
	w := newWorld(t)
	w.group("g", 0)
	w.capability("a", "g", 0)
	var edits errgroup.Group
	for i := range 50 {
		edits.Go(func() error {
			settings := Settings{Description: new(fmt.Sprint("d", i))}
			switch i % 3 {
			case 1:
				settings = Settings{UpstreamModel: new(fmt.Sprint("m", i))}
			case 2:
				settings = Settings{UpstreamKey: new(fmt.Sprint("k", i))}
			}
			_, err := w.Update(w.Ctx, admin, "a", settings)
			return err
		})
	}
	if err := edits.Wait(); err != nil {
		t.Fatal(err)
	}
	d, err := w.Details(w.Ctx, "a")
	if err != nil || d.Description == "" || d.UpstreamModel == "" || !strings.HasPrefix(w.storedKey("a"), "k") {
		t.Fatalf("after the edits: %+v, %v", d, err)
	}
}
