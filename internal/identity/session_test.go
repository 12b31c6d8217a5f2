package identity

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"callgate/internal/fault"
)

func TestEndedSessionTakesItsTokensWithIt(t *testing.T) {
	for name, end := range map[string]func(*world, SignIn) error{
		"sign out": func(w *world, in SignIn) error { return w.LogOut(w.t.Context(), Developer, in.SessionToken) },
		"ended from the list": func(w *world, in SignIn) error {
			return w.EndSession(w.t.Context(), in.Principal.UserID, in.Principal.SessionID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			in, other := w.signIn(Developer, developer), w.signIn(Developer, developer)
			renewed, _, err := w.Renew(t.Context(), Developer, in.SessionToken)
			if err != nil {
				t.Fatal(err)
			}
			if err := end(w, in); err != nil {
				t.Fatal(err)
			}
			elsewhere := w.node()
			for _, token := range []string{in.Token.Value, renewed.Value} {
				w.refused(Developer, token, fault.BadCredential)
				w.refused(Admin, token, fault.BadCredential)
				_, err := elsewhere.VerifyToken(t.Context(), Developer, token)
				wantKind(t, err, fault.BadCredential)
			}
			_, err = w.VerifySession(t.Context(), Developer, in.SessionToken)
			wantKind(t, err, fault.BadCredential)
			_, _, err = w.Renew(t.Context(), Developer, in.SessionToken)
			wantKind(t, err, fault.BadCredential)
			if err := end(w, in); err == nil {
				t.Fatal("ended twice")
			}
			w.accepted(Developer, other.Token.Value)
		})
	}
}

func TestSessionLivesThirtyDaysForDevelopersAndTwelveHoursForAdministrators(t *testing.T) {
	for audience, want := range map[Audience]time.Duration{Developer: 30 * day, Admin: 12 * time.Hour} {
		w := newWorld(t)
		in := w.signIn(audience, admin)
		if got := in.SessionExpires.Sub(w.clock()); got != want {
			t.Fatalf("%s lives %v", audience, got)
		}
		w.pass(want - time.Second)
		if who, err := w.VerifySession(t.Context(), audience, in.SessionToken); err != nil || who != in.Principal {
			t.Fatalf("a second before its end: %+v, %v", who, err)
		}
		w.pass(time.Second)
		_, err := w.VerifySession(t.Context(), audience, in.SessionToken)
		wantKind(t, err, fault.BadCredential)
	}
}

func TestSessionTokensAreStoredAsHashes(t *testing.T) {
	w := newWorld(t)
	in := w.signIn(Developer, developer)
	if len(in.SessionToken) != sessionTokenSize {
		t.Fatalf("token of %d characters", len(in.SessionToken))
	}
	if n := w.number(`SELECT count(*) FROM sessions WHERE sessions::text LIKE '%' || $1 || '%'`, in.SessionToken); n != 0 {
		t.Fatal("the token is readable in its row")
	}
}

func TestForgedSessionTokensAreRefused(t *testing.T) {
	w := newWorld(t)
	in := w.signIn(Developer, developer)
	last := "A"
	if strings.HasSuffix(in.SessionToken, "A") {
		last = "E"
	}
	for _, token := range []string{
		in.SessionToken[:42], in.SessionToken[:42] + last, in.SessionToken + "A", strings.Repeat("A", 43),
		strings.Repeat("x", 1<<20), in.Token.Value, in.Principal.SessionID.String(), "\x00", "'; --",
	} {
		_, err := w.VerifySession(t.Context(), Developer, token)
		wantKind(t, err, fault.BadCredential)
		wantKind(t, w.LogOut(t.Context(), Developer, token), fault.BadCredential)
	}
	_, err := w.VerifySession(t.Context(), Developer, "")
	wantKind(t, err, fault.Unauthenticated)
	wantKind(t, w.LogOut(t.Context(), Developer, ""), fault.Unauthenticated)
}

func TestUseOfASessionIsNotedAtMostOnceAMinute(t *testing.T) {
	w := newWorld(t)
	in := w.signIn(Developer, developer)
	lastUsed := func() time.Time {
		t.Helper()
		sessions, err := w.Sessions(t.Context(), in.Principal.UserID, in.Principal.SessionID)
		if err != nil || len(sessions) != 1 {
			t.Fatalf("%v, %v", sessions, err)
		}
		return sessions[0].LastUsedAt
	}
	start := w.clock()
	w.pass(time.Minute - time.Microsecond)
	w.accepted(Developer, in.Token.Value)
	if !lastUsed().Equal(start) {
		t.Fatal("noted again within the minute")
	}
	w.pass(time.Microsecond)
	w.accepted(Developer, in.Token.Value)
	if !lastUsed().Equal(w.clock()) {
		t.Fatal("not noted after a minute")
	}
}

func TestSessionsAreListedForTheirOwnerLastUsedFirst(t *testing.T) {
	w := newWorld(t)
	first := w.signIn(Developer, developer)
	w.pass(time.Minute)
	second := w.signIn(Developer, developer)
	ended := w.signIn(Developer, developer)
	w.signIn(Developer, "other@example.com")
	w.signIn(Admin, admin)
	if err := w.LogOut(t.Context(), Developer, ended.SessionToken); err != nil {
		t.Fatal(err)
	}
	got, err := w.Sessions(t.Context(), first.Principal.UserID, first.Principal.SessionID)
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	if got[0].ID != second.Principal.SessionID || got[0].Current || got[1].ID != first.Principal.SessionID || !got[1].Current {
		t.Fatalf("sessions %+v", got)
	}
	if got[0].UserAgent != agent || !got[0].CreatedAt.Equal(w.clock()) {
		t.Fatalf("session %+v", got[0])
	}
	w.pass(30*day - time.Minute)
	if got, err = w.Sessions(t.Context(), first.Principal.UserID, first.Principal.SessionID); err != nil || len(got) != 1 {
		t.Fatalf("expired sessions are listed: %v, %v", got, err)
	}
}

func TestSomebodyElsesSessionIsAnsweredAsAnAbsentOne(t *testing.T) {
	w := newWorld(t)
	mine, theirs := w.signIn(Developer, developer), w.signIn(Developer, "other@example.com")
	root := w.signIn(Admin, admin)
	absent := w.EndSession(t.Context(), mine.Principal.UserID, uuid.New())
	wantKind(t, absent, fault.NotFound)
	for _, id := range []uuid.UUID{theirs.Principal.SessionID, root.Principal.SessionID} {
		if err := w.EndSession(t.Context(), mine.Principal.UserID, id); err == nil || err.Error() != absent.Error() {
			t.Fatalf("got %v, want %v", err, absent)
		}
	}
	wantKind(t, w.EndSession(t.Context(), uuid.Nil, root.Principal.SessionID), fault.NotFound)
	w.accepted(Developer, theirs.Token.Value)
	w.accepted(Admin, root.Token.Value)
}

func TestUserAgentIsStoredPrintableAndShort(t *testing.T) {
	w := newWorld(t)
	in, err := w.LogIn(t.Context(), Developer, developer, w.code(Developer, developer), Program(home),
		"curl\x00/8\xff\r\n\x1b[31m浏览器"+strings.Repeat("é", 1000))
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := w.Sessions(t.Context(), in.Principal.UserID, in.Principal.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	got := sessions[0].UserAgent
	if !strings.HasPrefix(got, "curl/8[31m浏览器é") || utf8.RuneCountInString(got) != maxUserAgent {
		t.Fatalf("user agent %q", got)
	}
}
