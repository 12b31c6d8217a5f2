package spool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"callgate/internal/calls/callstest"
)

// asBefore locks a spool directory as versions do that share theirs with nobody.
func asBefore(t *testing.T, dir string) (lock *os.File, err error) {
	t.Helper()
	lock, err = os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Close() })
	return lock, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

func TestAVersionThatSharesItsDirectoryWithNobodyNeverHasItTogetherWithThisOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before, err := asBefore(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = Open(ctx, Config{Dir: dir}, callstest.Quiet, nil)
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "stop that one first") {
		t.Errorf("beside an older version: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("beside an older version it has made %v, %v", entries, err)
	}
	opened := make(chan error)
	var spools []*Spool
	go func() {
		s, err := Open(t.Context(), Config{Dir: dir}, callstest.Quiet, nil)
		spools = append(spools, s)
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Fatalf("opened beside an older version: %v", err)
	case <-time.After(150 * time.Millisecond): // it waits for that one to end
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	spools = append(spools, openIn(t, dir))
	for _, s := range spools {
		if _, err := asBefore(t, dir); !errors.Is(err, syscall.EWOULDBLOCK) {
			t.Errorf("an older version takes the directory of running ones: %v", err)
		}
		leave(t, s)
	}
	if _, err := asBefore(t, dir); err != nil {
		t.Errorf("an older version cannot have the directory of ended ones: %v", err)
	}
}
