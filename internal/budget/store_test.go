package budget

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/beijing"
	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

func TestAPeriodIsABeijingDayAWeekFromMondayOrAMonth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		period       Period
		day, is, end string
	}{
		{Day, "2028-02-29", "2028-02-29", "2028-02-29"},
		{Week, "2026-12-28", "2026-12-28", "2027-01-03"}, // over New Year
		{Week, "2027-01-03", "2026-12-28", "2027-01-03"},
		{Week, "2027-01-04", "2027-01-04", "2027-01-10"},
		{Month, "2028-02-01", "2028-02-01", "2028-02-29"},
		{Month, "2026-12-31", "2026-12-01", "2026-12-31"},
		{Month, "2027-01-01", "2027-01-01", "2027-01-31"},
	} {
		day, _ := beijing.ParseDay(c.day)
		if r := c.period.Of(day); r.Start.String() != c.is || r.End.String() != c.end {
			t.Errorf("%s of %s is %s to %s", c.period, c.day, r.Start, r.End)
		}
	}
}

// TestBudgetsGoWithWhatTheyAreOf: with a key to the one that replaces it, and away with applications and keys.
func TestBudgetsGoWithWhatTheyAreOf(t *testing.T) {
	r := databasetest.New(t)
	s, owner, app, key, more := New(r.Pool), uuid.New(), uuid.New(), uuid.New(), uuid.New()
	r.Exec(`INSERT INTO users (id, email) VALUES ($1, 'owner@example.com')`, owner)
	r.Exec(`INSERT INTO applications (id, owner_id, name) VALUES ($1, $2, 'App')`, app, owner)
	r.Exec(`INSERT INTO access_keys (application_id, id, lookup, sealed, mask) VALUES ($1, $2, '\x01', '\x01', 'cg-')`, app, key)
	r.Exec(`INSERT INTO additional_access_keys (id, application_id, name, lookup, sealed, mask) VALUES ($1, $2, 'More', '\x02', '\x02', 'cg-')`, more, app)
	who, one := Who{owner, "owner@example.com"}, []Draft{{Period: "week", Amount: "1.5", Currency: "USD", Action: Block}}
	for _, of := range []Subject{{Scope: ForApplication, Application: app}, {Scope: ForKey, Application: app, Key: key}, {Scope: ForKey, Application: app, Key: more}} {
		if err := s.Replace(r.Ctx, who, of, one); err != nil {
			t.Fatal(err)
		}
		databasetest.MustFail(t, s.Replace(r.Ctx, Who{uuid.New(), "other@example.com"}, of, one), fault.NotFound)
		databasetest.MustFail(t, s.Replace(r.Ctx, who, of, one, time.Now()), fault.Changed)
	}
	admin := Who{Email: "admin@example.com"}
	if err := s.Replace(r.Ctx, admin, Subject{Scope: ForOwner, Owner: owner}, one); err != nil {
		t.Fatal(err)
	}
	databasetest.MustFail(t, s.Replace(r.Ctx, admin, Subject{Scope: ForCapability, Capability: "none"}, one), fault.Invalid, "capabilityId")
	r.Exec(`UPDATE access_keys SET lookup = '\x03' WHERE id = $1`, key) // another one
	var next uuid.UUID
	if err := r.Pool.QueryRow(r.Ctx, `SELECT id FROM access_keys`).Scan(&next); err != nil || next == key {
		t.Fatal(next, err)
	}
	snapshot := func() *Snapshot {
		t.Helper()
		held, err := s.ReadSnapshot(r.Ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	held := snapshot()
	if of, n := held.of(Caller{Key: key, Application: app, Owner: owner}); n != 3 || of[0][0].Key != next || of[0][0] != held.keys[next][0] {
		t.Errorf("the replaced key is held to %v", of)
	}
	if again, err := s.ReadSnapshot(r.Ctx, held); err != nil || again != held {
		t.Errorf("%p, %v of %p", again, err, held)
	}
	told, err := s.Held(r.Ctx, Caller{Key: key, Application: app, Owner: owner})
	if err != nil || len(told) != 3 {
		t.Errorf("%v, %v", told, err)
	}
	r.Exec(`DELETE FROM additional_access_keys WHERE id = $1`, more)
	if n := r.Count(`SELECT count(*) FROM budgets`); n != 3 {
		t.Errorf("%d budgets without the key", n)
	}
	r.Exec(`DELETE FROM applications WHERE id = $1`, app)
	if left, err := s.All(r.Ctx, "", ""); err != nil || len(left) != 1 || left[0].Scope != ForOwner || left[0].OwnerEmail != "owner@example.com" {
		t.Errorf("%v, %v without the application", left, err)
	}
	if n := r.Count(`SELECT count(*) FROM audit_log WHERE action = 'budget.update'`); n != 4 {
		t.Errorf("%d edits in the audit trail", n)
	}
	if snapshot().version == held.version {
		t.Error("gateways would not hear of it")
	}
}

// TestTwoEditorsOfBudgetsQueueUp: the second sees what the first did, and is refused.
func TestTwoEditorsOfBudgetsQueueUp(t *testing.T) {
	r := databasetest.New(t)
	s, owner := New(r.Pool), uuid.New()
	r.Exec(`INSERT INTO users (id, email) VALUES ($1, 'owner@example.com')`, owner)
	of, admin := Subject{Scope: ForOwner, Owner: owner}, Who{Email: "admin@example.com"}
	draft := func(amount string) []Draft {
		return []Draft{{Period: "day", Amount: amount, Currency: "USD", Action: Warn}}
	}
	if err := s.Replace(r.Ctx, admin, of, draft("1")); err != nil {
		t.Fatal(err)
	}
	found, err := s.OfSubject(r.Ctx, of)
	if err != nil {
		t.Fatal(err)
	}
	seen, second := found[0].UpdatedAt.Truncate(time.Millisecond), make(chan error, 1)
	err = pgx.BeginFunc(r.Ctx, r.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(r.Ctx, `SELECT FROM users WHERE id = $1 FOR UPDATE`, owner); err != nil {
			return err
		}
		go func() { second <- s.Replace(context.WithoutCancel(r.Ctx), admin, of, draft("3"), seen) }()
		time.Sleep(100 * time.Millisecond)
		_, err := tx.Exec(r.Ctx, `UPDATE budgets SET amount = 2, updated_at = clock_timestamp() WHERE owner_id = $1`, owner)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	databasetest.MustFail(t, <-second, fault.Changed)
}
