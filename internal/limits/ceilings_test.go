package limits

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

func TestACeilingIsSetReplacedTakenAwayListedAndAudited(t *testing.T) {
	r := newWorld(t)
	ann, bob := r.owner("ann@example.com"), r.owner("bob@example.com")
	app := r.application(bob, "Search")
	listed := func(scope Scope, contained string, page, size int) string {
		t.Helper()
		found, total, err := r.Ceilings(r.Ctx, scope, contained, page, size)
		if err != nil {
			t.Fatal(err)
		}
		told := []string{fmt.Sprint(total)}
		for _, c := range found {
			name := string(c.Scope)
			if c.OwnerEmail != nil {
				name += "/" + *c.OwnerEmail
			}
			if c.ApplicationName != nil {
				name += "/" + *c.ApplicationName
			}
			told = append(told, fmt.Sprint(name, "=", c.Limits.Concurrency))
		}
		return strings.Join(told, " ")
	}
	one := r.ceiling(Draft{Scope: ForApplication, Application: app.String(), Limits: Edit{"concurrency": to(3)}})
	r.ceiling(Draft{Scope: ForOwner, Owner: bob.String(), Limits: Edit{"concurrency": to(2)}})
	r.ceiling(Draft{Scope: ForOwner, Owner: " Ann@Example.com", Limits: Edit{"concurrency": to(1)}})
	all := r.ceiling(Draft{Scope: ForAll, Limits: Edit{"concurrency": to(9), "callsPerDay": nil}})
	if one.ApplicationID == nil || *one.ApplicationID != app || *one.OwnerID != bob || all.OwnerID != nil || all.UpdatedBy != admin {
		t.Errorf("set %+v and %+v", one, all)
	}
	for _, c := range []struct {
		scope      Scope
		contained  string
		page, size int
		want       string
	}{
		{"", "", 1, 10, "4 all=9 owner/ann@example.com=1 owner/bob@example.com=2 application/bob@example.com/Search=3"},
		{"", "", 2, 3, "4 application/bob@example.com/Search=3"}, {"", "", 9, 10, "4"},
		{ForAll, "", 1, 10, "1 all=9"}, {ForOwner, "", 1, 10, "2 owner/ann@example.com=1 owner/bob@example.com=2"},
		{"", "BOB@", 1, 10, "2 owner/bob@example.com=2 application/bob@example.com/Search=3"}, {"", "sear", 1, 10, "1 application/bob@example.com/Search=3"},
		{"", bob.String(), 1, 10, "1 owner/bob@example.com=2"}, {"", strings.ToUpper(app.String()), 1, 10, "1 application/bob@example.com/Search=3"},
		{"", "%", 1, 10, "0"},
	} {
		if got := listed(c.scope, c.contained, c.page, c.size); got != c.want {
			t.Errorf("%q, %q, page %d of %d: %s, want %s", c.scope, c.contained, c.page, c.size, got, c.want)
		}
	}
	replaced := r.ceiling(Draft{Scope: ForOwner, Owner: "ann@example.com", Limits: Edit{"tokensPerDay": to(7)}})
	if got, want := r.lastEntry(), "admin@example.com ceiling.update ann@example.com [{concurrency 1 <nil>} {tokensPerDay <nil> 7}]"; got != want || replaced.Limits != (Limits{TokensPerDay: 7}) {
		t.Errorf("audit %s\nwant  %s, now %+v", got, want, replaced)
	}
	gone := r.ceiling(Draft{Scope: ForOwner, Owner: "ann@example.com"})
	if got := listed(ForOwner, "", 1, 10); got != "1 owner/bob@example.com=2" || !gone.UpdatedAt.After(replaced.UpdatedAt) {
		t.Errorf("listed %s, taken away at %s after %s", got, gone.UpdatedAt, replaced.UpdatedAt)
	}
	if entries := r.Count(`SELECT count(*) FROM audit_log`); r.ceiling(Draft{Scope: ForOwner, Owner: ann.String()}).UpdatedAt != gone.UpdatedAt || r.Count(`SELECT count(*) FROM audit_log`) != entries {
		t.Error("the same again is told")
	}
	r.Exec(`DELETE FROM applications WHERE id = $1`, app)
	if got := listed("", "", 1, 10); got != "2 all=9 owner/bob@example.com=2" {
		t.Errorf("after the application was deleted: %s", got)
	}
	_, _, err := r.Ceilings(r.Ctx, "everybody", "", 1, 10)
	databasetest.MustFail(t, err, fault.Invalid, "scope")
}

func TestAWrongCeilingIsRefusedWithEveryField(t *testing.T) {
	r := newWorld(t)
	for _, c := range []struct {
		draft  Draft
		fields []string
	}{
		{Draft{}, []string{"scope"}},
		{Draft{Scope: "everybody", Limits: Edit{"concurrency": to(0)}}, []string{"scope", "concurrency"}},
		{Draft{Scope: ForOwner}, []string{"owner"}}, {Draft{Scope: ForApplication, Application: " "}, []string{"application"}},
		{Draft{Scope: ForOwner, Owner: "nobody@example.com"}, []string{"owner"}}, {Draft{Scope: ForOwner, Owner: "a\x00b"}, []string{"owner"}},
		{Draft{Scope: ForOwner, Owner: uuid.Nil.String()}, []string{"owner"}}, {Draft{Scope: ForApplication, Application: uuid.NewString()}, []string{"application"}},
		{Draft{Scope: ForApplication, Application: "x"}, []string{"application"}},
		{Draft{Scope: ForAll, Limits: Edit{"requestsPerMinute": to(Most + 1), "tokensPerDay": to(-1)}}, []string{"requestsPerMinute", "tokensPerDay"}},
	} {
		_, err := r.PutCeiling(r.Ctx, admin, c.draft)
		databasetest.MustFail(t, err, fault.Invalid, c.fields...)
	}
	if n := r.Count(`SELECT count(*) FROM limit_ceilings`); n != 0 {
		t.Errorf("%d were written", n)
	}
}

func TestACeilingThatWasChangedSinceItWasReadIsNotReplaced(t *testing.T) {
	r := newWorld(t)
	draft := func(n int64) Draft { return Draft{Scope: ForAll, Limits: Edit{"concurrency": to(n)}} }
	_, err := r.PutCeiling(r.Ctx, admin, draft(1), time.Now())
	databasetest.MustFail(t, err, fault.NotFound)
	read := r.ceiling(draft(1)).UpdatedAt.Truncate(time.Millisecond)
	second, err := r.PutCeiling(r.Ctx, admin, draft(2), read)
	if err != nil || second.Limits.Concurrency != 2 {
		t.Fatalf("%+v, %v", second, err)
	}
	current, err := r.PutCeiling(r.Ctx, admin, draft(3), read)
	databasetest.MustFail(t, err, fault.Changed)
	if current.Limits.Concurrency != 2 || !current.UpdatedAt.Equal(second.UpdatedAt) {
		t.Errorf("told %+v", current)
	}
}

// Two first ceilings for all at once: one waits for the other and then replaces it.
func TestCeilingsAreEditedOneAfterAnotherAndDeletesOfApplicationsDoNotDeadlockWithThem(t *testing.T) {
	r := newWorld(t)
	owner := r.owner("owner@example.com")
	for range 10 {
		app := r.application(owner, "app")
		r.set(owner, app, Edit{"concurrency": to(1)})
		failed := make(chan error, 4)
		for n := range int64(2) {
			go func() {
				_, err := r.PutCeiling(r.Ctx, admin, Draft{Scope: ForAll, Limits: Edit{"concurrency": to(n + 1)}})
				failed <- err
			}()
		}
		go func() {
			_, err := r.PutCeiling(r.Ctx, admin, Draft{Scope: ForApplication, Application: app.String(), Limits: Edit{"concurrency": to(9)}})
			if fault.KindOf(err) == fault.Invalid { // it was deleted first
				err = nil
			}
			failed <- err
		}()
		go func() {
			_, err := r.Pool.Exec(r.Ctx, `DELETE FROM applications WHERE id = $1`, app)
			failed <- err
		}()
		for range 4 {
			if err := <-failed; err != nil {
				t.Fatal(err)
			}
		}
		r.Exec(`DELETE FROM limit_ceilings`)
	}
}
