package application

import (
	"encoding/base64"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"callgate/internal/secret"
)

func ring(t *testing.T, ids ...string) *secret.Keyring {
	t.Helper()
	keys := map[string]string{"test": strings.Repeat("\x00", 32), "new": strings.Repeat("n", 32)}
	var list []string
	for _, id := range ids {
		list = append(list, id+":"+base64.StdEncoding.EncodeToString([]byte(keys[id])))
	}
	k, err := secret.ParseKeyring(strings.Join(list, ","))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestEveryAccessKeyIsResealedWhileOthersRotateAndNoVersionRises(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	keys := map[string]string{}
	const applications = 450 // several batches
	for range applications {
		a, key := w.create(owner, "App")
		keys[a.ID.String()] = key
	}
	versions := `SELECT sum(version)::bigint FROM applications`
	told := `SELECT count(*) FROM access_changes`
	versionsBefore, toldBefore := w.Count(versions), w.Count(told)

	both := ring(t, "new", "test")
	total := make(chan secret.Resealing, 3)
	var running sync.WaitGroup
	for range cap(total) {
		running.Go(func() {
			done, err := both.Reseal(w.Ctx, w.Pool, secret.AccessKeys, func(int) {}, slog.New(slog.DiscardHandler))
			if err != nil || done.Unopened != 0 || done.Left != 0 {
				t.Errorf("%+v, %v", done, err)
			}
			total <- done
		})
	}
	running.Wait()
	close(total)
	resealed := 0
	for done := range total {
		resealed += done.Sealed
	}
	if resealed != applications {
		t.Errorf("%d values sealed again by three processes, want %d", resealed, applications)
	}
	if v, n := w.Count(versions), w.Count(told); v != versionsBefore || n != toldBefore {
		t.Errorf("versions went from %d to %d, changes told from %d to %d", versionsBefore, v, toldBefore, n)
	}
	only := New(w.Pool, ring(t, "new"), pepper)
	list, _, err := only.List(w.Ctx, owner, 1, applications)
	if err != nil || len(list) != applications {
		t.Fatalf("%d applications, %v", len(list), err)
	}
	for _, a := range list[:20] {
		if key, err := only.RevealKey(w.Ctx, owner, a.ID, "dev@example.com"); err != nil || key != keys[a.ID.String()] {
			t.Errorf("revealed %q, %v", key, err)
		}
	}
	if again, err := both.Reseal(w.Ctx, w.Pool, secret.AccessKeys, func(int) {}, slog.New(slog.DiscardHandler)); err != nil || again != (secret.Resealing{}) {
		t.Errorf("once more: %+v, %v", again, err)
	}
}

func TestAKeyRotatedDuringResealingKeepsItsNewValue(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "App")
	both := ring(t, "new", "test")
	tx, err := w.Pool.Begin(w.Ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(w.Ctx) }()
	// A process with the keys in the old order rotates, and has not committed yet.
	sealed := ring(t, "test", "new").Seal([]byte("cg-fresh"), secret.AccessKeyContext(a.ID.String()))
	if _, err := tx.Exec(w.Ctx, `UPDATE access_keys SET sealed = $2 WHERE application_id = $1`, a.ID, sealed); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		done, err := both.Reseal(w.Ctx, w.Pool, secret.AccessKeys, func(int) {}, slog.New(slog.DiscardHandler))
		if err != nil || done.Sealed+done.Left != 1 {
			t.Errorf("%+v, %v", done, err)
		}
	})
	if err := tx.Commit(w.Ctx); err != nil {
		t.Fatal(err)
	}
	running.Wait()
	if key, err := New(w.Pool, both, pepper).RevealKey(w.Ctx, owner, a.ID, "dev@example.com"); err != nil || key != "cg-fresh" {
		t.Errorf("revealed %q, %v", key, err)
	}
}

func TestWhatCannotBeOpenedIsCountedAndLeftAsItIs(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	good, _ := w.create(owner, "Good")
	bad, _ := w.create(owner, "Bad")
	w.Exec(`UPDATE access_keys SET sealed = '\x0102' WHERE application_id = $1`, bad.ID)
	done, err := ring(t, "new", "test").Reseal(w.Ctx, w.Pool, secret.AccessKeys, func(int) {}, slog.New(slog.DiscardHandler))
	if err != nil || done != (secret.Resealing{Sealed: 1, Unopened: 1}) {
		t.Errorf("%+v, %v", done, err)
	}
	if n := w.Count(`SELECT count(*) FROM access_keys WHERE application_id = $1 AND sealed = '\x0102'`, bad.ID); n != 1 {
		t.Error("the damaged value was changed")
	}
	only := New(w.Pool, ring(t, "new"), pepper)
	if _, err := only.RevealKey(w.Ctx, owner, good.ID, "dev@example.com"); err != nil {
		t.Error(err)
	}
	done, err = ring(t, "new").Reseal(w.Ctx, w.Pool, secret.UpstreamKeys, func(int) {}, slog.New(slog.DiscardHandler))
	if err != nil || done.Unopened != 4 || done.Left != 0 { // the fixture's capabilities hold no sealed value
		t.Errorf("%+v, %v", done, err)
	}
}

func TestAdditionalKeysAreResealedAndRaiseNoVersion(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "app")
	k, key := w.more(owner, a.ID, "more")
	version := w.Count(`SELECT version FROM applications WHERE id = $1`, a.ID)
	done, err := ring(t, "new", "test").Reseal(w.Ctx, w.Pool, secret.AdditionalKeys, func(int) {}, slog.New(slog.DiscardHandler))
	if err != nil || done != (secret.Resealing{Sealed: 1}) {
		t.Errorf("%+v, %v", done, err)
	}
	if revealed, err := New(w.Pool, ring(t, "new"), pepper).RevealOneKey(w.Ctx, owner, a.ID, k.ID, actor); err != nil || revealed != key {
		t.Errorf("revealed as %q, %v", revealed, err)
	}
	if w.Count(`SELECT version FROM applications WHERE id = $1`, a.ID) != version {
		t.Error("the version rose")
	}
}
