package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// segments are all files of the spool, adopted ones too, and what is known of them.
type segments struct {
	mu          sync.Mutex
	open        *Segment            // being written
	unsent      []*Segment          // sealed, oldest first
	sent        []*Segment          // confirmed, kept for a while
	bytes       int64               // of all segments
	adopted     map[uuid.UUID]*home // of ended processes, until they are removed
	unreachable bool                // ClickHouse is
	sealed      chan struct{}       // a segment was sealed
	caughtUp    chan struct{}       // what waits may be sealed: ClickHouse can be reached again, or has caught up
}

func newSegments() segments {
	return segments{adopted: map[uuid.UUID]*home{}, sealed: make(chan struct{}, 1), caughtUp: make(chan struct{}, 1)}
}

// signal wakes whoever waits for a channel of one place.
func signal(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default: // he is about to look anyway
	}
}

// begin makes g the segment being written.
func (s *Spool) begin(g *Segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = g
	s.bytes += segmentHeader
}

// appended notes what was written to the open segment: bytes, the records in them by day, and their least end.
func (s *Spool) appended(bytes, oldest int64, counted tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range counted {
		s.open.calls = s.open.calls.add(n.day, n.calls)
	}
	s.open.size += bytes
	s.open.oldest = min(s.open.oldest, oldest)
	s.bytes += bytes
}

// seal makes the open segment one to be sent.
func (s *Spool) seal() {
	s.mu.Lock()
	s.open.Sealed = time.Now()
	s.unsent = append(s.unsent, s.open)
	s.open = nil
	s.mu.Unlock()
	signal(s.sealed)
}

// Sealed gets a value when a segment may have been sealed since the last one.
func (s *Spool) Sealed() <-chan struct{} { return s.sealed }

// Unsent are the segments to be sent, oldest first. The writer's next seal waits until the loop ends.
func (s *Spool) Unsent() iter.Seq[*Segment] {
	return func(yield func(*Segment) bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, g := range s.unsent {
			if !yield(g) {
				return
			}
		}
	}
}

// Backlog is the number of segments waiting to be sent.
func (s *Spool) Backlog() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.unsent)
}

// Confirm marks a segment as sent. Should the rename fail, the next process sends it again, which
// counts once.
func (s *Spool) Confirm(g *Segment) {
	old := g.path()
	now := time.Now()
	s.mu.Lock()
	s.unsent = without(s.unsent, g)
	g.Sent = now
	s.sent = append(s.sent, g)
	caughtUp := len(s.unsent) == fewUnsent
	s.mu.Unlock()
	if caughtUp {
		signal(s.caughtUp)
	}
	err := os.Chtimes(old, now, now)
	if err = errors.Join(err, os.Rename(old, g.path())); err != nil {
		s.log.Warn("cannot mark a segment as sent", "segment", g.Name(), "error", err)
	}
}

// Revoke makes a sent segment one to be sent, because ClickHouse lost it.
func (s *Spool) Revoke(g *Segment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := g.path()
	g.Sent = time.Time{}
	if err := os.Rename(old, g.path()); err != nil {
		return fmt.Errorf("take back a segment: %w", err)
	}
	s.sent = without(s.sent, g)
	s.unsent = append(s.unsent, g)
	return nil
}

// SentBefore returns the sent segments that were confirmed before a time.
func (s *Spool) SentBefore(t time.Time) []*Segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	var old []*Segment
	for _, g := range s.sent {
		if g.Sent.Before(t) {
			old = append(old, g)
		}
	}
	return old
}

// Remove deletes a sent segment.
func (s *Spool) Remove(g *Segment) {
	s.mu.Lock()
	at := slices.Index(s.sent, g)
	if at < 0 { // the writer made room, or it is to be sent again
		s.mu.Unlock()
		return
	}
	s.sent = slices.Delete(s.sent, at, at+1)
	s.bytes -= g.size
	g.removed.Store(true)
	s.mu.Unlock()
	if err := os.Remove(g.path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("cannot delete a sent segment", "segment", g.Name(), "error", err)
	}
	s.removeHome(g.Spool)
}

// total is the number of bytes of all segments.
func (s *Spool) total() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

func without(segments []*Segment, g *Segment) []*Segment {
	return slices.DeleteFunc(segments, func(other *Segment) bool { return other == g })
}
