package application

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"callgate/internal/audit"
	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

func TestStatusSwitchesAreIdempotent(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "app")
	off, err := w.SetStatus(w.Ctx, owner, a.ID, Disabled)
	if err != nil || off.Status != Disabled {
		t.Fatalf("disabled: %+v, %v", off, err)
	}
	version := w.Count(`SELECT version FROM applications WHERE id = $1`, a.ID)
	again, err := w.SetStatus(w.Ctx, owner, a.ID, Disabled)
	if err != nil || fmt.Sprint(again) != fmt.Sprint(off) || w.Count(`SELECT version FROM applications WHERE id = $1`, a.ID) != version {
		t.Fatalf("disabled again: %+v, %v", again, err)
	}
	if on, err := w.SetStatus(w.Ctx, owner, a.ID, Active); err != nil || on.Status != Active {
		t.Fatalf("enabled: %+v, %v", on, err)
	}
}

func TestRotatedKeyReplacesTheOldOneAndBothReadersAreRecorded(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, old := w.create(owner, "app")
	version := w.Count(`SELECT version FROM applications WHERE id = $1`, a.ID)
	if key, err := w.RevealKey(w.Ctx, owner, a.ID, "reader@example.com"); err != nil || key != old {
		t.Fatalf("revealed %v", err)
	}
	key, err := w.RotateKey(w.Ctx, owner, a.ID, "rotator@example.com", 0)
	if err != nil || key == old || !pepper.WellFormed(key) {
		t.Fatalf("rotated to %q, %v", key, err)
	}
	if revealed, err := w.RevealKey(w.Ctx, owner, a.ID, "reader@example.com"); err != nil || revealed != key {
		t.Fatalf("revealed after the rotation: %v", err)
	}
	lookup := pepper.Lookup(old)
	if n := w.Count(`SELECT count(*) FROM access_keys WHERE lookup = $1`, lookup[:]); n != 0 {
		t.Fatal("the old key is still known")
	}
	if w.Count(`SELECT version FROM applications WHERE id = $1`, a.ID) <= version {
		t.Fatal("the version did not rise")
	}
	rows, total, err := audit.List(w.Ctx, w.Pool, audit.Filter{}, 1, 10)
	if err != nil || total != 4 || len(rows) != 4 { // the creation first
		t.Fatalf("audit: %v, %d, %v", rows, total, err)
	}
	rotation := rows[1]
	if rotation.Action != "access_key.rotate" || rotation.Actor != "rotator@example.com" || rotation.TargetID != a.ID.String() ||
		rotation.TargetName != "app" || !slices.Equal(rotation.Changes, audit.Changes{{Field: "accessKey", To: audit.Secret}}) {
		t.Fatalf("rotation recorded as %+v", rotation)
	}
	if rows[0].Action != "access_key.reveal" || rows[2].Actor != "reader@example.com" {
		t.Fatalf("reveals recorded as %+v, %+v", rows[0], rows[2])
	}
	if n := w.Count(`SELECT count(*) FROM audit_log WHERE audit_log::text LIKE '%cg-%'`); n != 0 {
		t.Fatal("the audit log shows a key")
	}
}

func TestAKeyMovedToAnotherApplicationDoesNotOpen(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "a")
	b, _ := w.create(owner, "b")
	w.Exec(`UPDATE access_keys SET sealed = (SELECT sealed FROM access_keys WHERE application_id = $1) WHERE application_id = $2`, a.ID, b.ID)
	if key, err := w.RevealKey(w.Ctx, owner, b.ID, "x@example.com"); err == nil || key != "" || fault.KindOf(err) != fault.Internal {
		t.Fatalf("revealed %q, %v", key, err)
	}
	if n := w.Count(`SELECT count(*) FROM audit_log WHERE action = 'access_key.reveal'`); n != 0 {
		t.Fatal("a reveal that failed was recorded")
	}
}

func TestDeletedApplicationIsGoneAndLeavesATombstone(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "app", "a", "b")
	if err := w.Delete(w.Ctx, owner, a.ID); err != nil {
		t.Fatal(err)
	}
	_, err := w.Get(w.Ctx, owner, a.ID)
	databasetest.MustFail(t, err, fault.NotFound)
	databasetest.MustFail(t, w.Delete(w.Ctx, owner, a.ID), fault.NotFound)
	if n := w.Count(`SELECT (SELECT count(*) FROM access_keys) + (SELECT count(*) FROM application_capabilities)`); n != 0 {
		t.Fatalf("%d keys or bindings are left", n)
	}
	if n := w.Count(`SELECT count(*) FROM deleted_applications WHERE id = $1 AND owner_id = $2`, a.ID, owner); n != 1 {
		t.Fatal("no tombstone")
	}
}

// Each of 200 concurrent edits is one of: bind a, bind b, bind c, rename, rewrite the set to what
// it would be anyway. None may be lost, deadlock or fail.
func TestTwoHundredConcurrentEditsLoseNothing(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "app")
	var edits errgroup.Group
	edits.SetLimit(16)
	for i := range 200 {
		edits.Go(func() error {
			var err error
			switch i % 4 {
			case 3:
				_, err = w.Update(w.Ctx, owner, a.ID, Patch{Description: new(fmt.Sprint(i))})
			default:
				_, err = w.Bind(w.Ctx, owner, a.ID, string(rune('a'+i%4)))
			}
			return err
		})
	}
	if err := edits.Wait(); err != nil {
		t.Fatal(err)
	}
	got, err := w.Get(w.Ctx, owner, a.ID)
	if err != nil || !slices.Equal(got.CapabilityIDs, []string{"a", "b", "c"}) || got.Description == "" {
		t.Fatalf("after the edits: %+v, %v", got, err)
	}
}

func TestConcurrentCompleteSetsEndAsOneOfThem(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "app", "a")
	sets := [][]string{{"a", "b"}, {"b", "c"}, {"a", "c"}, {}}
	var edits errgroup.Group
	edits.SetLimit(16)
	for i := range 200 {
		edits.Go(func() error {
			want := sets[i%len(sets)]
			got, err := w.Update(w.Ctx, owner, a.ID, Patch{CapabilityIDs: &want})
			if err == nil && !slices.Equal(got.CapabilityIDs, want) {
				err = fmt.Errorf("set %v, answered %v", want, got.CapabilityIDs)
			}
			return err
		})
	}
	// An administrator edits the same capabilities meanwhile.
	edits.Go(func() error {
		for range 50 {
			if _, err := w.Pool.Exec(w.Ctx, `UPDATE capabilities SET sort_order = sort_order + 1`); err != nil {
				return err
			}
		}
		return nil
	})
	if err := edits.Wait(); err != nil {
		t.Fatal(err)
	}
	got, err := w.Get(w.Ctx, owner, a.ID)
	if err != nil || !slices.ContainsFunc(sets, func(s []string) bool { return slices.Equal(s, got.CapabilityIDs) }) {
		t.Fatalf("after the edits: %+v, %v", got, err)
	}
}

func TestConcurrentDeletesDeleteOnceAndEditsNeverFailOtherwise(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	a, _ := w.create(owner, "app", "a", "b")
	var deleted int
	var count sync.Mutex
	var edits errgroup.Group
	for i := range 40 {
		edits.Go(func() error {
			var err error
			switch i % 4 {
			case 0:
				if err = w.Delete(w.Ctx, owner, a.ID); err == nil {
					count.Lock()
					deleted++
					count.Unlock()
				}
			case 1:
				_, err = w.Update(w.Ctx, owner, a.ID, Patch{CapabilityIDs: &[]string{"c"}})
			case 2:
				_, err = w.RotateKey(w.Ctx, owner, a.ID, "x@example.com", 0)
			case 3:
				_, err = w.Bind(w.Ctx, owner, a.ID, "c")
			}
			var f *fault.Error
			if errors.As(err, &f) && f.Kind == fault.NotFound {
				return nil
			}
			return err
		})
	}
	if err := edits.Wait(); err != nil || deleted != 1 {
		t.Fatalf("deleted %d times, %v", deleted, err)
	}
}
