package application

import (
	"reflect"
	"slices"
	"sync"
	"testing"

	"callgate/internal/audit"
	"callgate/internal/fault"
)

func TestEveryChangeOfAnApplicationIsInTheTrail(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "app", "a")
	must := func(_ Application, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.Update(w.Ctx, owner, a.ID, Patch{Name: new("App"), Description: new("What for")}))
	must(w.Update(w.Ctx, owner, a.ID, Patch{CapabilityIDs: &[]string{"b", "c"}}))
	must(w.Update(w.Ctx, owner, a.ID, Patch{Name: new("App")}))
	must(w.Bind(w.Ctx, owner, a.ID, "a"))
	must(w.Bind(w.Ctx, owner, a.ID, "a"))
	must(w.SetStatus(w.Ctx, owner, a.ID, Disabled))
	must(w.SetStatus(w.Ctx, owner, a.ID, Disabled))
	if err := w.Delete(w.Ctx, owner, a.ID); err != nil {
		t.Fatal(err)
	}
	type change = audit.Change
	ids := func(of ...any) any { return of }
	want := []audit.Entry{
		{Action: "application.create", TargetName: "app", Changes: audit.Changes{{Field: "name", To: "app"}, {Field: "status", To: "active"}, {Field: "capabilityIds", To: ids("a")}}},
		{Action: "application.update", TargetName: "App", Changes: audit.Changes{{Field: "name", From: "app", To: "App"}, {Field: "description", From: "", To: "What for"}}},
		{Action: "application.update", TargetName: "App", Changes: audit.Changes{{Field: "capabilityIds", From: ids("a"), To: ids("b", "c")}}},
		{Action: "application.bind", TargetName: "App", Changes: audit.Changes{{Field: "capabilityIds", From: ids("b", "c"), To: ids("a", "b", "c")}}},
		{Action: "application.set_status", TargetName: "App", Changes: audit.Changes{change{Field: "status", From: "active", To: "disabled"}}},
		{Action: "application.delete", TargetName: "App", Changes: audit.Changes{}},
	}
	rows, _, err := audit.List(w.Ctx, w.Pool, audit.Filter{}, 1, 100)
	if err != nil || len(rows) != len(want) {
		t.Fatalf("%d entries, want %d: %v", len(rows), len(want), err)
	}
	slices.Reverse(rows)
	for i, row := range rows {
		want[i].Actor, want[i].TargetType, want[i].TargetID = owner.String()+"@example.com", "application", a.ID.String()
		if !reflect.DeepEqual(row.Entry, want[i]) {
			t.Errorf("recorded %+v, want %+v", row.Entry, want[i])
		}
	}
	if _, err := w.Update(w.Ctx, owner, a.ID, Patch{Name: new("x")}); fault.KindOf(err) != fault.NotFound {
		t.Fatal(err)
	}
}

func TestAnAccountHasAtMostItsNumberOfApplicationsHoweverManyAreMadeAtOnce(t *testing.T) {
	w := newWorld(t)
	w.MaxPerOwner = 5
	owner := w.user()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, _, err := w.Create(w.Ctx, owner, Draft{Name: "app"}); err != nil && fault.KindOf(err) != fault.Conflict {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := w.Count(`SELECT count(*) FROM applications`); n != 5 {
		t.Fatalf("%d applications", n)
	}
	w.create(w.user(), "another's")
}
