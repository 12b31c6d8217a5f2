package ship_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/spool"
	"callgate/internal/embedded"
)

// adoption is within which time a living process has shipped what an ended one left, on a busy machine too.
const adoption = 20 * time.Second

func TestWhatAProcessLeavesOnASharedDirectoryALivingOneShips(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir := t.TempDir()
	living := s.Record(t, spool.Config{Dir: dir})
	link := embedded.NewLink(t, s.URL)
	away := connect(t, link.URL(), s.Pool.Config().ConnString())
	link.Cut()
	leaving := away.Record(t, spool.Config{Dir: dir, RingBytes: 320_000 /* 1,000 records */})
	for i := range 3_000 {
		leaving.Add(callstest.Success(time.Now()))
		if i%500 == 0 {
			time.Sleep(5 * time.Millisecond)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := leaving.End(ctx); err == nil {
		t.Fatal("nothing was left")
	}
	_, dropped := leaving.Lost()
	callstest.Eventually(t, adoption, "the ledger waits for the living only", func() bool {
		spools, err := s.WaitedFor(t.Context())
		return err == nil && len(spools) == 1 && spools[0].ID == living.ID()
	})
	if n := s.Counted(t); n != 3_000-int64(dropped) {
		t.Errorf("%d calls are counted and %d dropped of 3000", n, dropped)
	}
	if missed := s.Missed(t, []uuid.UUID{callstest.Application}, ledgertest.RangeOfToday()); missed != int64(dropped) {
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
		ledgertest.Spooled(t, dir, ledgertest.Many(100)...)
	}
	for _, lock := range ledgertest.Segments(t, dir, ".lock") {
		if err := os.Remove(lock); err != nil {
			t.Fatal(err)
		}
	}
	var opened []*ledgertest.Recorder
	for range 3 {
		opened = append(opened, s.RecordRetaining(t, spool.Config{Dir: dir}, 100*time.Millisecond))
	}
	callstest.Eventually(t, adoption, "the ledger waits for the living only, and the ended ones' homes are removed", func() bool {
		spools, err := s.WaitedFor(t.Context())
		homes, _ := filepath.Glob(filepath.Join(dir, "*-*"))
		return err == nil && len(spools) == 3 && len(homes) == 6
	})
	for _, r := range opened {
		if err := ledgertest.Shut(r); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Counted(t); n != 300 {
		t.Errorf("%d calls are counted of 300", n)
	}
}
