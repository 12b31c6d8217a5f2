package ledger

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/spool"
	"callgate/internal/embedded"
)

// adoption is within which time a living process has shipped what an ended one left, on a busy machine too.
const adoption = 20 * time.Second

func TestWhatAProcessLeavesOnASharedDirectoryALivingOneShips(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir := t.TempDir()
	living := s.open(t, spool.Config{Dir: dir})
	link := embedded.NewLink(t, s.url)
	away := connect(t, link.URL(), s.pool.Config().ConnString())
	link.Cut()
	leaving := away.open(t, spool.Config{Dir: dir, RingBytes: 320_000 /* 1,000 records */})
	for i := range 3_000 {
		leaving.Add(callstest.Success(time.Now()))
		if i%500 == 0 {
			pause(nil, 5*time.Millisecond)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := leaving.close(ctx); err == nil {
		t.Fatal("nothing was left")
	}
	_, dropped := leaving.Lost()
	callstest.Eventually(t, adoption, "the ledger waits for the living only", func() bool {
		spools, err := s.waitedFor(t.Context())
		return err == nil && len(spools) == 1 && spools[0].ID == living.ID()
	})
	if n := s.counted(t); n != 3_000-int64(dropped) {
		t.Errorf("%d calls are counted and %d dropped of 3000", n, dropped)
	}
	if missed := s.missed(t, ids(callstest.Application), rangeOfToday()); missed != int64(dropped) {
		t.Errorf("%d are missed, %d were dropped", missed, dropped)
	}
}

// TestTheDirectoryOfAVersionThatSharedItWithNobodyIsShippedWhole leaves out what that version did not write:
// the locks.
func TestTheDirectoryOfAVersionThatSharedItWithNobodyIsShippedWhole(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir := t.TempDir()
	for range 3 {
		spooled(t, dir, many(100)...)
	}
	for _, lock := range segments(t, dir, ".lock") {
		if err := os.Remove(lock); err != nil {
			t.Fatal(err)
		}
	}
	var opened []*recorder
	for range 3 {
		opened = append(opened, s.openRetaining(t, spool.Config{Dir: dir}, 100*time.Millisecond))
	}
	callstest.Eventually(t, adoption, "the ledger waits for the living only, and the ended ones' homes are removed", func() bool {
		spools, err := s.waitedFor(t.Context())
		homes, _ := filepath.Glob(filepath.Join(dir, "*-*"))
		return err == nil && len(spools) == 3 && len(homes) == 6
	})
	for _, r := range opened {
		if err := shut(r); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.counted(t); n != 300 {
		t.Errorf("%d calls are counted of 300", n)
	}
}
