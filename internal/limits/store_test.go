package limits

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

// world is an empty installation with what limits hang on.
type world struct {
	databasetest.Database
	*Store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	r := databasetest.New(t)
	return &world{r, New(r.Pool)}
}

func (r *world) owner(email string) uuid.UUID {
	r.T.Helper()
	id := uuid.New()
	r.Exec(`INSERT INTO users (id, email) VALUES ($1, $2)`, id, email)
	return id
}

func (r *world) application(owner uuid.UUID, name string) uuid.UUID {
	r.T.Helper()
	id := uuid.New()
	r.Exec(`INSERT INTO applications (id, owner_id, name) VALUES ($1, $2, $3)`, id, owner, name)
	return id
}

func (r *world) snapshot(known *Snapshot) *Snapshot {
	r.T.Helper()
	s, err := r.ReadSnapshot(r.Ctx, known)
	if err != nil {
		r.T.Fatal(err)
	}
	return s
}

func TestTheMostSpecificCeilingThatSetsALimitHoldsAndOwnLimitsHoldBelowIt(t *testing.T) {
	r := newWorld(t)
	owner := r.owner("owner@example.com")
	other := r.owner("other@example.com")
	raised, plain, foreign := r.application(owner, "raised"), r.application(owner, "plain"), r.application(other, "foreign")
	if s := r.snapshot(nil); !s.Empty() || s.Of(plain, owner) != (Limits{}) {
		t.Fatalf("a new installation has limits: %+v", s)
	}
	if !(&Snapshot{}).Empty() || (&Snapshot{}).Of(plain, owner) != (Limits{}) {
		t.Fatal("the zero snapshot has limits")
	}
	r.Exec(`INSERT INTO limit_ceilings (id, scope, owner_id, application_id, requests_per_minute, tokens_per_minute, concurrency, calls_per_day, updated_by) VALUES
		(gen_random_uuid(), 'all', NULL, NULL, 100, 1000, 10, NULL, 'admin'),
		(gen_random_uuid(), 'owner', $1, NULL, 50, NULL, 20, NULL, 'admin'),
		(gen_random_uuid(), 'application', NULL, $2, NULL, 5000, NULL, NULL, 'admin')`, owner, raised)
	r.Exec(`INSERT INTO application_limits (application_id, requests_per_minute, tokens_per_minute, calls_per_day, updated_by) VALUES
		($1, 7, 9000, 8, 'owner'), ($2, 60, NULL, NULL, 'owner')`, raised, plain)
	s := r.snapshot(nil)
	for _, c := range []struct {
		name               string
		application, owner uuid.UUID
		want               Limits
	}{
		{"raised", raised, owner, Limits{RequestsPerMinute: 7, TokensPerMinute: 5000, Concurrency: 20, CallsPerDay: 8}},
		{"plain", plain, owner, Limits{RequestsPerMinute: 50, TokensPerMinute: 1000, Concurrency: 20}},
		{"foreign", foreign, other, Limits{RequestsPerMinute: 100, TokensPerMinute: 1000, Concurrency: 10}},
	} {
		if got := s.Of(c.application, c.owner); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if s.Empty() {
		t.Error("it is said to be empty")
	}
}

func TestASnapshotIsReadAgainAfterEveryChangeAndOnlyThen(t *testing.T) {
	r := newWorld(t)
	owner := r.owner("owner@example.com")
	application, without := r.application(owner, "app"), r.application(owner, "without")
	known := r.snapshot(nil)
	step := func(changes bool, sql string, args ...any) {
		t.Helper()
		r.Exec(sql, args...)
		read := r.snapshot(known)
		if (read != known) != changes {
			t.Errorf("%s: read again is %t, want %t", sql, read != known, changes)
		}
		if again := r.snapshot(read); again != read {
			t.Errorf("%s: read twice", sql)
		}
		known = read
	}
	step(true, `INSERT INTO application_limits (application_id, calls_per_day, updated_by) VALUES ($1, 5, 'owner')`, application)
	step(true, `UPDATE application_limits SET calls_per_day = 6`)
	before := known
	step(true, `INSERT INTO limit_ceilings (id, scope, calls_per_day, updated_by) VALUES (gen_random_uuid(), 'all', 4, 'admin')`)
	if before.Of(application, owner).CallsPerDay != 6 || known.Of(application, owner).CallsPerDay != 4 {
		t.Error("a snapshot that somebody holds has changed, or the new one has not")
	}
	step(false, `UPDATE applications SET name = 'renamed'`)
	step(false, `DELETE FROM applications WHERE id = $1`, without)
	step(true, `DELETE FROM applications WHERE id = $1`, application)
	step(true, `DELETE FROM limit_ceilings`)
	if !known.Empty() {
		t.Errorf("left: %+v", known)
	}
}

// key makes a key of an application: the first one, or one more.
func (r *world) key(application uuid.UUID, name string, first bool) uuid.UUID {
	r.T.Helper()
	id := uuid.New()
	table := "additional_access_keys"
	if first {
		table = "access_keys"
	}
	r.Exec(`INSERT INTO `+table+` (id, application_id, name, lookup, sealed, mask) VALUES ($1, $2, $3, $4, 'x', 'x')`, id, application, name, id[:])
	return id
}

// setKey sets limits of a key as its edit does.
func (r *world) setKey(application, key uuid.UUID, edit Edit) (changes string, err error) {
	r.T.Helper()
	err = pgx.BeginFunc(r.Ctx, r.Pool, func(tx pgx.Tx) error {
		found, err := SetKey(edit, "dev@example.com")(r.Ctx, tx, application, key)
		changes = fmt.Sprint(found)
		return err
	})
	return changes, err
}

// TestLimitsOfAKeyFollowIt: through a rotation to the new key, beside the old one where that stays, and away with it.
func TestLimitsOfAKeyFollowIt(t *testing.T) {
	r := newWorld(t)
	owner := r.owner("dev@example.com")
	application := r.application(owner, "app")
	first, batch := r.key(application, "default", true), r.key(application, "batch", false)
	r.ceiling(Draft{Scope: ForAll, Limits: Edit{CallsPerDay: to(100)}})
	known := r.snapshot(nil)
	expect := func(when string, changed bool, want map[uuid.UUID]KeyLimits) {
		t.Helper()
		read := r.snapshot(known)
		if (read != known) != changed || !maps.Equal(read.keys[application], want) {
			t.Errorf("%s: read again %t, %+v, want %+v", when, read != known, read.keys[application], want)
		}
		known = read
	}
	expect("without limits", false, nil)
	if changes, err := r.setKey(application, first, Edit{CallsPerDay: to(7), Concurrency: to(2)}); err != nil || !strings.Contains(changes, CallsPerDay) {
		t.Fatalf("%s %v", changes, err)
	}
	if _, err := r.setKey(application, batch, Edit{TokensPerDay: to(9)}); err != nil {
		t.Fatal(err)
	}
	ofFirst, ofBatch := Limits{CallsPerDay: 7, Concurrency: 2}, Limits{TokensPerDay: 9}
	expect("with limits", true, map[uuid.UUID]KeyLimits{first: {Limits: ofFirst}, batch: {Name: "batch", Limits: ofBatch}})
	if changes, err := r.setKey(application, first, Edit{CallsPerDay: to(7)}); err != nil || changes != "[]" {
		t.Errorf("the same again: %s %v", changes, err)
	}
	for what, edit := range map[string]Edit{"above the ceiling": {CallsPerDay: to(101)}, "0": {Concurrency: to(0)}, "absurd": {TokensPerDay: to(Most + 1)}} {
		if _, err := r.setKey(application, first, edit); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	expect("refused", false, known.keys[application])

	r.Exec(`UPDATE additional_access_keys SET name = 'night'`)
	expect("renamed", true, map[uuid.UUID]KeyLimits{first: {Limits: ofFirst}, batch: {Name: "night", Limits: ofBatch}})
	r.Exec(`UPDATE access_keys SET sealed = 'resealed'`)
	expect("resealed", false, known.keys[application])

	rotate := func(lookup string) (id uuid.UUID) {
		r.Exec(`UPDATE access_keys SET lookup = $1`, []byte(lookup))
		if err := r.Pool.QueryRow(r.Ctx, `SELECT id FROM access_keys`).Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	second := rotate("second")
	expect("replaced", true, map[uuid.UUID]KeyLimits{second: {Limits: ofFirst}, batch: {Name: "night", Limits: ofBatch}})
	r.Exec(`INSERT INTO additional_access_keys (id, application_id, name, lookup, sealed, mask) SELECT id, application_id, 'old', lookup, sealed, mask FROM access_keys`)
	third := rotate("third")
	expect("replaced with an overlap", true, map[uuid.UUID]KeyLimits{
		second: {Name: "old", Limits: ofFirst}, third: {Limits: ofFirst}, batch: {Name: "night", Limits: ofBatch}})
	r.Exec(`DELETE FROM additional_access_keys WHERE id = $1`, second)
	expect("deleted", true, map[uuid.UUID]KeyLimits{third: {Limits: ofFirst}, batch: {Name: "night", Limits: ofBatch}})
	if _, err := r.setKey(application, batch, Edit{TokensPerDay: nil}); err != nil {
		t.Fatal(err)
	}
	expect("removed", true, map[uuid.UUID]KeyLimits{third: {Limits: ofFirst}})
	if of, err := r.OfKeys(r.Ctx, application); err != nil || !maps.Equal(of, map[uuid.UUID]Limits{third: ofFirst}) {
		t.Errorf("%+v %v", of, err)
	}
	r.Exec(`DELETE FROM applications`)
	expect("without the application", true, nil)
	if n := r.Count(`SELECT count(*) FROM key_limits`); n != 0 {
		t.Errorf("%d limits are left of no key", n)
	}
}
