package identity

import (
	"fmt"
	"testing"
	"time"

	"callgate/internal/fault"
)

func TestCodesPerClientAddressAreLimited(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.CodesPerClientHour = 3 })
	ask := func(n int, client string) error {
		return w.SendCode(t.Context(), Developer, fmt.Sprintf("dev%d@example.com", n), client)
	}
	for n := range 3 {
		if err := ask(n, "2001:db8::1"); err != nil {
			t.Fatal(err)
		}
	}
	f := wantKind(t, ask(3, "2001:db8::ffff"), fault.TooManyAttempts) // the same /64
	if f.RetryAfter != 45*time.Minute {
		t.Fatalf("retry after %v, but the hour ends in 45m", f.RetryAfter)
	}
	if err := ask(4, "2001:db8:0:1::1"); err != nil {
		t.Fatalf("a neighbour is refused: %v", err)
	}
	w.pass(45 * time.Minute)
	if err := ask(5, "2001:db8::1"); err != nil {
		t.Fatalf("refused in the next hour: %v", err)
	}
}

func TestFailedSignInsPerClientAddressAreLimited(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.FailuresPerClientHour = 3 })
	code := w.code(Developer, developer)
	for n := range 3 {
		_, err := w.logIn(Developer, fmt.Sprintf("dev%d@example.com", n), "123456")
		wantKind(t, err, fault.BadCredential)
	}
	_, err := w.logIn(Developer, developer, code)
	wantKind(t, err, fault.TooManyAttempts)
	if _, err = w.LogIn(t.Context(), Developer, developer, code, "203.0.113.8", agent); err != nil {
		t.Fatalf("another client is refused: %v", err)
	}
}

func TestCodesPerAddressAreLimitedWithoutTelling(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.CodesPerAddressHour, c.Limits.CodesPerAddressDay = 2, 3 })
	ask := func() {
		t.Helper()
		if err := w.SendCode(t.Context(), Developer, developer, home); err != nil {
			t.Fatalf("another answer above the limit: %v", err)
		}
		w.pass(resendAfter)
	}
	w.code(Developer, developer)
	w.pass(resendAfter)
	last := w.code(Developer, developer)
	w.pass(resendAfter)
	ask() // the third of the hour
	if _, err := w.logIn(Developer, developer, wrong(last)); fault.KindOf(err) != fault.BadCredential {
		t.Fatal(err)
	}
	w.pass(time.Hour)
	w.code(Developer, developer) // the third of the day
	w.pass(time.Hour)
	ask() // the fourth
	w.settle()
	if mails := w.mails.Mails(developer); len(mails) != 3 {
		t.Fatalf("%d mails, want 3", len(mails))
	}
}

func TestACodeAboveTheLimitLeavesTheLastOneGood(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.CodesPerAddressHour = 1 })
	code := w.code(Developer, developer)
	w.pass(resendAfter)
	if err := w.SendCode(t.Context(), Developer, developer, home); err != nil {
		t.Fatal(err)
	}
	if _, err := w.logIn(Developer, developer, code); err != nil {
		t.Fatal(err)
	}
}

func TestSignInsThatSucceedCountAgainstNoLimit(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.Limits = Limits{CodesPerAddressHour: 1, CodesPerAddressDay: 1, CodesPerClientHour: 1, FailuresPerClientHour: 1}
	})
	for range 5 {
		w.signIn(Developer, developer)
	}
}

func TestExpiredSignInDataIsRemoved(t *testing.T) {
	w := newWorld(t)
	w.signIn(Developer, developer)
	w.code(Admin, admin)
	keep := w.signIn(Developer, "other@example.com")
	w.pass(30*day + 30*day + time.Minute) // a developer's session and its keeping
	w.exec(`UPDATE sessions SET expires_at = $2 WHERE id = $1`, keep.Principal.SessionID, w.clock())
	if err := w.purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]int{"login_codes": 0, "sign_in_limits": 0, "sessions": 1, "users": 2} {
		if n := w.number(`SELECT count(*) FROM ` + table); n != want {
			t.Errorf("%s has %d rows, want %d", table, n, want)
		}
	}
}
