package application

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/audit"
	"callgate/internal/beijing"
	"callgate/internal/databasetest"
	"callgate/internal/fault"
	"callgate/internal/secret"
)

const actor = "dev@example.com"

func (w *world) more(owner, id uuid.UUID, name string) (Key, string) {
	w.T.Helper()
	k, key, err := w.CreateKey(w.Ctx, owner, id, actor, KeyEdit{Name: &name})
	if err != nil {
		w.T.Fatal(err)
	}
	return k, key
}

func (w *world) keys(owner, id uuid.UUID) []Key {
	w.T.Helper()
	keys, err := w.Keys(w.Ctx, owner, id)
	if err != nil {
		w.T.Fatal(err)
	}
	return keys
}

// expire makes a key one that expired some hours ago, which no edit can.
func (w *world) expire(k Key, hours int) {
	w.T.Helper()
	w.Exec(`UPDATE `+k.table()+` SET expires_at = now() - make_interval(hours => $2) WHERE id = $1`, k.ID, hours)
}

func names(keys []Key) (names []string) {
	for _, k := range keys {
		names = append(names, k.Name)
	}
	return names
}

func TestAnApplicationsKeysAreKeptApartAndReadInFullOneByOne(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, first := w.create(owner, "app")
	end := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	k, second, err := w.CreateKey(w.Ctx, owner, a.ID, actor, KeyEdit{
		Name: new("  Batch "), ExpiresAt: new(end.Format(time.RFC3339Nano)), AllowedCIDRs: &[]string{"192.0.2.7", "10.1.2.3/8", "10.0.0.0/8", "::ffff:198.51.100.0/120"},
	})
	if err != nil {
		t.Fatal(err)
	}
	networks := []netip.Prefix{netip.MustParsePrefix("192.0.2.7/32"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("198.51.100.0/24")}
	if k.First || k.Name != "Batch" || !k.ExpiresAt.Equal(end) || !slices.Equal(k.AllowedCIDRs, networks) || k.Mask != secret.Mask(second) || k.ID.Version() != 7 {
		t.Errorf("made %+v", k)
	}
	all := w.keys(owner, a.ID)
	if len(all) != 2 || !all[0].First || all[0].Mask != secret.Mask(first) || all[0].ExpiresAt != nil || len(all[0].AllowedCIDRs) != 0 || fmt.Sprint(all[1]) != fmt.Sprint(k) {
		t.Fatalf("listed %+v", all)
	}
	for i, want := range []string{first, second} {
		if got, err := w.RevealOneKey(w.Ctx, owner, a.ID, all[i].ID, actor); err != nil || got != want {
			t.Errorf("key %d is revealed as %q, %v", i, got, err)
		}
	}
	if got, err := w.RevealKey(w.Ctx, owner, a.ID, actor); err != nil || got != first {
		t.Errorf("the first key is revealed as %q, %v", got, err)
	}
	if n := w.Count(`SELECT count(*) FROM audit_log WHERE audit_log::text LIKE '%cg-%'`); n != 0 {
		t.Error("the audit log shows a key")
	}
}

func TestEveryWrongFieldOfAKeyIsNamed(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "app")
	many := make([]string, maxCIDRs+1)
	for i := range many {
		many[i] = fmt.Sprintf("192.0.2.%d", i)
	}
	for what, test := range map[string]struct {
		edit   KeyEdit
		fields []string
	}{
		"no name":            {KeyEdit{}, []string{"name"}},
		"all":                {KeyEdit{Name: new(" "), ExpiresAt: new("tomorrow"), AllowedCIDRs: &[]string{"10.0.0.0/8", "nowhere"}}, []string{"name", "expiresAt", "allowedCidrs"}},
		"expired":            {KeyEdit{Name: new("k"), ExpiresAt: new(time.Now().Add(-time.Second).Format(time.RFC3339))}, []string{"expiresAt"}},
		"for ever":           {KeyEdit{Name: new("k"), ExpiresAt: new("2100-01-01T00:00:00Z")}, []string{"expiresAt"}},
		"a zone":             {KeyEdit{Name: new("k"), AllowedCIDRs: &[]string{"fe80::1%eth0"}}, []string{"allowedCidrs"}},
		"more than IPv4":     {KeyEdit{Name: new("k"), AllowedCIDRs: &[]string{"::ffff:10.0.0.0/90"}}, []string{"allowedCidrs"}},
		"too many addresses": {KeyEdit{Name: new("k"), AllowedCIDRs: &many}, []string{"allowedCidrs"}},
	} {
		_, _, err := w.CreateKey(w.Ctx, owner, a.ID, actor, test.edit)
		t.Run(what, func(t *testing.T) { databasetest.MustFail(t, err, fault.Invalid, test.fields...) })
	}
}

func TestASixthKeyTakesThePlaceOfTheOneThatExpiredFirstOrIsRefused(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "app")
	made := map[string]Key{}
	for _, name := range []string{"a", "b", "c", "d"} {
		made[name], _ = w.more(owner, a.ID, name)
	}
	_, _, err := w.CreateKey(w.Ctx, owner, a.ID, actor, KeyEdit{Name: new("e")})
	databasetest.MustFail(t, err, fault.Conflict)
	_, err = w.RotateKey(w.Ctx, owner, a.ID, actor, time.Hour)
	databasetest.MustFail(t, err, fault.Conflict)
	if _, err := w.RotateKey(w.Ctx, owner, a.ID, actor, 0); err != nil {
		t.Errorf("without an overlap: %v", err)
	}
	w.expire(w.keys(owner, a.ID)[0], 9) // the first key is none that gives way
	_, _, err = w.CreateKey(w.Ctx, owner, a.ID, actor, KeyEdit{Name: new("e")})
	databasetest.MustFail(t, err, fault.Conflict)

	w.expire(made["b"], 1)
	w.expire(made["c"], 2)
	w.more(owner, a.ID, "e")
	if got := names(w.keys(owner, a.ID)); !slices.Equal(got, []string{"default", "a", "b", "d", "e"}) {
		t.Errorf("left are %v", got)
	}
	w.Exec(`UPDATE access_keys SET expires_at = NULL`)
	if _, err := w.RotateKey(w.Ctx, owner, a.ID, actor, time.Hour); err != nil {
		t.Errorf("with an overlap, where one has expired: %v", err)
	}
	if got := names(w.keys(owner, a.ID)); !slices.Equal(got, []string{"default", "a", "d", "default", "e"}) {
		t.Errorf("left are %v", got)
	}
	if n := w.Count(`SELECT count(*) FROM audit_log WHERE action = 'access_key.delete'`); n != 2 {
		t.Errorf("%d keys that gave way are in the trail", n)
	}
}

func TestHoweverManyAreMadeAtOnceAnApplicationHasFiveKeys(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "app")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			var err error
			if i%2 == 0 {
				_, err = w.RotateKey(w.Ctx, owner, a.ID, actor, time.Hour)
			} else {
				_, _, err = w.CreateKey(w.Ctx, owner, a.ID, actor, KeyEdit{Name: new("k")})
			}
			if err != nil && fault.KindOf(err) != fault.Conflict {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(w.keys(owner, a.ID)); n != MaxKeys {
		t.Errorf("%d keys", n)
	}
}

func TestTheOldKeyOfARotationStaysAsLongAsItWasSaidAndNoLongerThanItsOwnEnd(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, old := w.create(owner, "app")
	first := w.keys(owner, a.ID)[0]
	if _, err := w.UpdateKey(w.Ctx, owner, a.ID, first.ID, actor, KeyEdit{Name: new("Main"), AllowedCIDRs: &[]string{"10.0.0.0/8"}}); err != nil {
		t.Fatal(err)
	}
	key, err := w.RotateKey(w.Ctx, owner, a.ID, actor, 3*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	keys := w.keys(owner, a.ID)
	kept := keys[1]
	if len(keys) != 2 || keys[0].ID == first.ID || keys[0].Name != "Main" || keys[0].ExpiresAt != nil || len(keys[0].AllowedCIDRs) != 1 || keys[0].Mask != secret.Mask(key) {
		t.Errorf("the new key is %+v", keys[0])
	}
	if left := time.Until(*kept.ExpiresAt); kept.ID != first.ID || kept.Name != "Main" || len(kept.AllowedCIDRs) != 1 || !kept.CreatedAt.Equal(first.CreatedAt) || left < 179*time.Minute || left > 3*time.Hour {
		t.Errorf("the old key is %+v", kept)
	}
	if got, err := w.RevealOneKey(w.Ctx, owner, a.ID, kept.ID, actor); err != nil || got != old {
		t.Errorf("the old key is revealed as %q, %v", got, err)
	}
	rows, _, err := audit.List(w.Ctx, w.Pool, audit.Filter{}, 1, 10)
	if want := (audit.Changes{{Field: "accessKey", To: audit.Secret}, {Field: "oldKeyUntil", To: beijing.Format(*kept.ExpiresAt)}}); err != nil || rows[1].Action != "access_key.rotate" || fmt.Sprint(rows[1].Changes) != fmt.Sprint(want) {
		t.Errorf("the trail has %+v, %v", rows, err)
	}

	soon := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	if _, err := w.UpdateKey(w.Ctx, owner, a.ID, keys[0].ID, actor, KeyEdit{ExpiresAt: new(soon.Format(time.RFC3339Nano))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.RotateKey(w.Ctx, owner, a.ID, actor, MaxOverlap); err != nil {
		t.Fatal(err)
	}
	if keys = w.keys(owner, a.ID); len(keys) != 3 || !keys[0].ExpiresAt.Equal(soon) || !keys[2].ExpiresAt.Equal(soon) {
		t.Errorf("with an end to come: %+v", keys)
	}
	if keys[0].ReplacedAt != nil || keys[1].ReplacedAt == nil || keys[2].ReplacedAt == nil {
		t.Errorf("replaced: %+v", keys)
	}
	w.expire(keys[0], 1)
	if _, err := w.RotateKey(w.Ctx, owner, a.ID, actor, MaxOverlap); err != nil {
		t.Fatal(err)
	}
	if keys = w.keys(owner, a.ID); len(keys) != 3 || keys[0].ExpiresAt != nil {
		t.Errorf("after an end: %+v", keys)
	}
	_, err = w.RotateKey(w.Ctx, owner, a.ID, actor, MaxOverlap+1)
	databasetest.MustFail(t, err, fault.Invalid, "overlapHours")
}

func TestAKeyIsEditedAndDeletedByItselfAndTheFirstIsNeverDeleted(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "app")
	k, _ := w.more(owner, a.ID, "more")
	version := w.Count(`SELECT version FROM applications WHERE id = $1`, a.ID)
	end := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	edited, err := w.UpdateKey(w.Ctx, owner, a.ID, k.ID, actor, KeyEdit{ExpiresAt: new(end.Format(time.RFC3339Nano))}, k.UpdatedAt.Truncate(time.Millisecond))
	if err != nil || edited.Name != "more" || !edited.ExpiresAt.Equal(end) || !edited.UpdatedAt.After(k.UpdatedAt) {
		t.Fatalf("edited %+v, %v", edited, err)
	}
	if raised := w.Count(`SELECT version FROM applications WHERE id = $1`, a.ID); raised <= version || w.Count(`SELECT max(version) FROM access_changes WHERE application_id = $1`, a.ID) != raised {
		t.Error("the change feed was not told")
	}
	current, err := w.UpdateKey(w.Ctx, owner, a.ID, k.ID, actor, KeyEdit{Name: new("late")}, k.UpdatedAt.Truncate(time.Millisecond))
	if fault.KindOf(err) != fault.Changed || current.Name != "more" {
		t.Errorf("an editor who came late: %+v, %v", current, err)
	}
	if cleared, err := w.UpdateKey(w.Ctx, owner, a.ID, k.ID, actor, KeyEdit{ExpiresAt: new("")}); err != nil || cleared.ExpiresAt != nil {
		t.Errorf("without an end: %+v, %v", cleared, err)
	}
	before := w.Count(`SELECT count(*) FROM audit_log`)
	if _, err := w.UpdateKey(w.Ctx, owner, a.ID, k.ID, actor, KeyEdit{Name: new("more")}); err != nil || w.Count(`SELECT count(*) FROM audit_log`) != before {
		t.Errorf("an edit that changes nothing is recorded, %v", err)
	}
	b, _ := w.create(owner, "another")
	_, err = w.UpdateKey(w.Ctx, owner, b.ID, k.ID, actor, KeyEdit{Name: new("x")})
	databasetest.MustFail(t, err, fault.NotFound)

	databasetest.MustFail(t, w.DeleteKey(w.Ctx, owner, a.ID, w.keys(owner, a.ID)[0].ID, actor), fault.Conflict)
	if err := w.DeleteKey(w.Ctx, owner, a.ID, k.ID, actor); err != nil {
		t.Fatal(err)
	}
	databasetest.MustFail(t, w.DeleteKey(w.Ctx, owner, a.ID, k.ID, actor), fault.NotFound)
	w.more(owner, a.ID, "gone with it")
	if err := w.Delete(w.Ctx, owner, a.ID); err != nil {
		t.Fatal(err)
	}
	if n := w.Count(`SELECT count(*) FROM additional_access_keys`); n != 0 {
		t.Errorf("%d keys outlive their application", n)
	}
}

// TestTheVersionBeforeWritesAndReplacesFirstKeysOnThisSchema uses its statements.
func TestTheVersionBeforeWritesAndReplacesFirstKeysOnThisSchema(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	id, key, next := uuid.New(), pepper.Mint(), pepper.Mint()
	lookup, another := pepper.Lookup(key), pepper.Lookup(next)
	w.Exec(`INSERT INTO applications (id, owner_id, name, description) VALUES ($1, $2, 'app', '')`, id, owner)
	w.Exec(`INSERT INTO access_keys (application_id, lookup, sealed, mask) VALUES ($1, $2, $3, $4)`, id, lookup[:], w.seal(id, key), secret.Mask(key))
	before := w.keys(owner, id)
	if len(before) != 1 || !before[0].First || before[0].Name != "default" || before[0].ID == uuid.Nil {
		t.Fatalf("written by the version before: %+v", before)
	}
	w.expire(before[0], 1)
	w.Exec(`UPDATE access_keys SET lookup = $2, sealed = $3, mask = $4, created_at = clock_timestamp() WHERE application_id = $1`,
		id, another[:], w.seal(id, next), secret.Mask(next))
	after := w.keys(owner, id)
	if after[0].ID == before[0].ID || after[0].ExpiresAt != nil || !after[0].UpdatedAt.After(before[0].UpdatedAt) {
		t.Errorf("replaced by the version before: %+v", after)
	}
	if revealed, err := w.RevealKey(w.Ctx, owner, id, actor); err != nil || revealed != next {
		t.Errorf("revealed as %q, %v", revealed, err)
	}
}
