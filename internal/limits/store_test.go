package limits

import (
	"testing"

	"github.com/google/uuid"

	"callgate/internal/roomtest"
)

// room is an empty installation with what limits hang on.
type room struct {
	roomtest.Room
	*Store
}

func newRoom(t *testing.T) *room {
	t.Helper()
	r := roomtest.New(t)
	return &room{r, New(r.Pool)}
}

func (r *room) owner(email string) uuid.UUID {
	r.T.Helper()
	id := uuid.New()
	r.Exec(`INSERT INTO users (id, email) VALUES ($1, $2)`, id, email)
	return id
}

func (r *room) application(owner uuid.UUID, name string) uuid.UUID {
	r.T.Helper()
	id := uuid.New()
	r.Exec(`INSERT INTO applications (id, owner_id, name) VALUES ($1, $2, $3)`, id, owner, name)
	return id
}

func (r *room) snapshot(known *Snapshot) *Snapshot {
	r.T.Helper()
	s, err := r.ReadSnapshot(r.Ctx, known)
	if err != nil {
		r.T.Fatal(err)
	}
	return s
}

func TestTheMostSpecificCeilingThatSetsALimitHoldsAndOwnLimitsHoldBelowIt(t *testing.T) {
	r := newRoom(t)
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
	r := newRoom(t)
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
