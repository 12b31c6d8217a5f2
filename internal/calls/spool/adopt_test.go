package spool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls/callstest"
)

func openIn(t *testing.T, dir string) *Spool {
	t.Helper()
	s, err := Open(t.Context(), Config{Dir: dir}, callstest.Quiet, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Drain(t.Context())
		_ = s.Close()
	})
	return s
}

// leave ends a process whose records were not shipped.
func leave(t *testing.T, s *Spool) {
	t.Helper()
	s.Drain(t.Context())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// unsentOf are the ids of the spools whose segments s is to send.
func unsentOf(s *Spool) (spools []uuid.UUID) {
	for g := range s.Unsent() {
		spools = append(spools, g.Spool)
	}
	return spools
}

func TestProcessesThatShareADirectoryAdoptOnlyWhatEndedOnesLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spools := []*Spool{openIn(t, dir), openIn(t, dir), openIn(t, dir)}
	for _, s := range spools {
		s.Add(callstest.Success(time.Now()))
	}
	for _, s := range spools {
		callstest.Eventually(t, "a segment is sealed", func() bool { return s.Backlog() == 1 })
	}
	for _, s := range spools {
		if err := s.adopt(); err != nil {
			t.Fatal(err)
		}
		if got := unsentOf(s); !slices.Equal(got, []uuid.UUID{s.id}) {
			t.Errorf("%s is to send segments of %v", s.id, got)
		}
	}
	left := spools[0]
	leave(t, left)
	began := time.Now()
	others := func() []uuid.UUID { return append(unsentOf(spools[1]), unsentOf(spools[2])...) }
	callstest.Eventually(t, "what the first one left is adopted", func() bool { return slices.Contains(others(), left.id) })
	t.Logf("adopted after %v", time.Since(began).Round(10*time.Millisecond))
	for _, s := range spools[1:] {
		if err := s.adopt(); err != nil {
			t.Fatal(err)
		}
	}
	if got := others(); len(got) != 3 {
		t.Errorf("segments of %v are to be sent, want of each process one", got)
	}
	adopter := spools[1]
	if !adopter.owns(left.id) {
		adopter = spools[2]
	}
	select {
	case <-adopter.Sealed():
	default:
		t.Error("nobody is woken to send it")
	}
	if pending := adopter.Pending().Per; len(pending) != 2 || pending[left.id] == Never || pending[left.id] == 0 {
		t.Errorf("the ledger would be told %v", pending)
	}
}

// deadHome puts the home of an ended process with a segment and a drop count into a directory, all at once.
// It has no lock, as those of versions that shared their directories with nobody.
func deadHome(t testing.TB, dir string) uuid.UUID {
	t.Helper()
	g, data, _ := whole(callstest.Sample())
	making := filepath.Join(t.TempDir(), "making")
	g.dir = making
	if err := os.Mkdir(making, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(g.path(), data, 0o600); err != nil {
		t.Fatal(err)
	}
	drops := newDrops(g.Spool, making)
	drops.Set(DropKey{g.Spool, beijing.Date(2026, 5, 10), callstest.Application}, 3)
	if err := drops.Keep(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(making, filepath.Join(dir, g.Spool.String())); err != nil {
		t.Fatal(err)
	}
	return g.Spool
}

func TestAHomeOfTheVersionBeforeWhichHasNoLockIsAdoptedWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	id := deadHome(t, dir)
	s := openIn(t, dir)
	var read Content
	for g := range s.Unsent() {
		if err := read.Read(g); err != nil || g.Spool != id {
			t.Errorf("a segment of %s: %v", g.Spool, err)
		}
	}
	if want := len(callstest.Sample()); len(read.Rows) != want || read.Damaged != 0 {
		t.Errorf("%d records of %d", len(read.Rows), want)
	}
	if drops, _ := s.Drops.Unstored(); len(drops) != 1 || drops[0].Calls != 3 || drops[0].Key.Source != id {
		t.Errorf("drop counts %+v", drops)
	}
}

// shipped does with what is adopted what the ledger does.
func shipped(s *Spool) (homes []uuid.UUID) {
	for g := range s.Unsent() {
		homes = append(homes, g.Spool)
		defer s.Remove(g)
		defer s.Retired(g.Spool)
		defer s.Confirm(g)
	}
	return homes
}

// lookers are processes on a directory that look for homes to adopt all the time, until stop is called.
func lookers(t *testing.T, dir string, n int, afterLook func(*Spool)) (spools []*Spool, stop func()) {
	t.Helper()
	stopping := make(chan struct{})
	var looking sync.WaitGroup
	for range n {
		s := openIn(t, dir)
		spools = append(spools, s)
		looking.Go(func() {
			for {
				select {
				case <-stopping:
					return
				default:
				}
				if err := s.adopt(); err != nil {
					t.Error(err)
					return
				}
				afterLook(s)
			}
		})
	}
	stop = sync.OnceFunc(func() {
		close(stopping)
		looking.Wait()
	})
	t.Cleanup(stop)
	return spools, stop
}

// TestOfManyWhoAdoptAHomeAtOnceOneGetsIt lets processes look for homes all the time, while homes come and those
// adopted are shipped and removed.
func TestOfManyWhoAdoptAHomeAtOnceOneGetsIt(t *testing.T) {
	t.Parallel()
	const rounds = 300
	dir := t.TempDir()
	var mu sync.Mutex
	got := map[uuid.UUID]int{}
	_, stop := lookers(t, dir, 3, func(s *Spool) {
		homes := shipped(s)
		mu.Lock()
		defer mu.Unlock()
		for _, id := range homes {
			got[id]++
		}
	})
	var made []uuid.UUID
	for range rounds {
		made = append(made, deadHome(t, dir))
	}
	callstest.Eventually(t, "all are adopted", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(got) >= rounds
	})
	stop()
	for _, id := range made {
		if got[id] != 1 {
			t.Errorf("%s was adopted %d times", id, got[id])
		}
	}
	if len(got) != rounds {
		t.Errorf("%d homes were adopted, %d were there", len(got), rounds)
	}
	awaitOnlyLive(t, dir, 3)
}

// awaitOnlyLive waits until homes of so many processes and their locks are left, and the directory's own lock.
func awaitOnlyLive(t *testing.T, dir string, live int) {
	t.Helper()
	callstest.Eventually(t, "nothing is left of the ended", func() bool {
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) == 2*live+1
	})
}

// TestAHomeThatIsBeingMadeIsNeverAdopted makes homes while others look for homes to adopt, and for locks that
// were left.
func TestAHomeThatIsBeingMadeIsNeverAdopted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	others, stop := lookers(t, dir, 2, func(*Spool) {})
	for range 500 {
		h, err := makeHome(t.Context(), dir, uuid.New())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range others {
			if s.owns(h.id) {
				t.Fatal("a live process's home was adopted")
			}
		}
		if !h.remove() {
			t.Fatal("the home cannot be removed")
		}
	}
	stop()
	awaitOnlyLive(t, dir, 2)
}

func TestWhileClickHouseIsAwayALimitedSpoolAdoptsNoMoreThanLeavesItRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(t.Context(), Config{Dir: dir, MaxBytes: 1000}, callstest.Quiet, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	s.SetReachable(false)
	id := deadHome(t, dir)
	if err := s.adopt(); err != nil || s.owns(id) {
		t.Errorf("adopted: %v, %v", s.owns(id), err)
	}
	s.SetReachable(true)
	if err := s.adopt(); err != nil || !s.owns(id) {
		t.Errorf("adopted when it can be sent: %v, %v", s.owns(id), err)
	}
}

func TestOneUnreadableHomeKeepsBackNoOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openIn(t, dir)
	bad, good := deadHome(t, dir), deadHome(t, dir)
	lock := filepath.Join(dir, bad.String()+lockSuffix)
	if err := os.Mkdir(lock, 0o700); err != nil { // no file to lock
		t.Fatal(err)
	}
	if err := s.adopt(); err == nil || !strings.Contains(err.Error(), bad.String()) || !s.owns(good) {
		t.Errorf("%v, the other is adopted: %v", err, s.owns(good))
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if err := s.adopt(); err != nil || !s.owns(bad) {
		t.Errorf("%v, adopted once it can be: %v", err, s.owns(bad))
	}
}
