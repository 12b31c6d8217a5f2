package spool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// lockPatience is how long a new process waits for its predecessor to let the directory go.
const lockPatience = 5 * time.Second

func lockDir(ctx context.Context, dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("spool lock: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("spool directory %s belongs to another running process: %w", dir, err), file.Close())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// adopt finds the segments of earlier processes. Between a rename and an unlink either half may
// have happened: a segment is what its name says, whatever else is there.
func (s *Spool) adopt() error {
	spools, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("read spool directory: %w", err)
	}
	for _, entry := range spools {
		id, err := uuid.Parse(entry.Name())
		if err != nil || !entry.IsDir() {
			continue
		}
		s.adopted = append(s.adopted, id)
		files, err := os.ReadDir(filepath.Join(s.dir, entry.Name()))
		if err != nil {
			return fmt.Errorf("read spool directory: %w", err)
		}
		for _, file := range files {
			found, err := openSegment(filepath.Join(s.dir, entry.Name(), file.Name()), id)
			if errors.Is(err, errNotSegment) {
				continue
			}
			if err != nil {
				return err
			}
			s.bytes += found.size
			if found.Sent.IsZero() {
				s.unsent = append(s.unsent, found)
			} else {
				s.sent = append(s.sent, found)
			}
		}
	}
	slices.SortStableFunc(s.unsent, func(a, b *Segment) int { return a.Sealed.Compare(b.Sealed) })
	if len(s.unsent) > 0 {
		s.log.Info("adopted the spool of an earlier process", "segments", len(s.unsent), "bytes", s.bytes)
	}
	return nil
}

// Retired forgets an adopted spool whose records are all accounted for.
func (s *Spool) Retired(id uuid.UUID) {
	s.mu.Lock()
	s.adopted = slices.DeleteFunc(s.adopted, func(other uuid.UUID) bool { return other == id })
	s.mu.Unlock()
	_ = os.Remove(filepath.Join(s.homeOf(id), dropsFile))
	s.removeHome(id)
}

// removeHome removes the directory of an earlier process once nothing of it is needed: it is its mark
// that the ledger still has to be told.
func (s *Spool) removeHome(id uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != s.id && !slices.Contains(s.adopted, id) {
		_ = os.Remove(s.homeOf(id)) // fails while sent segments are kept in it
	}
}
