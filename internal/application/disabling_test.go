package application

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/audit"
	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

const root = "root@example.com"

// judged does what an administrator wants, which must succeed.
func (w *world) judged(id uuid.UUID, status, reason string) Entry {
	w.T.Helper()
	e, err := w.Judge(w.Ctx, root, id, Judgement{Status: status, Reason: reason})
	if err != nil {
		w.T.Fatal(err)
	}
	return e
}

// set is what its owner wants, which must succeed.
func (w *world) set(owner, id uuid.UUID, status string) Application {
	w.T.Helper()
	a, err := w.SetStatus(w.Ctx, owner, id, status)
	if err != nil {
		w.T.Fatal(err)
	}
	return a
}

func TestWhatAnAdministratorDisablesItsOwnerCannotEnable(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "app", "a")
	version := w.Count(`SELECT version FROM applications WHERE id = $1`, a.ID)
	e := w.judged(a.ID, Disabled, "  it calls without end ")
	if e.Status != Disabled || e.OwnerStatus != Active || e.Disabling == nil || e.Disabling.Reason != "it calls without end" || e.Disabling.By != root ||
		time.Since(e.Disabling.At) > time.Minute || e.Email != owner.String()+"@example.com" || e.Capabilities != 1 {
		t.Fatalf("%+v", e)
	}
	if w.Count(`SELECT version FROM applications WHERE id = $1`, a.ID) <= version {
		t.Fatal("no gateway is told")
	}
	_, err := w.SetStatus(w.Ctx, owner, a.ID, Active)
	databasetest.MustFail(t, err, fault.Conflict)
	if !strings.Contains(err.Error(), "it calls without end") {
		t.Error(err)
	}

	// Whatever else its owner does to it leaves it disabled.
	for what, do := range map[string]func() error{
		"an edit": func() error {
			_, err := w.Update(w.Ctx, owner, a.ID, Patch{Name: new("Other"), CapabilityIDs: &[]string{"b"}})
			return err
		},
		"a binding": func() error { _, err := w.Bind(w.Ctx, owner, a.ID, "c"); return err },
		"a new key": func() error {
			_, _, err := w.CreateKey(w.Ctx, owner, a.ID, "x", KeyEdit{Name: new("more")})
			return err
		},
		"a rotation":   func() error { _, err := w.RotateKey(w.Ctx, owner, a.ID, "x", 0); return err },
		"its own word": func() error { _, err := w.SetStatus(w.Ctx, owner, a.ID, Disabled); return err },
	} {
		if err := do(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if got, err := w.Get(w.Ctx, owner, a.ID); err != nil || got.Status != Disabled || got.Disabling == nil || !got.Disabling.At.Equal(e.Disabling.At) {
			t.Errorf("after %s: %+v, %v", what, got, err)
		}
	}
}

func TestAnApplicationThatBothHaveDisabledNeedsBoth(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	for _, ownerFirst := range []bool{true, false} {
		a, _ := w.create(owner, "app")
		if ownerFirst {
			w.set(owner, a.ID, Disabled)
			w.judged(a.ID, Disabled, "why")
		} else {
			w.judged(a.ID, Disabled, "why")
			w.set(owner, a.ID, Disabled)
		}
		if _, err := w.SetStatus(w.Ctx, owner, a.ID, Active); fault.KindOf(err) != fault.Conflict {
			t.Errorf("its owner first: %v", err)
		}
		if e := w.judged(a.ID, Active, ""); e.Status != Disabled || e.OwnerStatus != Disabled || e.Disabling != nil {
			t.Errorf("after the administrator: %+v", e)
		}
		if e := w.judged(a.ID, Active, ""); e.Status != Disabled {
			t.Errorf("an administrator enabled what its owner has disabled: %+v", e)
		}
		if got := w.set(owner, a.ID, Active); got.Status != Active || got.Disabling != nil {
			t.Errorf("after both: %+v", got)
		}
	}
	a, _ := w.create(owner, "app")
	w.judged(a.ID, Disabled, "why")
	if e := w.judged(a.ID, Active, ""); e.Status != Active {
		t.Errorf("its owner never disabled it: %+v", e)
	}
}

// A process of the version before knows one status.
func TestAnOlderProcessEnablesNothingThatAnAdministratorHasDisabled(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "app")
	w.set(owner, a.ID, Disabled)
	w.judged(a.ID, Disabled, "why")
	w.Exec(`UPDATE applications SET status = $2, updated_at = clock_timestamp() WHERE id = $1`, a.ID, Active)
	if got, err := w.Get(w.Ctx, owner, a.ID); err != nil || got.Status != Disabled || got.OwnerStatus != Active {
		t.Fatalf("%+v, %v", got, err)
	}
	if e := w.judged(a.ID, Active, ""); e.Status != Active {
		t.Fatalf("%+v", e)
	}
}

func TestJudgementsAreInTheTrailOnceEach(t *testing.T) {
	w := newWorld(t)
	a, _ := w.create(w.user(), "app")
	first := w.judged(a.ID, Disabled, "one")
	again := w.judged(a.ID, Disabled, "one")
	if !reflect.DeepEqual(first, again) {
		t.Errorf("%+v, %+v", first, again)
	}
	if other := w.judged(a.ID, Disabled, "two"); !other.Disabling.At.Equal(first.Disabling.At) || other.Disabling.Reason != "two" {
		t.Errorf("%+v", other)
	}
	w.judged(a.ID, Active, "ignored")
	w.judged(a.ID, Active, "")
	rows, total, err := audit.List(w.Ctx, w.Pool, audit.Filter{Actor: root}, 1, 100)
	if err != nil || total != 3 {
		t.Fatalf("%d, %v", total, err)
	}
	for i, want := range []audit.Changes{
		{{Field: "status", From: Disabled, To: Active}, {Field: "administratorReason", From: "two"}},
		{{Field: "administratorReason", From: "one", To: "two"}},
		{{Field: "status", From: Active, To: Disabled}, {Field: "administratorReason", To: "one"}},
	} {
		if !reflect.DeepEqual(rows[i].Changes, want) || rows[i].Action != "application.set_status" || rows[i].TargetID != a.ID.String() || rows[i].TargetName != "app" {
			t.Errorf("%+v, want %+v", rows[i].Entry, want)
		}
	}
}

func TestAJudgementThatCannotBeMeantIsRefused(t *testing.T) {
	w := newWorld(t)
	a, _ := w.create(w.user(), "app")
	for _, reason := range []string{"", " \u3164", "a\nb", strings.Repeat("长", 501)} {
		_, err := w.Judge(w.Ctx, root, a.ID, Judgement{Status: Disabled, Reason: reason})
		databasetest.MustFail(t, err, fault.Invalid, "reason")
	}
	for _, status := range []string{"", "paused"} {
		_, err := w.Judge(w.Ctx, root, a.ID, Judgement{Status: status, Reason: "why"})
		databasetest.MustFail(t, err, fault.Invalid, "status")
	}
	w.judged(a.ID, Disabled, strings.Repeat("长", 500))
	_, err := w.Judge(w.Ctx, root, uuid.New(), Judgement{Status: Disabled, Reason: "why"})
	databasetest.MustFail(t, err, fault.NotFound)
	e, err := w.Judge(w.Ctx, root, a.ID, Judgement{Status: Active, Reason: ""}, a.UpdatedAt)
	if fault.KindOf(err) != fault.Changed || e.ID != a.ID || e.Status != Disabled {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestTheDirectoryListsEverybodysApplicationsByFilterAndOrder(t *testing.T) {
	w := newWorld(t)
	one, two := w.user(), w.user()
	first, _ := w.create(one, "Beta", "a", "b")
	second, _ := w.create(two, "alpha")
	third, _ := w.create(one, "100%_sure")
	w.judged(second.ID, Disabled, "why")
	w.set(one, third.ID, Disabled)
	byOwner := []uuid.UUID{second.ID, third.ID, first.ID}
	if one.String() < two.String() {
		byOwner = []uuid.UUID{third.ID, first.ID, second.ID}
	}
	for _, c := range []struct {
		filter DirectoryFilter
		want   []uuid.UUID
	}{
		{DirectoryFilter{}, []uuid.UUID{third.ID, second.ID, first.ID}},
		{DirectoryFilter{Order: ByName}, []uuid.UUID{third.ID, second.ID, first.ID}},
		{DirectoryFilter{Order: ByOwner}, byOwner},
		{DirectoryFilter{Text: " BETA "}, []uuid.UUID{first.ID}},
		{DirectoryFilter{Text: "%_"}, []uuid.UUID{third.ID}},
		{DirectoryFilter{Text: two.String()}, []uuid.UUID{second.ID}},
		{DirectoryFilter{Text: first.ID.String()}, []uuid.UUID{first.ID}},
		{DirectoryFilter{Status: Active}, []uuid.UUID{first.ID}},
		{DirectoryFilter{Status: Disabled}, []uuid.UUID{third.ID, second.ID}},
		{DirectoryFilter{Status: DisabledByAdministrator}, []uuid.UUID{second.ID}},
		{DirectoryFilter{Text: "nobody"}, nil},
	} {
		c.filter.Page, c.filter.Size = 1, 10
		list, total, err := w.Directory(w.Ctx, c.filter)
		var got []uuid.UUID
		for _, e := range list {
			got = append(got, e.ID)
		}
		if err != nil || total != len(c.want) || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %v (%d), %v, want %v", c.filter, got, total, err, c.want)
		}
	}
	list, total, err := w.Directory(w.Ctx, DirectoryFilter{Page: 2, Size: 2})
	if err != nil || total != 3 || len(list) != 1 || list[0].ID != first.ID || list[0].Capabilities != 2 || list[0].Email != one.String()+"@example.com" {
		t.Errorf("page 2: %+v, %d, %v", list, total, err)
	}
	_, _, err = w.Directory(w.Ctx, DirectoryFilter{Status: "x", Order: "x", Text: strings.Repeat("x", 65), Page: 1, Size: 10})
	databasetest.MustFail(t, err, fault.Invalid, "status", "sort", "q")
}
