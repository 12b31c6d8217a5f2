package application

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/audit"
	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

func emailOf(id uuid.UUID) string { return id.String() + "@example.com" }

// told collects the moves that are told.
func (w *world) told() *[]Moved {
	var all []Moved
	w.OnMove(func(_ context.Context, m Moved) { all = append(all, m) })
	return &all
}

func (w *world) alert(owner, application uuid.UUID, name string) {
	w.T.Helper()
	w.Exec(`INSERT INTO alert_rules (id, owner_id, name, kind, application_id, threshold, resolve_threshold, created_by)
		VALUES (gen_random_uuid(), $1, $2, 'failureRate', $3, 20, 10, 'x')`, owner, name, application)
}

func TestAMovedApplicationIsTheNewOwnersWithAllThatItHas(t *testing.T) {
	w := newWorld(t)
	from, to := w.user(), w.user()
	a, key := w.create(from, "app", "a", "b")
	kept, _ := w.create(from, "kept")
	w.Exec(`INSERT INTO application_limits (application_id, concurrency, updated_by) VALUES ($1, 3, 'x')`, a.ID)
	a, err := w.Get(w.Ctx, from, a.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.alert(from, a.ID, "Second")
	w.alert(from, a.ID, "first")
	w.alert(from, kept.ID, "Of another one")
	version := w.Count(`SELECT version FROM applications WHERE id = $1`, a.ID)
	told := w.told()

	e, err := w.Move(w.Ctx, root, a.ID, Move{Owner: " " + strings.ToUpper(emailOf(to)) + " ", Reason: " They have left "}, a.UpdatedAt)
	if err != nil || e.OwnerID != to || e.Email != emailOf(to) || e.Capabilities != 2 || !e.UpdatedAt.After(a.UpdatedAt) {
		t.Fatalf("%+v, %v", e, err)
	}
	_, err = w.Get(w.Ctx, from, a.ID)
	databasetest.MustFail(t, err, fault.NotFound)
	got, err := w.Get(w.Ctx, to, a.ID)
	a.UpdatedAt = got.UpdatedAt
	if err != nil || !reflect.DeepEqual(got, a) {
		t.Errorf("%+v, was %+v: %v", got, a, err)
	}
	if revealed, err := w.RevealKey(w.Ctx, to, a.ID, emailOf(to)); err != nil || revealed != key {
		t.Errorf("the key is %q, %v", revealed, err)
	}
	if w.Count(`SELECT concurrency FROM application_limits WHERE application_id = $1`, a.ID) != 3 {
		t.Error("its limit is gone")
	}
	if w.Count(`SELECT max(version) FROM access_changes WHERE application_id = $1`, a.ID) <= version {
		t.Error("no gateway is told")
	}
	if n := w.Count(`SELECT count(*) FROM alert_rules`); n != 1 {
		t.Errorf("%d alerts are left", n)
	}
	want := []Moved{{a.ID, "app", emailOf(from), emailOf(to), "They have left", []string{"first", "Second"}}}
	if !reflect.DeepEqual(*told, want) {
		t.Errorf("told %+v", *told)
	}
	entry := w.trail("application.move")[0]
	if entry.Actor != root || entry.TargetID != a.ID.String() || entry.TargetName != "app" || !reflect.DeepEqual(entry.Changes, audit.Changes{
		{Field: "owner", From: emailOf(from), To: emailOf(to)}, {Field: "reason", To: "They have left"}, {Field: "alertsEnded", To: []any{"first", "Second"}},
	}) {
		t.Errorf("%+v", entry)
	}
}

func (w *world) trail(action string) []audit.Row {
	w.T.Helper()
	found, _, err := audit.List(w.Ctx, w.Pool, audit.Filter{Action: action}, 1, 10)
	if err != nil {
		w.T.Fatal(err)
	}
	return found
}

func TestAMoveThatIsNoneTellsNobody(t *testing.T) {
	w := newWorld(t)
	owner, other := w.user(), w.user()
	a, _ := w.create(owner, "app")
	w.alert(owner, a.ID, "alert")
	w.MaxPerOwner = 1
	told := w.told()
	if e, err := w.Move(w.Ctx, root, a.ID, Move{Owner: owner.String(), Reason: "why"}); err != nil || e.OwnerID != owner || !e.UpdatedAt.Equal(a.UpdatedAt) {
		t.Errorf("to the owner it has: %+v, %v", e, err)
	}
	for name, c := range map[string]struct {
		id     uuid.UUID
		move   Move
		seen   []time.Time
		kind   fault.Kind
		fields []string
	}{
		"nobody":         {a.ID, Move{Owner: "nobody@example.com"}, nil, fault.Invalid, []string{"owner"}},
		"the nil id":     {a.ID, Move{Owner: uuid.Nil.String()}, nil, fault.Invalid, []string{"owner"}},
		"no owner":       {a.ID, Move{Reason: "a\nb"}, nil, fault.Invalid, []string{"owner", "reason"}},
		"a long reason":  {a.ID, Move{Owner: emailOf(other), Reason: strings.Repeat("x", 501)}, nil, fault.Invalid, []string{"reason"}},
		"no application": {uuid.New(), Move{Owner: emailOf(other)}, nil, fault.NotFound, nil},
		"stale":          {a.ID, Move{Owner: emailOf(other)}, []time.Time{a.UpdatedAt.Add(-time.Second)}, fault.Changed, nil},
	} {
		e, err := w.Move(w.Ctx, root, c.id, c.move, c.seen...)
		if databasetest.MustFail(t, err, c.kind, c.fields...); name == "stale" && e.OwnerID != owner {
			t.Errorf("%s: %+v", name, e)
		}
	}
	w.create(other, "full")
	_, err := w.Move(w.Ctx, root, a.ID, Move{Owner: emailOf(other)})
	databasetest.MustFail(t, err, fault.Conflict)
	if !strings.Contains(err.Error(), emailOf(other)+" has 1 applications and may have no more") {
		t.Error(err)
	}
	if len(*told) != 0 || len(w.trail("application.move")) != 0 || w.Count(`SELECT count(*) FROM alert_rules`) != 1 {
		t.Errorf("told %+v, noted %+v", *told, w.trail("application.move"))
	}
}
