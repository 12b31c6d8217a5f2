package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"callgate/internal/audit"
	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

// told is what groups are, without the time of their last edit.
func told(groups []Group) string {
	var all []string
	for _, g := range groups {
		all = append(all, fmt.Sprint(g.ID, " ", g.Name, " ", g.SortOrder))
	}
	return strings.Join(all, ", ")
}

func TestGroupsAreCreatedEditedAndListedInOrder(t *testing.T) {
	w := newWorld(t)
	w.group("b", 1)
	w.group("a", 2)
	made, err := w.CreateGroup(w.Ctx, admin, GroupSettings{Name: new(" No id ")})
	if err != nil || made.Name != "No id" || made.SortOrder != 0 || !identifier.MatchString(made.ID) {
		t.Fatalf("created %+v, %v", made, err)
	}
	groups, err := w.Groups(w.Ctx)
	if err != nil || groups[0] != made || told(groups) != made.ID+" No id 0, b Group b 1, a Group a 2" {
		t.Fatalf("groups %+v, %v", groups, err)
	}
	g, err := w.UpdateGroup(w.Ctx, admin, "a", GroupSettings{Name: new("Renamed")})
	if err != nil || told([]Group{g}) != "a Renamed 2" {
		t.Fatalf("renamed %+v, %v", g, err)
	}
	if got, err := w.Group(w.Ctx, "a"); err != nil || got != g {
		t.Fatalf("kept %+v, %v", got, err)
	}
	entry, total := w.lastEntry()
	if entry.Action != "group.update" || !slices.Equal(entry.Changes, audit.Changes{{Field: "name", From: "Group a", To: "Renamed"}}) {
		t.Fatalf("recorded %+v", entry)
	}
	if _, err := w.UpdateGroup(w.Ctx, admin, "a", GroupSettings{ID: new("a"), Name: new("Renamed")}); err != nil {
		t.Fatal(err)
	}
	if _, now := w.lastEntry(); now != total {
		t.Fatal("an edit that changed nothing was recorded")
	}
}

func TestEveryWrongFieldOfAGroupIsNamed(t *testing.T) {
	w := newWorld(t)
	w.group("a", 0)
	_, err := w.CreateGroup(w.Ctx, admin, GroupSettings{})
	databasetest.MustFail(t, err, fault.Invalid, "name")
	_, err = w.CreateGroup(w.Ctx, admin, GroupSettings{ID: new("a b"), Name: new("\x00"), SortOrder: new(int64(1 << 40))})
	databasetest.MustFail(t, err, fault.Invalid, "id", "name", "sortOrder")
	_, err = w.CreateGroup(w.Ctx, admin, GroupSettings{ID: new("a"), Name: new("again")})
	databasetest.MustFail(t, err, fault.Conflict)
	_, err = w.UpdateGroup(w.Ctx, admin, "a", GroupSettings{ID: new("b")})
	databasetest.MustFail(t, err, fault.Invalid, "id")
}

func TestAnOrderIsSetForAllNamedInOneStep(t *testing.T) {
	w := newWorld(t)
	for i, id := range []string{"a", "b", "c"} {
		w.group(id, int64(i))
		w.capability(id, "a", int64(i))
	}
	w.capability("elsewhere", "b", 0)
	groups, err := w.OrderGroups(w.Ctx, admin, []string{"c", "a", "b"})
	if err != nil || told(groups) != "c Group c 1, a Group a 2, b Group b 3" {
		t.Fatalf("groups %+v, %v", groups, err)
	}
	entry, total := w.lastEntry()
	if fmt.Sprint(entry.Changes) != "[{order [a b c] [c a b]}]" {
		t.Fatalf("recorded %+v", entry)
	}
	if _, err := w.OrderGroups(w.Ctx, admin, []string{"c", "a", "b"}); err != nil {
		t.Fatal(err)
	}
	if _, now := w.lastEntry(); now != total {
		t.Fatal("the same order was recorded again")
	}
	ordered, err := w.Order(w.Ctx, admin, "a", []string{"c", "b", "a"})
	var ids []string
	for _, d := range ordered {
		ids = append(ids, fmt.Sprint(d.ID, d.SortOrder))
	}
	if err != nil || !slices.Equal(ids, []string{"c1", "b2", "a3"}) {
		t.Fatalf("ordered %v, %v", ids, err)
	}
	for _, wrong := range [][]string{nil, {"a", "a"}, {"a", "nope"}, {"a", "elsewhere"}, {"\x00"}} {
		_, err := w.Order(w.Ctx, admin, "a", wrong)
		databasetest.MustFail(t, err, fault.Invalid, "ids")
	}
	for _, wrong := range [][]string{nil, {"a", "a"}, {"a", "nope"}, {"\x00"}} {
		_, err := w.OrderGroups(w.Ctx, admin, wrong)
		databasetest.MustFail(t, err, fault.Invalid, "ids")
	}
	_, err = w.Order(w.Ctx, admin, "nope", []string{"a"})
	databasetest.MustFail(t, err, fault.Invalid, "groupId")
}

func TestConcurrentOrdersEndAsOneOfThem(t *testing.T) {
	w := newWorld(t)
	w.group("g", 0)
	for _, id := range []string{"a", "b", "c", "d"} {
		w.capability(id, "g", 0)
	}
	orders := [][]string{{"a", "b", "c", "d"}, {"d", "c", "b", "a"}, {"b", "d", "a", "c"}}
	var edits errgroup.Group
	for i := range 60 {
		edits.Go(func() error {
			_, err := w.Order(w.Ctx, admin, "g", orders[i%3])
			return err
		})
	}
	if err := edits.Wait(); err != nil {
		t.Fatal(err)
	}
	available, err := w.Available(w.Ctx)
	var ids []string
	for _, c := range available {
		ids = append(ids, c.ID)
	}
	if err != nil || !slices.ContainsFunc(orders, func(o []string) bool { return slices.Equal(o, ids) }) {
		t.Fatalf("order %v, %v", ids, err)
	}
}
