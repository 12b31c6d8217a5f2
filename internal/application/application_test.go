package application

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/databasetest"
	"callgate/internal/fault"
	"callgate/internal/secret"
)

func TestCreatedApplicationHasTheFieldsGivenAndAWorkingKey(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, key, err := w.Create(w.Ctx, owner, Draft{Name: "  Orders \n", Description: "what it is for", CapabilityIDs: []string{"b", "a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	if a.Name != "Orders" || a.Description != "what it is for" || a.Status != Active ||
		!slices.Equal(a.CapabilityIDs, []string{"a", "b"}) || a.MaskedAccessKey != secret.Mask(key) {
		t.Fatalf("application %+v", a)
	}
	if a.ID.Version() != 7 || !pepper.WellFormed(key) || !a.CreatedAt.Equal(a.UpdatedAt) || time.Since(a.CreatedAt) > time.Minute {
		t.Fatalf("id %s, key %s, created %s, updated %s", a.ID, key, a.CreatedAt, a.UpdatedAt)
	}
	var lookup, sealed []byte
	err = w.Pool.QueryRow(w.Ctx, `SELECT lookup, sealed FROM access_keys WHERE application_id = $1`, a.ID).Scan(&lookup, &sealed)
	if want := pepper.Lookup(key); err != nil || !bytes.Equal(lookup, want[:]) || bytes.Contains(sealed, []byte(key)) {
		t.Fatalf("kept key: %v", err)
	}
	if got, err := w.Get(w.Ctx, owner, a.ID); err != nil || fmt.Sprint(got) != fmt.Sprint(a) {
		t.Fatalf("get %+v, %v; created %+v", got, err, a)
	}
	if n := w.Count(`SELECT count(*) FROM access_changes WHERE application_id = $1`, a.ID); n == 0 {
		t.Fatal("the change feed was not told")
	}
}

func TestEveryWrongFieldOfAnApplicationIsNamed(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	many := make([]string, maxBindings+1)
	for i := range many {
		many[i] = fmt.Sprint("c", i)
	}
	for name, c := range map[string]struct {
		draft Draft
		field string
	}{
		"no name":             {Draft{}, "name"},
		"blank name":          {Draft{Name: " \t "}, "name"},
		"name too long":       {Draft{Name: strings.Repeat("字", 65)}, "name"},
		"control in name":     {Draft{Name: "a\u0007b"}, "name"},
		"zero byte in name":   {Draft{Name: "a\x00b"}, "name"},
		"description long":    {Draft{Name: "a", Description: strings.Repeat("x", 1025)}, "description"},
		"control in text":     {Draft{Name: "a", Description: "a\x00"}, "description"},
		"too many":            {Draft{Name: "a", CapabilityIDs: many}, "capabilityIds"},
		"unknown capability":  {Draft{Name: "a", CapabilityIDs: []string{"a", "nope"}}, "capabilityIds"},
		"impossible id":       {Draft{Name: "a", CapabilityIDs: []string{"\x00"}}, "capabilityIds"},
		"empty id":            {Draft{Name: "a", CapabilityIDs: []string{""}}, "capabilityIds"},
		"endless id":          {Draft{Name: "a", CapabilityIDs: []string{strings.Repeat("é", 9999)}}, "capabilityIds"},
		"disabled capability": {Draft{Name: "a", CapabilityIDs: []string{"off"}}, "capabilityIds"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := w.Create(w.Ctx, owner, c.draft)
			databasetest.MustFail(t, err, fault.Invalid, c.field)
		})
	}
	if n := w.Count(`SELECT count(*) FROM applications`); n != 0 {
		t.Fatalf("%d applications were made", n)
	}
	a, _ := w.create(owner, strings.Repeat("字", 64))
	_, err := w.Update(w.Ctx, owner, a.ID, Patch{Name: new(""), Description: new("\x1b")})
	databasetest.MustFail(t, err, fault.Invalid, "name", "description")
	_, err = w.SetStatus(w.Ctx, owner, a.ID, "paused")
	databasetest.MustFail(t, err, fault.Invalid, "status")
}

func TestOmittedFieldsStayAndCapabilityIDsIsTheCompleteSet(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "first", "a", "b")
	got, err := w.Update(w.Ctx, owner, a.ID, Patch{Name: new(" second ")})
	if err != nil || got.Name != "second" || !slices.Equal(got.CapabilityIDs, []string{"a", "b"}) || !got.UpdatedAt.After(a.UpdatedAt) {
		t.Fatalf("renamed: %+v, %v", got, err)
	}
	got, err = w.Update(w.Ctx, owner, a.ID, Patch{CapabilityIDs: &[]string{"c", "b"}})
	if err != nil || got.Name != "second" || !slices.Equal(got.CapabilityIDs, []string{"b", "c"}) {
		t.Fatalf("bound: %+v, %v", got, err)
	}
	got, err = w.Update(w.Ctx, owner, a.ID, Patch{CapabilityIDs: &[]string{}})
	if err != nil || got.CapabilityIDs == nil || len(got.CapabilityIDs) != 0 {
		t.Fatalf("unbound: %+v, %v", got, err)
	}
	same, err := w.Update(w.Ctx, owner, a.ID, Patch{})
	if err != nil || !same.UpdatedAt.Equal(got.UpdatedAt) {
		t.Fatalf("nothing edited: %+v, %v", same, err)
	}
	_, err = w.Update(w.Ctx, owner, a.ID, Patch{Name: new("third"), CapabilityIDs: &[]string{"nope"}})
	databasetest.MustFail(t, err, fault.Invalid, "capabilityIds")
	if got, _ := w.Get(w.Ctx, owner, a.ID); got.Name != "second" {
		t.Fatalf("a refused edit was half done: %+v", got)
	}
}

func TestABoundCapabilityThatIsDisabledStaysAndCanBeKept(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "app", "a")
	w.Exec(`UPDATE capabilities SET status = 'disabled' WHERE id = 'a'`)
	got, err := w.Update(w.Ctx, owner, a.ID, Patch{CapabilityIDs: &[]string{"a", "b"}})
	if err != nil || !slices.Equal(got.CapabilityIDs, []string{"a", "b"}) {
		t.Fatalf("kept: %+v, %v", got, err)
	}
	if got, err = w.Bind(w.Ctx, owner, a.ID, "a"); err != nil || len(got.CapabilityIDs) != 2 {
		t.Fatalf("bound again: %+v, %v", got, err)
	}
	if _, err = w.Update(w.Ctx, owner, a.ID, Patch{CapabilityIDs: &[]string{"b"}}); err != nil {
		t.Fatal(err)
	}
	_, err = w.Bind(w.Ctx, owner, a.ID, "a")
	databasetest.MustFail(t, err, fault.Invalid, "capabilityId")
}

func TestBindingIsIdempotentAndUnknownCapabilitiesAreAbsent(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "app")
	first, err := w.Bind(w.Ctx, owner, a.ID, "a")
	if err != nil || !slices.Equal(first.CapabilityIDs, []string{"a"}) {
		t.Fatalf("bound: %+v, %v", first, err)
	}
	again, err := w.Bind(w.Ctx, owner, a.ID, "a")
	if err != nil || fmt.Sprint(again) != fmt.Sprint(first) {
		t.Fatalf("bound again: %+v, %v", again, err)
	}
	for _, id := range []string{"nope", "", "\x00", strings.Repeat("x", 65)} {
		_, err := w.Bind(w.Ctx, owner, a.ID, id)
		databasetest.MustFail(t, err, fault.NotFound)
		_, err = w.BoundTo(w.Ctx, owner, id)
		databasetest.MustFail(t, err, fault.NotFound)
	}
}

func TestBoundToShowsAllOwnApplicationsNewestFirst(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	first, _ := w.create(owner, "first", "a")
	second, _ := w.create(owner, "second", "b")
	w.create(w.user(), "foreign", "a")
	got, err := w.BoundTo(w.Ctx, owner, "a")
	want := []Binding{{second.ID, "second", false, Active}, {first.ID, "first", true, Active}}
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestAnotherUsersApplicationIsAbsentForEveryOperation(t *testing.T) {
	w := newWorld(t)
	owner, other := w.user(), w.user()
	a, key := w.create(owner, "mine", "a")
	w.more(owner, a.ID, "more")
	mine := w.keys(owner, a.ID)
	before := w.Count(`SELECT max(version) FROM applications`)
	for _, id := range []uuid.UUID{a.ID, uuid.New()} {
		operations := map[string]func() error{
			"get":    func() error { _, err := w.Get(w.Ctx, other, id); return err },
			"update": func() error { _, err := w.Update(w.Ctx, other, id, Patch{Name: new("x")}); return err },
			"status": func() error { _, err := w.SetStatus(w.Ctx, other, id, Disabled); return err },
			"bind":   func() error { _, err := w.Bind(w.Ctx, other, id, "b"); return err },
			"reveal": func() error { _, err := w.RevealKey(w.Ctx, other, id, "x@example.com"); return err },
			"rotate": func() error { _, err := w.RotateKey(w.Ctx, other, id, "x@example.com", 0); return err },
			"delete": func() error { return w.Delete(w.Ctx, other, id) },
			"keys":   func() error { _, err := w.Keys(w.Ctx, other, id); return err },
			"one more key": func() error {
				_, _, err := w.CreateKey(w.Ctx, other, id, "x@example.com", KeyEdit{Name: new("x")})
				return err
			},
			"edit a key": func() error {
				_, err := w.UpdateKey(w.Ctx, other, id, mine[0].ID, "x@example.com", KeyEdit{Name: new("x")})
				return err
			},
			"delete a key": func() error { return w.DeleteKey(w.Ctx, other, id, mine[1].ID, "x@example.com") },
			"reveal a key": func() error { _, err := w.RevealOneKey(w.Ctx, other, id, mine[1].ID, "x@example.com"); return err },
		}
		for name, operation := range operations {
			if err := operation(); err == nil || err.Error() != fault.Absent().Error() {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	if got, err := w.Get(w.Ctx, owner, a.ID); err != nil || fmt.Sprint(got) != fmt.Sprint(a) {
		t.Fatalf("changed by a stranger: %+v, %v", got, err)
	}
	if got, err := w.RevealKey(w.Ctx, owner, a.ID, "x@example.com"); err != nil || got != key {
		t.Fatalf("key changed by a stranger: %v", err)
	}
	if after := w.Count(`SELECT max(version) FROM applications`); after != before {
		t.Fatal("a stranger raised the version")
	}
	if list, total, err := w.List(w.Ctx, other, 1, 10); err != nil || total != 0 || len(list) != 0 {
		t.Fatalf("a stranger lists %v, %d, %v", list, total, err)
	}
	if all, err := w.All(w.Ctx, other); err != nil || len(all) != 0 {
		t.Fatalf("a stranger has %v, %v", all, err)
	}
}

func TestListsAreNewestFirstAndPagesPastTheEndAreEmpty(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	var made []uuid.UUID
	for i := range 5 {
		a, _ := w.create(owner, fmt.Sprint("app ", i), "a")
		made = append(made, a.ID)
	}
	slices.Reverse(made)
	var listed []uuid.UUID
	for page := 1; page <= 3; page++ {
		list, total, err := w.List(w.Ctx, owner, page, 2)
		if err != nil || total != 5 {
			t.Fatalf("page %d: total %d, %v", page, total, err)
		}
		for _, a := range list {
			listed = append(listed, a.ID)
			if !slices.Equal(a.CapabilityIDs, []string{"a"}) || !strings.Contains(a.MaskedAccessKey, "…") {
				t.Fatalf("listed %+v", a)
			}
		}
	}
	if !slices.Equal(listed, made) {
		t.Fatalf("listed %v, made %v", listed, made)
	}
	for _, page := range []int{4, 1<<31 - 1} {
		if list, total, err := w.List(w.Ctx, owner, page, 100); err != nil || len(list) != 0 || total != 5 {
			t.Fatalf("page %d: %v, %d, %v", page, list, total, err)
		}
	}
	all, err := w.All(w.Ctx, owner)
	if err != nil || len(all) != 5 || all[0].ID != made[0] || all[4].ID != made[4] || all[0].Name != "app 4" {
		t.Fatalf("all: %+v, %v", all, err)
	}
}
