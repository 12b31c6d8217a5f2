package identity

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/audit"
	"callgate/internal/fault"
)

func TestAllSessionsOfAUserEndAtOnceAndNobodyElses(t *testing.T) {
	w := newWorld(t)
	one, two := w.signIn(Developer, developer), w.signIn(Developer, developer)
	other, desk := w.signIn(Developer, "other@example.com"), w.signIn(Admin, admin)
	elsewhere := w.node()
	for range 2 { // the second time there are none
		u, err := w.EndSessions(t.Context(), admin, one.Principal.UserID)
		if err != nil || u.Sessions != 0 || u.Email != developer || u.LastSignInAt == nil {
			t.Fatalf("%+v, %v", u, err)
		}
	}
	for _, in := range []SignIn{one, two} {
		w.refused(Developer, in.Token.Value, fault.BadCredential)
		_, err := elsewhere.VerifyToken(t.Context(), Developer, in.Token.Value)
		wantKind(t, err, fault.BadCredential)
		_, _, err = elsewhere.Renew(t.Context(), Developer, in.SessionToken)
		wantKind(t, err, fault.BadCredential)
	}
	w.accepted(Developer, other.Token.Value)
	w.accepted(Admin, desk.Token.Value)
	w.accepted(Developer, w.signIn(Developer, developer).Token.Value)
	rows, total, err := audit.List(t.Context(), w.pool, audit.Filter{Action: "user."}, 1, 10)
	if err != nil || total != 1 || rows[0].Actor != admin || rows[0].Action != "user.end_sessions" || rows[0].TargetID != one.Principal.UserID.String() ||
		rows[0].TargetName != developer || len(rows[0].Changes) != 1 || rows[0].Changes[0].From != 2.0 || rows[0].Changes[0].To != 0.0 {
		t.Errorf("%d, %+v, %v", total, rows, err)
	}
	_, err = w.EndSessions(t.Context(), admin, uuid.New())
	wantKind(t, err, fault.NotFound)
}

func TestUsersAreListedWithTheirSessionsAndTheirLastSignIn(t *testing.T) {
	w := newWorld(t)
	w.signIn(Developer, "ada@example.com")
	w.pass(time.Hour)
	last := w.clock()
	in := w.signIn(Developer, "ada@example.com")
	w.signIn(Developer, "bob@example.com")
	w.exec(`INSERT INTO users (id, email) VALUES ($1, 'company@example.com')`, uuid.New())
	w.exec(`INSERT INTO applications (id, owner_id, name) VALUES ($1, $2, 'a'), ($3, $2, 'b')`, uuid.New(), in.Principal.UserID, uuid.New())
	users, total, err := w.Users(t.Context(), "", 1, 10)
	if err != nil || total != 3 || len(users) != 3 || users[0].Email != "ada@example.com" || users[2].Email != "company@example.com" {
		t.Fatalf("%+v, %d, %v", users, total, err)
	}
	if ada := users[0]; ada.Sessions != 2 || ada.Applications != 2 || ada.LastSignInAt == nil || !ada.LastSignInAt.Equal(last) {
		t.Errorf("%+v, last %s", ada, last)
	}
	if company := users[2]; company.Sessions != 0 || company.LastSignInAt != nil {
		t.Errorf("%+v", company)
	}

	// Sessions are forgotten, and that somebody signed in is not.
	w.pass(100 * day)
	if err := w.purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	users, total, err = w.Users(t.Context(), " ADA@", 1, 10)
	if err != nil || total != 1 || users[0].Sessions != 0 || !users[0].LastSignInAt.Equal(last) || w.number(`SELECT count(*) FROM sessions`) != 0 {
		t.Errorf("%+v, %d, %v", users, total, err)
	}
	if users, total, err = w.Users(t.Context(), "", 3, 2); err != nil || total != 3 || len(users) != 0 {
		t.Errorf("past the end: %+v, %d, %v", users, total, err)
	}
	_, _, err = w.Users(t.Context(), strings.Repeat("x", 65), 1, 10)
	wantKind(t, err, fault.Invalid)
}
