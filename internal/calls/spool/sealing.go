package spool

import "time"

// SetReachable notes whether ClickHouse can be reached. Once it can be again, the writer is told.
func (s *Spool) SetReachable(can bool) {
	s.mu.Lock()
	changed := s.unreachable == can
	s.unreachable = !can
	s.mu.Unlock()
	if can && changed {
		signal(s.caughtUp)
	}
}

// fewUnsent is up to how many segments may wait without anything being behind.
const fewUnsent = 3

// sealAge is the age of its first record at which the open segment is sealed: every when nothing is
// behind, twice that and up to 16 s while ever more segments wait for a server that refuses them or
// cannot keep up, and no age at all while there is no server. Then size alone counts, so that an outage
// leaves as few segments, and INSERTs, as its calls fill.
func (s *Spool) sealAge(every time.Duration) time.Duration {
	const (
		steps   = 16 // segments that double it
		most    = 16 * time.Second
		forever = 1 << 62
	)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch behind := len(s.unsent) - fewUnsent; {
	case s.unreachable:
		return forever
	case behind > 0:
		return max(every, min(every<<min(1+behind/steps, 8), most))
	}
	return every
}

// due tells whether the open segment is old enough to be sealed, or how long until it is.
func (w *writer) due() (wait time.Duration, now bool) {
	wait = w.spool.sealAge(w.every) - time.Since(w.began)
	return wait, wait <= 0
}

// largest is the size at which a segment is sealed, in bytes: sending one of a spool that may not grow
// is to make room for others.
func (w *writer) largest() int64 {
	if w.limit > 0 {
		return min(maxSegmentBytes, w.limit/8)
	}
	return maxSegmentBytes
}

// seal ends the segment and hands it to the shipper. A segment whose sealing frame cannot be
// written is complete without it; only damage at its very end would go unnoticed.
func (w *writer) seal() {
	id := w.spool.open.ID
	b := beginFrame(w.buffer[:0])
	endFrame(b, 0, id[:], w.sequence)
	if n, err := w.file.Write(b); err != nil && n > 0 {
		_ = w.file.Truncate(w.size)
	}
	w.buffer = b[:0]
	w.file = nil
	w.spool.appended(int64(len(b)), Never, nil)
	w.spool.seal()
	w.sync.end()
}
