package identity

import (
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"callgate/internal/fault"
)

func TestCodeSignsInExactlyOnce(t *testing.T) {
	w := newWorld(t)
	code := w.code(Developer, developer)
	if !regexp.MustCompile(`^\d{6}$`).MatchString(code) {
		t.Fatalf("code %q is not six digits", code)
	}
	in, err := w.logIn(Developer, " Dev@Example.COM ", " "+code+" ")
	if err != nil {
		t.Fatal(err)
	}
	if in.Principal.Email != developer || in.Principal.Audience != Developer {
		t.Fatalf("signed in as %+v", in.Principal)
	}
	_, err = w.logIn(Developer, developer, code)
	wantKind(t, err, fault.BadCredential)
}

func TestOneCodeUsedInParallelSignsInExactlyOnce(t *testing.T) {
	w := newWorld(t)
	code := w.code(Developer, developer)
	var lock sync.Mutex
	var all sync.WaitGroup
	successes := 0
	for range 16 {
		all.Go(func() {
			_, err := w.logIn(Developer, developer, code)
			lock.Lock()
			defer lock.Unlock()
			if err == nil {
				successes++
			} else if fault.KindOf(err) != fault.BadCredential {
				t.Errorf("refused with %v", err)
			}
		})
	}
	all.Wait()
	if sessions := w.number(`SELECT count(*) FROM sessions`); successes != 1 || sessions != 1 {
		t.Fatalf("%d sign-ins, %d sessions", successes, sessions)
	}
}

func TestSixthTryOfACodeIsRefusedEvenWhenItIsRight(t *testing.T) {
	w := newWorld(t)
	code := w.code(Developer, developer)
	for range 5 {
		_, err := w.logIn(Developer, developer, wrong(code))
		wantKind(t, err, fault.BadCredential)
	}
	_, err := w.logIn(Developer, developer, code)
	if f := wantKind(t, err, fault.TooManyAttempts); f.RetryAfter != resendAfter {
		t.Fatalf("retry after %v, but a new code can be had after %v", f.RetryAfter, resendAfter)
	}
	w.pass(resendAfter)
	w.signIn(Developer, developer)
}

func TestFifthTryOfACodeStillSignsIn(t *testing.T) {
	w := newWorld(t)
	code := w.code(Developer, developer)
	for range 4 {
		_, err := w.logIn(Developer, developer, wrong(code))
		wantKind(t, err, fault.BadCredential)
	}
	if _, err := w.logIn(Developer, developer, code); err != nil {
		t.Fatal(err)
	}
}

func TestParallelWrongTriesAreAllCounted(t *testing.T) {
	w := newWorld(t)
	code := w.code(Developer, developer)
	var lock sync.Mutex
	var all sync.WaitGroup
	kinds := map[fault.Kind]int{}
	for range 20 {
		all.Go(func() {
			_, err := w.logIn(Developer, developer, wrong(code))
			lock.Lock()
			defer lock.Unlock()
			kinds[fault.KindOf(err)]++
		})
	}
	all.Wait()
	if kinds[fault.BadCredential] != 5 || kinds[fault.TooManyAttempts] != 15 {
		t.Fatalf("kinds of refusal: %v", kinds)
	}
}

func TestCodeIsGoodForFiveMinutes(t *testing.T) {
	w := newWorld(t)
	code := w.code(Developer, developer)
	w.pass(5*time.Minute - time.Millisecond)
	if _, err := w.logIn(Developer, developer, code); err != nil {
		t.Fatal(err)
	}
	code = w.code(Developer, developer)
	w.pass(5 * time.Minute)
	_, err := w.logIn(Developer, developer, code)
	wantKind(t, err, fault.BadCredential)
}

func TestCodeIsSentAgainOnlyAfterAMinute(t *testing.T) {
	w := newWorld(t)
	first := w.code(Developer, developer)
	w.pass(time.Minute - time.Millisecond)
	for range 12 { // also: these spend nothing of the address's limit
		if err := w.SendCode(t.Context(), Developer, developer, Program(home)); err != nil {
			t.Fatalf("another answer inside the minute: %v", err)
		}
	}
	w.pass(time.Millisecond)
	second := w.code(Developer, developer)
	w.settle()
	if mails := w.mails.Mails(developer); len(mails) != 2 {
		t.Fatalf("%d mails, want 2", len(mails))
	}
	if first != second { // equal by chance once in a million
		_, err := w.logIn(Developer, developer, first)
		wantKind(t, err, fault.BadCredential)
	}
	if _, err := w.logIn(Developer, developer, second); err != nil {
		t.Fatal(err)
	}
}

func TestParallelRequestsSendOneCode(t *testing.T) {
	w := newWorld(t)
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			if err := w.SendCode(t.Context(), Developer, developer, Program(home)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w.settle()
	if mails := w.mails.Mails(developer); len(mails) != 1 {
		t.Fatalf("%d mails, want 1", len(mails))
	}
}

func TestCodeIsGoodForItsAudienceAndAddressOnly(t *testing.T) {
	w := newWorld(t)
	code := w.code(Developer, admin)
	w.code(Admin, admin)
	w.code(Developer, developer)
	// Make the other rows hold the hash of the same digits in the first row's name.
	w.exec(`UPDATE sign_in_codes SET code_hash = $1`, w.hashCode(Developer, admin, code))
	_, err := w.logIn(Admin, admin, code)
	wantKind(t, err, fault.BadCredential)
	_, err = w.logIn(Developer, developer, code)
	wantKind(t, err, fault.BadCredential)
	if _, err = w.logIn(Developer, admin, code); err != nil {
		t.Fatal(err)
	}
}

func TestUnlistedAdministratorGetsTheSameAnswersAndNoMail(t *testing.T) {
	w := newWorld(t)
	const stranger = "stranger@example.com"
	code := w.code(Admin, admin)
	if err := w.SendCode(t.Context(), Admin, stranger, Program(home)); err != nil {
		t.Fatalf("another answer for an unlisted address: %v", err)
	}
	for try := range 7 {
		_, listed := w.logIn(Admin, admin, wrong(code))
		_, unlisted := w.logIn(Admin, stranger, wrong(code))
		var a, b *fault.Error
		if !errors.As(listed, &a) || !errors.As(unlisted, &b) || a.Kind != b.Kind || a.Message != b.Message || a.RetryAfter != b.RetryAfter {
			t.Fatalf("try %d: listed %v, unlisted %v", try+1, listed, unlisted)
		}
	}
	w.settle()
	if mails := w.mails.Mails(stranger); len(mails) != 0 {
		t.Fatalf("an unlisted address got %d mails", len(mails))
	}
}

func TestUnlistedAdministratorIsRefusedEvenWithTheRightCode(t *testing.T) {
	w := newWorld(t)
	const stranger = "stranger@example.com"
	if err := w.SendCode(t.Context(), Admin, stranger, Program(home)); err != nil {
		t.Fatal(err)
	}
	w.exec(`UPDATE sign_in_codes SET code_hash = $1`, w.hashCode(Admin, stranger, "123456"))
	_, err := w.logIn(Admin, stranger, "123456")
	wantKind(t, err, fault.BadCredential)
}

func TestDevelopersOfOtherDomainsGetTheSameAnswerAndNoMail(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.LoginEmailDomains = []string{"@Example.com"} })
	const outsider = "dev@sub.example.com"
	w.signIn(Developer, developer)
	if err := w.SendCode(t.Context(), Developer, outsider, Program(home)); err != nil {
		t.Fatal(err)
	}
	w.settle()
	if mails := w.mails.Mails(outsider); len(mails) != 0 {
		t.Fatalf("%d mails to another domain", len(mails))
	}
	w.exec(`UPDATE sign_in_codes SET code_hash = $1`, w.hashCode(Developer, outsider, "123456"))
	_, err := w.logIn(Developer, outsider, "123456")
	wantKind(t, err, fault.BadCredential)
}

func TestCodeWithoutRequestIsRefused(t *testing.T) {
	w := newWorld(t)
	_, err := w.logIn(Developer, developer, "123456")
	wantKind(t, err, fault.BadCredential)
	_, err = w.logIn(Developer, developer, "  ")
	wantKind(t, err, fault.Invalid)
	_, err = w.logIn(Developer, developer, strings.Repeat("9", 100_000)+"\x00")
	wantKind(t, err, fault.BadCredential)
}

func TestCodesAreStoredHashedUnderTheSecret(t *testing.T) {
	w := newWorld(t)
	code := w.code(Developer, developer)
	if n := w.number(`SELECT count(*) FROM sign_in_codes WHERE sign_in_codes::text LIKE '%' || $1 || '%'`, code); n != 0 {
		t.Fatal("the code is readable in its row")
	}
	other := w.node(func(c *Config) { c.JWTSecret = []byte("another secret, also of 32 bytes or more") })
	_, err := other.LogIn(t.Context(), Developer, developer, code, Program(home), agent)
	wantKind(t, err, fault.BadCredential)
}

func TestWhatIsNoEmailAddressIsInvalid(t *testing.T) {
	w := newWorld(t)
	for _, email := range []string{
		"", "a", "@", "a@", "@b", "a@b@c", "a b@c.d", "a@b c.d", "a@-b.c", "a@b..c", ".a@b.c", "a.@b.c", "a..b@c.d",
		"Name <a@b.c>", "a@b.c\r\nBcc: x@y.z", "a@b.c\x00", "a@[127.0.0.1]", `"a"@b.c`, "ä@b.c", "a@bücher.de", "a@b.c,d@e.f",
		strings.Repeat("a", 65) + "@b.c", "a@" + strings.Repeat("b.", 127) + "c",
	} {
		f := wantKind(t, w.SendCode(t.Context(), Developer, email, Program(home)), fault.Invalid)
		if f.Fields["email"] == "" {
			t.Errorf("%q: the field is not named", email)
		}
		_, err := w.logIn(Developer, email, "123456")
		wantKind(t, err, fault.Invalid)
	}
	for _, email := range []string{"a@b", "demo@callgate.local", "first.last+tag@sub.example.co", "o'neil@example.com"} {
		if _, ok := canonicalEmail(email); !ok {
			t.Errorf("%q refused", email)
		}
	}
}
