package limits

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/audit"
	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

const admin = "admin@example.com"

func to(n int64) *int64 { return &n }

func (r *world) set(owner, application uuid.UUID, edit Edit, seen ...time.Time) {
	r.T.Helper()
	if err := r.Set(r.Ctx, owner, application, edit, seen...); err != nil {
		r.T.Fatal(err)
	}
}

func (r *world) ceiling(d Draft) Ceiling {
	r.T.Helper()
	c, err := r.PutCeiling(r.Ctx, admin, d)
	if err != nil {
		r.T.Fatal(err)
	}
	return c
}

// holding is what holds for an application and why, in short.
func (r *world) holding(application uuid.UUID) string {
	r.T.Helper()
	found, err := r.Standings(r.Ctx, application)
	if err != nil {
		r.T.Fatal(err)
	}
	var told []string
	for _, h := range found[application].Holding() {
		if h.Limit != 0 {
			told = append(told, fmt.Sprint(h.Name, "=", h.Limit, " ", h.Source))
		}
	}
	return strings.Join(told, ", ")
}

func (r *world) lastEntry() string {
	r.T.Helper()
	rows, _, err := audit.List(r.Ctx, r.Pool, audit.Filter{}, 1, 1)
	if err != nil || len(rows) != 1 {
		r.T.Fatalf("audit: %v, %v", rows, err)
	}
	return fmt.Sprint(rows[0].Actor, " ", rows[0].Action, " ", rows[0].TargetName, " ", rows[0].Changes)
}

func TestAnEditChangesWhatItNamesRemovesWhatIsNilAndIsAudited(t *testing.T) {
	r := newWorld(t)
	owner := r.owner("owner@example.com")
	app := r.application(owner, "app")
	r.set(owner, app, Edit{"requestsPerMinute": to(10), "tokensPerDay": to(Most)})
	if got, want := r.lastEntry(), "owner@example.com application.set_limits app [{requestsPerMinute <nil> 10} {tokensPerDay <nil> 1e+12}]"; got != want {
		t.Errorf("audit %s\nwant  %s", got, want)
	}
	r.set(owner, app, Edit{"requestsPerMinute": to(20), "concurrency": to(1)})
	r.set(owner, app, Edit{"tokensPerDay": nil})
	if got, want := r.lastEntry(), "owner@example.com application.set_limits app [{tokensPerDay 1e+12 <nil>}]"; got != want {
		t.Errorf("audit %s\nwant  %s", got, want)
	}
	if got, want := r.holding(app), "requestsPerMinute=20 own, concurrency=1 own"; got != want {
		t.Errorf("holding %s, want %s", got, want)
	}
	entries := r.Count(`SELECT count(*) FROM audit_log`)
	r.set(owner, app, Edit{"concurrency": to(1)})
	r.set(owner, app, Edit{})
	if again := r.Count(`SELECT count(*) FROM audit_log`); again != entries {
		t.Errorf("the same again is told: %d entries, were %d", again, entries)
	}
	r.set(owner, app, Edit{"requestsPerMinute": nil, "concurrency": nil})
	if s := r.snapshot(nil); !s.Empty() {
		t.Errorf("all removed leaves %+v", s)
	}
}

func TestALimitOutOfBoundsOrAboveItsCeilingIsRefusedWithWhoSetTheCeiling(t *testing.T) {
	r := newWorld(t)
	owner := r.owner("owner@example.com")
	app := r.application(owner, "app")
	for _, wrong := range []int64{0, -1, Most + 1} {
		databasetest.MustFail(t, r.Set(r.Ctx, owner, app, Edit{"requestsPerMinute": to(wrong), "callsPerDay": to(wrong), "concurrency": to(5)}), fault.Invalid, "requestsPerMinute", "callsPerDay")
	}
	r.ceiling(Draft{Scope: ForAll, Limits: Edit{"requestsPerMinute": to(10), "tokensPerMinute": to(10), "concurrency": to(10)}})
	r.ceiling(Draft{Scope: ForOwner, Owner: "OWNER@example.com", Limits: Edit{"requestsPerMinute": to(20), "tokensPerMinute": to(20)}})
	r.ceiling(Draft{Scope: ForApplication, Application: app.String(), Limits: Edit{"requestsPerMinute": to(30)}})
	r.set(owner, app, Edit{"requestsPerMinute": to(30), "tokensPerMinute": to(20), "concurrency": to(10), "tokensPerDay": to(Most)})
	err := r.Set(r.Ctx, owner, app, Edit{"requestsPerMinute": to(31), "tokensPerMinute": to(21), "concurrency": to(11), "tokensPerDay": to(5)})
	databasetest.MustFail(t, err, fault.Invalid, "requestsPerMinute", "tokensPerMinute", "concurrency")
	var f *fault.Error
	errors.As(err, &f)
	for field, want := range map[string]string{
		"requestsPerMinute": "must be at most 30, the ceiling that an administrator has set for this application",
		"tokensPerMinute":   "must be at most 20, the ceiling that an administrator has set for your account",
		"concurrency":       "must be at most 10, the ceiling that an administrator has set for all applications",
	} {
		if f.Fields[field] != want {
			t.Errorf("%s: %q, want %q", field, f.Fields[field], want)
		}
	}
	if got, want := r.holding(app), "requestsPerMinute=30 own, tokensPerMinute=20 own, concurrency=10 own, tokensPerDay=1000000000000 own"; got != want {
		t.Errorf("holding %s, want %s", got, want)
	}
	// A ceiling that is lowered holds at once; what the owner has set stays and can be left as it is.
	r.ceiling(Draft{Scope: ForApplication, Application: app.String(), Limits: Edit{"requestsPerMinute": to(3)}})
	r.set(owner, app, Edit{"tokensPerDay": nil})
	if got, want := r.holding(app), "requestsPerMinute=3 application, tokensPerMinute=20 own, concurrency=10 own"; got != want {
		t.Errorf("holding %s, want %s", got, want)
	}
}

func TestSomebodyElsesApplicationIsAbsentAndAChangedOneIsNotOverwritten(t *testing.T) {
	r := newWorld(t)
	owner, other := r.owner("owner@example.com"), r.owner("other@example.com")
	app := r.application(owner, "app")
	databasetest.MustFail(t, r.Set(r.Ctx, other, app, Edit{"concurrency": to(5)}), fault.NotFound)
	databasetest.MustFail(t, r.Set(r.Ctx, owner, uuid.New(), Edit{"concurrency": to(5)}), fault.NotFound)
	updatedAt := func() (at time.Time) {
		if err := r.Pool.QueryRow(r.Ctx, `SELECT updated_at FROM applications WHERE id = $1`, app).Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at.Truncate(time.Millisecond)
	}
	before := updatedAt()
	r.set(owner, app, Edit{"concurrency": to(5)}, before)
	if after := updatedAt(); !after.After(before) {
		t.Errorf("the application is of %s, as before", after)
	}
	databasetest.MustFail(t, r.Set(r.Ctx, owner, app, Edit{"concurrency": to(6)}, before), fault.Changed)
	if got := r.holding(app); got != "concurrency=5 own" {
		t.Errorf("holding %s", got)
	}
}
