package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// adoptEvery is how often a process looks for spools of others that have ended.
const adoptEvery = 3 * time.Second

// adoptLater adopts what processes leave behind that end while this one runs.
func (s *Spool) adoptLater() {
	tick := time.NewTicker(adoptEvery)
	defer tick.Stop()
	failed := 0
	for {
		select {
		case <-s.leaving:
			return
		case <-tick.C:
		}
		if err := s.adopt(); err == nil {
			failed = 0
		} else if failed++; failed%60 == 1 {
			s.log.Warn("cannot adopt the spool of a process that has ended; it is tried again", "error", err)
		}
	}
}

// adopt takes over the homes of all processes that have ended. One that fails keeps back no other.
func (s *Spool) adopt() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("read spool directory: %w", err)
	}
	var errs []error
	adopted := 0
	for _, id := range idsIn(entries) {
		if s.owns(id) {
			continue
		}
		h, err := claim(s.dir, id)
		if err == nil {
			var segments int
			segments, err = s.takeOver(h)
			adopted += segments
		}
		if err != nil && !errors.Is(err, errTaken) {
			errs = append(errs, err)
		}
	}
	if adopted > 0 {
		s.log.Info("adopted the spools of processes that have ended", "segments", adopted, "bytes", s.total())
	}
	return errors.Join(errs...)
}

// idsIn are the ids of all homes, and of locks that may be left of removed ones.
func idsIn(entries []os.DirEntry) (ids []uuid.UUID) {
	for _, entry := range entries {
		name, isLock := strings.CutSuffix(entry.Name(), lockSuffix)
		id, err := uuid.Parse(name)
		if err == nil && id.String() == name && isLock != entry.IsDir() && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (s *Spool) owns(id uuid.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return id == s.id || s.adopted[id] != nil
}

// takeOver makes what is in a claimed home this process's, all at once, so that the ledger is told of
// everything in it or of nothing. It returns how many segments are to be sent.
func (s *Spool) takeOver(h *home) (int, error) {
	unsent, sent, err := segmentsIn(h)
	if err != nil {
		return 0, errors.Join(err, h.free())
	}
	bytes := sizeOf(unsent) + sizeOf(sent)
	if !s.hasRoomFor(bytes) {
		return 0, h.free()
	}
	if err := s.Drops.adopt(h.dir); err != nil {
		s.log.Error("cannot adopt counts of dropped calls", "error", err)
	}
	s.mu.Lock()
	s.adopted[h.id] = h
	s.bytes += bytes
	s.unsent = append(s.unsent, unsent...)
	s.sent = append(s.sent, sent...)
	slices.SortStableFunc(s.unsent, func(a, b *Segment) int { return a.Sealed.Compare(b.Sealed) })
	s.mu.Unlock()
	signal(s.sealed)
	return len(unsent), nil
}

// hasRoomFor tells whether adopting so many bytes leaves this process room for records of its own. While
// they can be sent, that comes back.
func (s *Spool) hasRoomFor(bytes int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit := s.writer.limit
	return limit <= 0 || !s.unreachable || s.bytes+bytes <= limit/2
}

// segmentsIn lists the segments in a home. Between a rename and an unlink either half may have happened: a
// segment is what its name says, whatever else is there.
func segmentsIn(h *home) (unsent, sent []*Segment, err error) {
	files, err := os.ReadDir(h.dir)
	if err != nil {
		return nil, nil, fmt.Errorf("read spool directory: %w", err)
	}
	for _, file := range files {
		found, err := openSegment(filepath.Join(h.dir, file.Name()), h.id)
		switch {
		case errors.Is(err, errNotSegment):
		case err != nil:
			return nil, nil, err
		case found.Sent.IsZero():
			unsent = append(unsent, found)
		default:
			sent = append(sent, found)
		}
	}
	return unsent, sent, nil
}

func sizeOf(segments []*Segment) (bytes int64) {
	for _, g := range segments {
		bytes += g.size
	}
	return bytes
}

// Retired forgets an adopted spool whose records are all accounted for.
func (s *Spool) Retired(id uuid.UUID) {
	s.mu.Lock()
	h := s.adopted[id]
	if h != nil {
		h.told = true
		_ = os.Remove(filepath.Join(h.dir, dropsFile))
	}
	s.mu.Unlock()
	s.removeHome(id)
}

// removeHome removes the directory of an ended process once nothing of it is needed: it is its mark
// that the ledger still has to be told.
func (s *Spool) removeHome(id uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.adopted[id]; h != nil && h.told && h.remove() { // it fails while sent segments are kept in it
		delete(s.adopted, id)
	}
}

// release lets others have what this process wrote and adopted, and then the directory.
func (s *Spool) release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, h := range s.adopted {
		errs = append(errs, h.free())
	}
	clear(s.adopted)
	if s.own != nil {
		errs = append(errs, s.own.free())
	}
	return errors.Join(append(errs, s.lock.Close())...)
}
