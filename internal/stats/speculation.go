package stats

import (
	"context"
	"slices"
	"time"
)

// rollupsTake bounds how long the rollups may take for what was asked beside them to be of use.
const rollupsTake = 5 * time.Second

// speculation asks what arrived lately beside the rollups instead of after them. It holds if these then tell of as many calls
// as the last time, before it was asked: counts of rollups only grow, so nothing came into their hours meanwhile.
type speculation struct {
	listing        // as it is likely to be
	rollups series // as they were the last time, before the newest hours
	cancel  context.CancelFunc
	done    chan struct{}
	newest  *newestRows
	err     error
}

// speculate begins to ask; nil: nothing is known of the rollups. Its stop must be called.
func (l *listing) speculate(ctx context.Context) *speculation {
	rollups, ok := l.r.cache.list(rollupsKey(*l.q, l.days))
	if !ok {
		return nil
	}
	s := &speculation{listing: *l, rollups: rollups, done: make(chan struct{})}
	q := *l.q // the listing may set its until meanwhile
	s.q = &q
	s.began = l.began.Add(-rollupsTake) // the rollups may tell less than the rows by that much
	if !l.likelyLarge() {
		s.listing.newest = l.wholeDays()
	}
	ctx, s.cancel = context.WithCancel(ctx)
	go func() {
		defer close(s.done)
		s.newest, s.err = s.ask(ctx)
	}()
	return s
}

// take gives what it found if it holds for a listing and the rollups that were asked beside it.
func (s *speculation) take(l *listing, rollups series) *newestRows {
	if s == nil || s.listing.newest != l.newest || time.Since(l.began) > rollupsTake || !slices.EqualFunc(s.rollups, rollups, sameRows) {
		return nil
	}
	<-s.done
	if s.err != nil {
		return nil
	}
	return s.newest
}

func sameRows(a, b timeBucket) bool {
	return a.start == b.start && a.unit == b.unit && a.rows == b.rows
}

// stop ends what is still asked.
func (s *speculation) stop() {
	if s != nil {
		s.cancel()
		<-s.done
	}
}
