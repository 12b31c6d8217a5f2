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
		return w.SendCode(t.Context(), Developer, fmt.Sprintf("dev%d@example.com", n), Program(client))
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

func TestWrongCodesLockNobodyOutButLeaveOneTryACode(t *testing.T) {
	for name, limits := range map[string]Limits{"of one network": {WrongPerClientHour: 3}, "at one address": {WrongPerAddressDay: 3}} {
		w := newWorld(t, func(c *Config) { c.Limits = limits })
		code := w.code(Developer, developer)
		for range 3 {
			_, err := w.logIn(Developer, developer, wrong(code))
			wantKind(t, err, fault.BadCredential)
		}
		_, err := w.logIn(Developer, developer, code)
		wantKind(t, err, fault.TooManyAttempts)
		w.pass(resendAfter)
		code = w.code(Developer, developer)
		_, err = w.logIn(Developer, developer, wrong(code))
		wantKind(t, err, fault.BadCredential)
		_, err = w.logIn(Developer, developer, code)
		wantKind(t, err, fault.TooManyAttempts)
		w.pass(resendAfter)
		if _, err = w.logIn(Developer, developer, w.code(Developer, developer)); err != nil {
			t.Errorf("%s: the owner is locked out: %v", name, err)
		}
	}
}

func TestAskersAreToldTheirOwnLimitsTheSameForEveryAddress(t *testing.T) {
	for limits, wait := range map[Limits]time.Duration{
		{CodesPerAskerHour: 2}: 43 * time.Minute, {CodesPerAskerDay: 2}: 13*time.Hour + 43*time.Minute,
	} {
		w := newWorld(t, func(c *Config) { c.Limits = limits })
		var told []string
		for _, email := range []string{admin, "stranger@example.com"} {
			for range 2 {
				if err := w.SendCode(t.Context(), Admin, email, Program(home)); err != nil {
					t.Fatal(err)
				}
				w.pass(resendAfter)
			}
			f := wantKind(t, w.SendCode(t.Context(), Admin, email, Program(home)), fault.TooManyAttempts)
			if f.RetryAfter != wait {
				t.Errorf("%s: retry after %v, want %v", email, f.RetryAfter, wait)
			}
			told = append(told, f.Message)
			w.pass(-2 * resendAfter)
		}
		if told[0] != told[1] {
			t.Errorf("a listed and an unlisted address are told apart: %q", told)
		}
		w.settle()
		if listed, unlisted := len(w.mails.Mails(admin)), len(w.mails.Mails("stranger@example.com")); listed != 2 || unlisted != 0 {
			t.Errorf("%d and %d mails, want 2 and 0", listed, unlisted)
		}
	}
}

func TestACodeAboveTheLimitLeavesTheLastOneGood(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.CodesPerAskerHour = 1 })
	code := w.code(Developer, developer)
	w.pass(resendAfter)
	wantKind(t, w.SendCode(t.Context(), Developer, developer, Program(home)), fault.TooManyAttempts)
	if _, err := w.logIn(Developer, developer, code); err != nil {
		t.Fatal(err)
	}
}

func TestSignInsThatSucceedCountAgainstNoLimit(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.Limits = Limits{CodesPerAskerHour: 1, CodesPerAskerDay: 1, CodesPerClientHour: 1, CodesPerAddressDay: 1, WrongPerClientHour: 1, WrongPerAddressDay: 1}
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
	for table, want := range map[string]int{"sign_in_codes": 0, "sign_in_limits": 0, "sessions": 1, "users": 2} {
		if n := w.number(`SELECT count(*) FROM ` + table); n != want {
			t.Errorf("%s has %d rows, want %d", table, n, want)
		}
	}
}
