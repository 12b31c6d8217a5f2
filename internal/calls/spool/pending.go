package spool

import (
	"math"

	"github.com/google/uuid"

	"callgate/internal/calls"
)

// Never is later than every call's end.
const Never = math.MaxInt64

// endOf is when a call ended, in Unix milliseconds.
func endOf(r *calls.Record) int64 { return r.Start.UnixMilli() + r.Duration.Milliseconds() }

// Pending tells how old what is not confirmed is, as the least end of its records in Unix milliseconds:
// Never when there are none, math.MinInt64 when a damaged segment hides it.
type Pending struct {
	Oldest int64
	Per    map[uuid.UUID]int64 // of this spool and each adopted one of which the ledger is not told everything
}

// Pending looks for records in the order they move: from the redaction to the ring to a segment. They are in
// the next place before they leave the last, so that none is overlooked in between.
func (s *Spool) Pending() Pending {
	inMemory := s.redaction.pending()
	inMemory = min(inMemory, s.ring.pending())
	s.mu.Lock()
	defer s.mu.Unlock()
	now := Pending{Oldest: inMemory, Per: map[uuid.UUID]int64{s.id: inMemory}}
	for id, h := range s.adopted {
		if !h.told {
			now.Per[id] = Never
		}
	}
	note := func(g *Segment) {
		now.Oldest = min(now.Oldest, g.oldest)
		if oldest, known := now.Per[g.Spool]; known {
			now.Per[g.Spool] = min(oldest, g.oldest)
		}
	}
	for _, g := range s.unsent {
		note(g)
	}
	if s.open != nil {
		note(s.open)
	}
	return now
}
