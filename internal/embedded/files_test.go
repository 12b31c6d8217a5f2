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
