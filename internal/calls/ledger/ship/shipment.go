package ship

import (
	"time"

	"callgate/internal/calls/spool"
)

// shipment is what is known of sending a segment.
type shipment struct {
	due     time.Time // not before
	tries   int
	sent    bool      // the worker's part of it
	sealed  time.Time // of an adopted segment; zero for one of this process
	batches map[string]*attempt
}

// attempt is what is known of one batch's fate.
type attempt struct {
	first   time.Time // first time it was sent
	done    bool
	suspect bool // confirmed, yet its rows were not found
	resends int  // how often it was confirmed without being there
}

func (w *worker) shipmentOf(g *spool.Segment) *shipment {
	known := w.shipments[g]
	if known == nil {
		known = &shipment{batches: map[string]*attempt{}}
		if g.Adopted {
			known.sealed = g.Sealed
		}
		w.shipments[g] = known
	}
	return known
}

// attemptOf returns what is known of a batch. One of an adopted segment may have been sent any
// time since the segment was sealed.
func (s *shipment) attemptOf(b *batch) *attempt {
	a := s.batches[b.token]
	if a == nil {
		a = &attempt{first: s.sealed}
		s.batches[b.token] = a
	}
	return a
}
