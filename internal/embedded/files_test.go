package embedded

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestALockFileThatCannotBeMadeIsNotWaitedFor(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := lockFile(ctx, filepath.Join(t.TempDir(), "absent", "lock"))
	if !errors.Is(err, os.ErrNotExist) || ctx.Err() != nil {
		t.Fatalf("got %v, context %v", err, ctx.Err())
	}
}

func TestALockFileIsWaitedForWhileAnotherHoldsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := tryLockFile(path)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = first.Close() })
	second, err := lockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	_ = second.Close()
}

func TestOnlyEnginesThatWereAbandonedAreRemoved(t *testing.T) {
	parent, long := t.TempDir(), time.Now().Add(-2*abandonedAfter)
	engines := func(name string, used time.Time) string {
		dir := filepath.Join(parent, name)
		lock, err := claim(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = lock.Close() })
		if name != enginesPrefix+"running" {
			_ = lock.Close()
		}
		if err := os.Chtimes(filepath.Join(dir, lockName), used, used); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	abandoned := engines(enginesPrefix+"abandoned", long)
	stay := []string{engines(enginesPrefix+"running", long), engines(enginesPrefix+"restarting", time.Now()), engines("another's", long)}
	removeAbandoned(parent)
	if _, err := os.Stat(abandoned); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is there: %v", abandoned, err)
	}
	for _, dir := range stay {
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
}
