package spool

import (
	"context"
	"strings"
	"testing"
	"time"

	"callgate/internal/calls/callstest"
)

func TestASpoolDirectoryBelongsToOneProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := Open(t.Context(), Config{Dir: dir}, callstest.Quiet, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, Config{Dir: dir}, callstest.Quiet, nil); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second recorder on the directory: %v", err)
	}
}
