package console

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"callgate/internal/application"
	"callgate/internal/catalog"
	"callgate/internal/fault"
	"callgate/internal/identity"
	"callgate/internal/limits"
	"callgate/internal/secret"
)

func TestEveryCallerHasABurstOfTheLimitThatRefillsEvenly(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := newLimiter(60, func() time.Time { return now })
	ada, bob := identity.Principal{Audience: identity.Developer, Email: "ada@example.com"}, identity.Principal{Audience: identity.Developer, Email: "bob@example.com"}
	desk := identity.Principal{Audience: identity.Admin, Email: "ada@example.com"}
	admitted := func(who identity.Principal) (n int) {
		for l.admit(callerOf(who)) == nil {
			n++
		}
		return n
	}
	for who, email := range map[identity.Principal]string{ada: "ada", bob: "bob", desk: "desk"} {
		if n := admitted(who); n != 60 {
			t.Errorf("%s was admitted %d times at once, want 60", email, n)
		}
	}
	var refused *fault.Error
	if err := l.admit(callerOf(ada)); !errors.As(err, &refused) || refused.Kind != fault.TooManyAttempts || refused.RetryAfter != time.Second {
		t.Errorf("refused with %+v, want a second to wait", refused)
	}
	now = now.Add(999 * time.Millisecond)
	if n := admitted(ada); n != 0 {
		t.Errorf("admitted %d times before a second had passed", n)
	}
	now = now.Add(10 * time.Second)
	if n := admitted(ada); n != 10 {
		t.Errorf("admitted %d times after eleven seconds, want 10", n)
	}
	now = now.Add(time.Hour)
	if n := admitted(ada); n != 60 {
		t.Errorf("admitted %d times after an hour, want 60", n)
	}
}

func TestTheLimiterRemembersABoundedNumberOfCallers(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	l := newLimiter(60, func() time.Time { return now })
	for i := range 3 * maxLimited {
		if err := l.admit(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		if len(l.used) > maxLimited {
			t.Fatalf("%d callers are remembered", len(l.used))
		}
	}
	now = now.Add(2 * limitWindow)
	if err := l.admit("late"); err != nil {
		t.Fatal(err)
	}
	if len(l.used) != 1 {
		t.Errorf("%d callers are remembered when all bursts are whole", len(l.used))
	}
}

func TestNoLimitAdmitsEverybody(t *testing.T) {
	l := newLimiter(0, time.Now)
	for range 100_000 {
		if err := l.admit(""); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.used) != 0 {
		t.Error("callers are remembered without a limit")
	}
}

func TestALimitedCallerGets429WhileOthersGoOn(t *testing.T) {
	m := newManager(t)
	log := slog.New(slog.DiscardHandler)
	now := time.Now()
	m.listen(New(Deps{
		Identity: m.identity, Catalog: catalog.New(m.pool, &secret.Keyring{}, true), Pool: m.pool,
		RateLimit: 2, Now: func() time.Time { return now }, Logger: log,
	}), log)
	ada, bob := m.developer("ada"), m.developer("bob")
	for range 2 {
		ada.must(200, "GET", "/api/capabilities/groups", "")
	}
	r := ada.must(429, "GET", "/api/capabilities", "") // the limit is of all routes together
	if r.body.Code != 42901 || r.header.Get("Retry-After") != "30" {
		t.Errorf("answered %s, Retry-After %q", r.raw, r.header.Get("Retry-After"))
	}
	anotherSession := m.signIn(identity.Developer, "ada@example.com")
	anotherSession.must(429, "GET", "/api/auth/me", "")
	bob.must(200, "GET", "/api/capabilities/groups", "")
	(&client{m, ""}).must(200, "GET", "/api/config", "")
}

func TestAnAccountThatIsFullIsToldWhatToDo(t *testing.T) {
	m := newManager(t)
	log := slog.New(slog.DiscardHandler)
	full := application.New(m.pool, &secret.Keyring{}, secret.Pepper{})
	full.MaxPerOwner = 1
	dev := m.developer("dev")
	id := field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"app"}`), "id")
	m.listen(New(Deps{Identity: m.identity, Applications: full, Limits: limits.New(m.pool), Pool: m.pool, Logger: log}), log)
	if r := dev.must(409, "POST", "/api/applications", `{"name":"one more"}`); r.body.Code != 40901 || !strings.Contains(r.body.Msg, "delete one") {
		t.Fatalf("answered %s", r.raw)
	}
	dev.must(200, "GET", "/api/applications/"+id, "")
}
