package identity

import (
	"fmt"
	"strings"
	"testing"

	"callgate/internal/fault"
)

// browser is a new browser somewhere.
func (w *world) browser(ip string) (Asker, string) {
	return w.Browser(Admin, ip, "")
}

// codeOf asks for a code as asker and reads it from the mail.
func (w *world) codeOf(asker Asker, email string) string {
	w.t.Helper()
	before := len(w.mails.Mails(email))
	if err := w.SendCode(w.t.Context(), Admin, email, asker); err != nil {
		w.t.Fatal(err)
	}
	return w.awaitMail(email, before+1).Code
}

func TestStrangersCannotUseUpAnOwnersCodes(t *testing.T) {
	w := newWorld(t)
	for round := range 20 {
		for n := range 50 {
			asker := Program(fmt.Sprintf("198.51.100.%d", n))
			if round%2 == 1 {
				asker, _ = w.browser(fmt.Sprintf("198.51.100.%d", n))
			}
			if err := w.SendCode(t.Context(), Admin, admin, asker); err != nil && fault.KindOf(err) != fault.TooManyAttempts {
				t.Fatal(err)
			}
			_, err := w.LogIn(t.Context(), Admin, admin, "not it", asker, agent)
			if kind := fault.KindOf(err); kind != fault.BadCredential && kind != fault.TooManyAttempts {
				t.Fatal(err)
			}
		}
	}
	until(t, "the strangers' last mail", func() bool { return len(w.mails.Mails(admin)) >= 50+300/furtherShare })
	before := len(w.mails.Mails(admin))
	if before > 50+300/furtherShare {
		t.Errorf("%d mails flooded the owner", before)
	}
	for name, asker := range map[string]Asker{"browser": first(w.browser("203.0.113.1")), "program": Program("203.0.113.2")} {
		if _, err := w.LogIn(t.Context(), Admin, admin, w.codeOf(asker, admin), asker, agent); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func first(asker Asker, _ string) Asker { return asker }

func TestAStrangersGuessesDoNotBurnACodeEvenFromTheSameAddress(t *testing.T) {
	w := newWorld(t)
	owner, _ := w.browser(home)
	code := w.codeOf(owner, admin)
	for _, stranger := range []Asker{first(w.browser(home)), Program(home), Program("198.51.100.1")} {
		for range 7 {
			if _, err := w.LogIn(t.Context(), Admin, admin, wrong(code), stranger, agent); fault.KindOf(err) != fault.BadCredential {
				t.Fatal(err)
			}
		}
		if _, err := w.LogIn(t.Context(), Admin, admin, code, stranger, agent); fault.KindOf(err) != fault.BadCredential {
			t.Fatalf("another asker signs in with the code: %v", err)
		}
	}
	if _, err := w.LogIn(t.Context(), Admin, admin, code, owner, agent); err != nil {
		t.Fatal(err)
	}
}

func TestABrowserThatHasSignedInIsLimitedByItselfAlone(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.Limits = Limits{CodesPerAskerHour: 2, CodesPerAskerDay: 3, CodesPerClientHour: 1, CodesPerAddressDay: 1, WrongPerClientHour: 1, WrongPerAddressDay: 1}
	})
	asker, _ := w.browser(home)
	in, err := w.LogIn(t.Context(), Admin, admin, w.codeOf(asker, admin), asker, agent)
	if err != nil {
		t.Fatal(err)
	}
	stranger, _ := w.browser(home)
	code := w.codeOf(stranger, admin)
	for range 2 { // spends all there is but the owner's
		_, err := w.LogIn(t.Context(), Admin, admin, wrong(code), stranger, agent)
		wantKind(t, err, map[bool]fault.Kind{true: fault.TooManyAttempts, false: fault.BadCredential}[fault.KindOf(err) == fault.TooManyAttempts])
	}
	wantKind(t, w.SendCode(t.Context(), Admin, admin, first(w.browser("203.0.113.99"))), fault.TooManyAttempts)

	known, made := w.Browser(Admin, home, in.Browser)
	if made != "" {
		t.Fatal("the cookie of a sign-in is not taken")
	}
	code = w.codeOf(known, admin)
	for range 4 {
		_, err := w.LogIn(t.Context(), Admin, admin, wrong(code), known, agent)
		wantKind(t, err, fault.BadCredential)
	}
	if _, err := w.LogIn(t.Context(), Admin, admin, code, known, agent); err != nil {
		t.Fatal(err)
	}
	// It proves one address, for one interface, and only as it was given.
	nonce, proof, _ := strings.Cut(in.Browser, ".")
	for name, cookie := range map[string]string{"nonce": nonce[:42] + "!." + proof, "tag": nonce + "." + otherThan(proof[0]) + proof[1:], "mac": nonce + "." + proof[:len(proof)-1] + "!"} {
		if forged, _ := w.Browser(Admin, home, cookie); w.knows(forged, admin) || forged.Key() != Network(home) {
			t.Errorf("a cookie with another %s is taken", name)
		}
	}
	if w.knows(known, developer) {
		t.Error("the browser is known for another address")
	}
	if other, _ := w.Browser(Developer, home, in.Browser); w.knows(other, admin) {
		t.Error("the browser is known at the other interface")
	}
}

func TestAnOfficeBehindOneAddressGetsIn(t *testing.T) {
	w := newWorld(t)
	for n := range 40 { // somebody there asks and guesses for addresses of others
		asker, _ := w.Browser(Developer, home, "")
		if err := w.SendCode(t.Context(), Developer, fmt.Sprintf("victim%d@example.com", n%3), asker); err != nil && fault.KindOf(err) != fault.TooManyAttempts {
			t.Fatal(err)
		}
		for range 3 {
			_, _ = w.LogIn(t.Context(), Developer, fmt.Sprintf("victim%d@example.com", n%3), "not it", asker, agent)
		}
	}
	for n := range 150 {
		email := fmt.Sprintf("colleague%d@example.com", n)
		asker, _ := w.Browser(Developer, home, "")
		if err := w.SendCode(t.Context(), Developer, email, asker); err != nil {
			t.Fatalf("colleague %d: %v", n, err)
		}
		if n%50 == 0 {
			if _, err := w.LogIn(t.Context(), Developer, email, w.awaitMail(email, 1).Code, asker, agent); err != nil {
				t.Fatalf("colleague %d: %v", n, err)
			}
		}
	}
}
