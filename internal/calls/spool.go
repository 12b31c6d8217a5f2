package calls

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// spool is the directory: one subdirectory per process that ever wrote here, named by its spool
// id, holding its segments. A lock lets one process at a time own them all.
type spool struct {
	dir  string
	id   uuid.UUID
	lock *os.File
	log  *slog.Logger

	mu      sync.Mutex
	open    *segment   // being written
	unsent  []*segment // sealed, oldest first
	sent    []*segment // confirmed, kept for a while
	bytes   int64      // of all segments
	adopted []uuid.UUID
	away    bool          // ClickHouse cannot be reached
	wake    chan struct{} // a segment was sealed
	back    chan struct{} // what waits may be sealed: ClickHouse can be reached again, or has caught up
}

const quarantineDir = "quarantine"

// lockPatience is how long a new process waits for its predecessor to let the directory go.
const lockPatience = 5 * time.Second

// openSpool locks dir, takes over what earlier processes left there and begins a spool of its own.
func openSpool(ctx context.Context, dir string, log *slog.Logger) (*spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("spool directory: %w", err)
	}
	s := &spool{dir: dir, id: uuid.New(), log: log, wake: make(chan struct{}, 1), back: make(chan struct{}, 1)}
	var err error
	if s.lock, err = lockDir(ctx, dir); err != nil {
		return nil, err
	}
	if err := s.adopt(); err != nil {
		return nil, errors.Join(err, s.lock.Close())
	}
	if err := os.Mkdir(s.home(), 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("spool directory: %w", err), s.lock.Close())
	}
	return s, nil
}

// home is where this process writes.
func (s *spool) home() string { return s.homeOf(s.id) }

func (s *spool) homeOf(id uuid.UUID) string { return filepath.Join(s.dir, id.String()) }

// begin makes g the segment being written.
func (s *spool) begin(g *segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = g
	s.bytes += segmentHeader
}

// grew notes records written to the open segment.
func (s *spool) grew(bytes, oldest int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open.size += bytes
	s.open.oldest = min(s.open.oldest, oldest)
	s.bytes += bytes
}

// seal hands the open segment to the shipper.
func (s *spool) seal() {
	s.mu.Lock()
	s.open.sealed = time.Now()
	s.unsent = append(s.unsent, s.open)
	s.open = nil
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// next returns the first segment to be sent now, or how long until one is due (0: none waits).
func (s *spool) next(now time.Time) (*segment, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var soonest time.Duration
	for _, g := range s.unsent {
		wait := g.due.Sub(now)
		if wait <= 0 {
			return g, 0
		}
		if soonest == 0 || wait < soonest {
			soonest = wait
		}
	}
	return nil, soonest
}

// confirm marks a segment as sent. Should the rename fail, the next process sends it again, which
// counts once.
func (s *spool) confirm(g *segment) {
	old := g.path()
	now := time.Now()
	s.mu.Lock()
	s.unsent = slices.DeleteFunc(s.unsent, func(other *segment) bool { return other == g })
	g.sent = now
	s.sent = append(s.sent, g)
	caughtUp := len(s.unsent) == fewUnsent
	s.mu.Unlock()
	if caughtUp {
		s.rouse()
	}
	err := os.Chtimes(old, now, now)
	if err = errors.Join(err, os.Rename(old, g.path())); err != nil {
		s.log.Warn("cannot mark a segment as sent", "segment", g.name(), "error", err)
	}
}

// revoke makes a sent segment one to be sent, because ClickHouse lost it.
func (s *spool) revoke(g *segment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := g.path()
	g.sent = time.Time{}
	if err := os.Rename(old, g.path()); err != nil {
		return fmt.Errorf("take back a segment: %w", err)
	}
	s.sent = slices.DeleteFunc(s.sent, func(other *segment) bool { return other == g })
	s.unsent = append(s.unsent, g)
	return nil
}

// kept returns the sent segments confirmed before a time.
func (s *spool) kept(before time.Time) []*segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	var old []*segment
	for _, g := range s.sent {
		if g.sent.Before(before) {
			old = append(old, g)
		}
	}
	return old
}

// remove deletes a sent segment.
func (s *spool) remove(g *segment) {
	s.mu.Lock()
	at := slices.Index(s.sent, g)
	if at < 0 { // the writer made room, or it is to be sent again
		s.mu.Unlock()
		return
	}
	s.sent = slices.Delete(s.sent, at, at+1)
	s.bytes -= g.size
	s.mu.Unlock()
	if err := os.Remove(g.path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("cannot delete a sent segment", "segment", g.name(), "error", err)
	}
	s.tidy(g.spool)
}

// tidy removes the directory of an earlier process once nothing of it is needed: it is its mark
// that the ledger still has to be told.
func (s *spool) tidy(id uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != s.id && !slices.Contains(s.adopted, id) {
		_ = os.Remove(s.homeOf(id)) // fails while sent segments are kept in it
	}
}

// backlog is the number of segments waiting to be sent.
func (s *spool) backlog() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.unsent)
}

// total is the number of bytes of all segments.
func (s *spool) total() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// state tells how much waits: bytes of all segments, number of unsent ones, least end of records
// not confirmed (never when there are none), of all and of one spool.
type state struct {
	bytes  int64
	unsent int
	oldest int64
	per    map[uuid.UUID]int64
}

func (s *spool) state() state {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := state{bytes: s.bytes, unsent: len(s.unsent), oldest: never, per: map[uuid.UUID]int64{s.id: never}}
	for _, id := range s.adopted {
		now.per[id] = never
	}
	note := func(g *segment) {
		now.oldest = min(now.oldest, g.oldest)
		now.per[g.spool] = min(now.per[g.spool], g.oldest)
	}
	for _, g := range s.unsent {
		note(g)
	}
	if s.open != nil {
		note(s.open)
	}
	return now
}

// retired forgets an adopted spool whose records are all accounted for.
func (s *spool) retired(id uuid.UUID) {
	s.mu.Lock()
	s.adopted = slices.DeleteFunc(s.adopted, func(other uuid.UUID) bool { return other == id })
	s.mu.Unlock()
	_ = os.Remove(filepath.Join(s.homeOf(id), dropsFile))
	s.tidy(id)
}

// quarantine keeps a payload that cannot be decoded, for a person to look at.
func (s *spool) quarantine(g *segment, sequence uint32, payload string) error {
	dir := filepath.Join(s.dir, quarantineDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	name := filepath.Join(dir, fmt.Sprintf("%s-%d.payload", g.id, sequence))
	if err := os.WriteFile(name, []byte(payload), 0o600); err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	return nil
}
