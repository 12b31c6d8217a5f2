package identity

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/fault"
	"callgate/internal/secret"
)

const ahead = 24 * time.Hour

func (w *world) draft(name string, access Access, lifetime time.Duration) ManagementTokenDraft {
	return ManagementTokenDraft{Name: name, Access: string(access), ExpiresAt: w.clock().Add(lifetime).Format(time.RFC3339)}
}

// managementToken makes one that lives for a day.
func (w *world) managementToken(who Principal, name string, access Access) (ManagementToken, string) {
	w.t.Helper()
	made, token, err := w.CreateManagementToken(w.t.Context(), who, w.draft(name, access, ahead))
	if err != nil {
		w.t.Fatal(err)
	}
	return made, token
}

func (w *world) refuses(on *Service, token string) {
	w.t.Helper()
	_, err := on.VerifyToken(w.t.Context(), Developer, token)
	wantKind(w.t, err, fault.BadCredential)
}

func TestAManagementTokenSpeaksForItsOwnerWithinItsAccess(t *testing.T) {
	w := newWorld(t)
	owner := w.signIn(Developer, developer).Principal
	for _, access := range []Access{ReadAccess, FullAccess} {
		made, token := w.managementToken(owner, "  Nightly  ", access)
		if made.Name != "Nightly" || made.Access != access || made.Mask != secret.MaskToken(token) || made.LastUsedAt != nil || !made.ExpiresAt.Equal(w.clock().Add(ahead)) {
			t.Errorf("made %+v", made)
		}
		who, err := w.VerifyToken(t.Context(), Developer, token)
		if want := (Principal{UserID: owner.UserID, Email: developer, Audience: Developer, Access: access}); err != nil || who != want {
			t.Errorf("%+v, %v, want %+v", who, err, want)
		}
		_, err = w.VerifyToken(t.Context(), Admin, token)
		wantKind(t, err, fault.NotAdministrator)
	}
	if in := w.signIn(Developer, developer).Principal; in.Access != "" {
		t.Errorf("somebody who signs in has access %q", in.Access)
	}
}

func TestOfAManagementTokenOnlyAKeyedHashIsKept(t *testing.T) {
	w := newWorld(t)
	owner := w.signIn(Developer, developer).Principal
	_, token := w.managementToken(owner, "Nightly", FullAccess)
	lookup := make([]byte, 0, 32)
	if err := w.pool.QueryRow(t.Context(), `SELECT lookup FROM management_tokens`).Scan(&lookup); err != nil {
		t.Fatal(err)
	}
	if want := secret.Pepper(make([]byte, 32)).Lookup(token); !bytes.Equal(lookup, want[:]) {
		t.Error("what is kept is not the hash under the pepper")
	}
	for _, table := range []string{"management_tokens", "audit_log"} {
		found := w.number(`SELECT count(*) FROM `+table+` AS kept WHERE position($1 in kept::text) > 0`, strings.TrimPrefix(token, "cgm-"))
		if rows := w.number(`SELECT count(*) FROM ` + table); found != 0 || rows == 0 {
			t.Errorf("the token is in %d of %d rows of %s", found, rows, table)
		}
	}
	w.refuses(w.node(func(c *Config) { c.Pepper = bytes.Repeat([]byte{1}, 32) }), token)
}

func TestAManagementTokenEndsAtItsEndAndEverywhereAtOnceWhenRevoked(t *testing.T) {
	w := newWorld(t)
	other := w.node()
	owner := w.signIn(Developer, developer).Principal
	_, short := w.managementToken(owner, "Short", FullAccess)
	w.pass(ahead - time.Second)
	long, token := w.managementToken(owner, "Long", FullAccess)
	for _, node := range []*Service{w.Service, other} {
		for _, lives := range []string{short, token} {
			if _, err := node.VerifyToken(t.Context(), Developer, lives); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.pass(time.Second)
	w.refuses(w.Service, short)
	w.refuses(other, short)
	if err := other.RevokeManagementToken(t.Context(), owner, long.ID); err != nil {
		t.Fatal(err)
	}
	w.refuses(w.Service, token)
	w.refuses(other, token)
	wantKind(t, w.RevokeManagementToken(t.Context(), owner, long.ID), fault.NotFound)
}

func TestTheEndOfSessionsLeavesManagementTokensAndTheEndOfAnAddressDoesNot(t *testing.T) {
	w := newWorld(t)
	in := w.signIn(Developer, developer)
	_, token := w.managementToken(in.Principal, "Nightly", ReadAccess)
	if err := w.LogOut(t.Context(), Developer, in.SessionToken); err != nil {
		t.Fatal(err)
	}
	w.signIn(Developer, developer)
	if _, err := w.EndSessions(t.Context(), admin, in.Principal.UserID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.VerifyToken(t.Context(), Developer, token); err != nil {
		t.Error(err)
	}
	w.refuses(w.node(func(c *Config) { c.LoginEmailDomains = []string{"elsewhere.example"} }), token)
}

func TestUnknownAndMalformedManagementTokensAreRefused(t *testing.T) {
	w := newWorld(t)
	owner := w.signIn(Developer, developer).Principal
	_, token := w.managementToken(owner, "Nightly", ReadAccess)
	unknown := secret.Pepper(make([]byte, 32)).MintToken()
	for _, wrong := range []string{"cgm-", token[:len(token)-1], token + "x", strings.ToUpper(token), "cgm-" + strings.Repeat("a", 1<<16), unknown, "cgm-\x00"} {
		w.refuses(w.Service, wrong)
	}
	// Without the database: what is no token under the pepper is not looked up.
	w.pool.Close()
	w.refuses(w.Service, "cgm-"+strings.Repeat("a", 49))
	if _, err := w.VerifyToken(t.Context(), Developer, unknown); fault.KindOf(err) == fault.BadCredential {
		t.Error("a well-formed token was judged without the database")
	}
}

func TestTheUseOfAManagementTokenIsNotedOnceAMinute(t *testing.T) {
	w := newWorld(t)
	owner := w.signIn(Developer, developer).Principal
	_, token := w.managementToken(owner, "Nightly", ReadAccess)
	w.exec(`
		CREATE TABLE notes (at timestamptz);
		CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO notes VALUES (NEW.last_used_at); RETURN NULL; END $$;
		CREATE TRIGGER note AFTER UPDATE ON management_tokens FOR EACH ROW EXECUTE FUNCTION note();`)
	for range 3 {
		for _, step := range []time.Duration{30 * time.Second, 31 * time.Second} {
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if _, err := w.VerifyToken(t.Context(), Developer, token); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			tokens, err := w.ManagementTokens(t.Context(), owner.UserID)
			if err != nil || len(tokens) != 1 || tokens[0].LastUsedAt == nil || w.clock().Sub(*tokens[0].LastUsedAt) >= time.Minute {
				t.Fatalf("%+v, %v", tokens, err)
			}
			w.pass(step)
		}
	}
	if n := w.number(`SELECT count(*) FROM notes`); n != 3 {
		t.Errorf("noted %d times in three minutes, want 3", n)
	}
}

func TestEveryWrongFieldOfAManagementTokenIsNamed(t *testing.T) {
	w := newWorld(t)
	owner := w.signIn(Developer, developer).Principal
	at := func(d time.Duration) string { return w.clock().Add(d).Format(time.RFC3339) }
	for name, c := range map[string]struct {
		draft ManagementTokenDraft
		wrong []string
	}{
		"nothing":                {ManagementTokenDraft{}, []string{"access", "expiresAt", "name"}},
		"spaces":                 {ManagementTokenDraft{"  ", "read", at(ahead)}, []string{"name"}},
		"a name of 65":           {ManagementTokenDraft{strings.Repeat("é", 65), "read", at(ahead)}, []string{"name"}},
		"a name that turns":      {ManagementTokenDraft{"a\u202eb", "read", at(ahead)}, []string{"name"}},
		"another access":         {ManagementTokenDraft{"a", "FULL", at(ahead)}, []string{"access"}},
		"no time":                {ManagementTokenDraft{"a", "read", "tomorrow"}, []string{"expiresAt"}},
		"now":                    {ManagementTokenDraft{"a", "read", at(0)}, []string{"expiresAt"}},
		"more than a year ahead": {ManagementTokenDraft{"a", "read", at(366*24*time.Hour + time.Second)}, []string{"expiresAt"}},
		"all a year ahead":       {ManagementTokenDraft{strings.Repeat("é", 64), "full", at(366 * 24 * time.Hour)}, nil},
	} {
		_, _, err := w.CreateManagementToken(t.Context(), owner, c.draft)
		var f *fault.Error
		if errors.As(err, &f); (f == nil) != (c.wrong == nil) || f != nil && !slices.Equal(slices.Sorted(maps.Keys(f.Fields)), c.wrong) {
			t.Errorf("%s: %v, want %v", name, err, c.wrong)
		}
	}
}

func TestAnAccountHasTwentyManagementTokensAndTheExpiredOneMakesRoom(t *testing.T) {
	w := newWorld(t)
	owner, other := w.signIn(Developer, developer).Principal, w.signIn(Developer, "other@example.com").Principal
	for i, lifetime := range []time.Duration{2 * time.Hour, time.Hour} {
		if _, _, err := w.CreateManagementToken(t.Context(), owner, w.draft(fmt.Sprint("short ", i), ReadAccess, lifetime)); err != nil {
			t.Fatal(err)
		}
	}
	var made atomic.Int64
	var all sync.WaitGroup
	for i := range 24 { // at once, so that the last place goes to one
		all.Go(func() {
			_, _, err := w.CreateManagementToken(t.Context(), owner, w.draft(fmt.Sprint(i), ReadAccess, ahead))
			if err == nil {
				made.Add(1)
			} else if fault.KindOf(err) != fault.Conflict {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made.Load() != maxManagementTokens-2 {
		t.Fatalf("%d were made beside two", made.Load())
	}
	w.managementToken(other, "Theirs", ReadAccess)
	w.pass(2 * time.Hour)
	w.managementToken(owner, "In its place", ReadAccess)
	tokens, err := w.ManagementTokens(t.Context(), owner.UserID)
	if err != nil || len(tokens) != maxManagementTokens || tokens[0].Name != "In its place" {
		t.Fatalf("%d tokens, %v", len(tokens), err)
	}
	if slices.ContainsFunc(tokens, func(t ManagementToken) bool { return t.Name == "short 1" }) || !slices.ContainsFunc(tokens, func(t ManagementToken) bool { return t.Name == "short 0" }) {
		t.Error("not the one that expired first has gone")
	}
	var said []string
	rows, err := w.pool.Query(t.Context(), `SELECT actor || ' ' || action || ' ' || target_name FROM audit_log WHERE action = 'token.revoke'`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		said = append(said, line)
	}
	if !slices.Equal(said, []string{developer + " token.revoke short 1"}) {
		t.Errorf("recorded %q", said)
	}
}

func TestManagementTokensAreTheirOwnersAlone(t *testing.T) {
	w := newWorld(t)
	owner, other := w.signIn(Developer, developer).Principal, w.signIn(Developer, "other@example.com").Principal
	made, token := w.managementToken(owner, "Nightly", ReadAccess)
	for _, id := range []uuid.UUID{made.ID, uuid.New()} {
		wantKind(t, w.RevokeManagementToken(t.Context(), other, id), fault.NotFound)
	}
	if tokens, err := w.ManagementTokens(t.Context(), other.UserID); err != nil || len(tokens) != 0 {
		t.Errorf("another user sees %v, %v", tokens, err)
	}
	if _, err := w.VerifyToken(t.Context(), Developer, token); err != nil {
		t.Error(err)
	}
}
