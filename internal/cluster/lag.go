package cluster

import (
	"context"
	"time"
)

const (
	// staleAfter is by how many seconds a replica may be behind and still be asked while another is current.
	staleAfter = 2
	// sampleFor is how long what replicas said of themselves is used.
	sampleFor = time.Second
)

// sample is what was promised of the replicas when they were last asked.
type sample struct {
	at       time.Time
	promised time.Time            // zero: nothing is replicated
	stale    bool                 // some table has no current replica
	whole    map[copyOf]time.Time // what was inserted for certain when a replica last had everything of a table
}

func newSample() sample { return sample{whole: map[copyOf]time.Time{}} }

// never is promised of a replica that was not seen to have everything: it may lack anything.
var never = time.UnixMilli(0)

// Promise bounds what may be promised of the answers to questions that are asked from now on: through says until when
// everything was inserted somewhere, and what it said holds of a replica that had, at some moment after that, all there
// was. ok is false when no table is replicated: then everything that was inserted is there.
//
// A replica that is far behind with a table is not asked about it while another is current
// (max_replica_delay_for_distributed_queries).
// When the last current one is lost, questions fail until it is known here what the others have: only then are
// these asked.
func (p *Pool) Promise(ctx context.Context, through func(context.Context) (time.Time, error)) (promised time.Time, ok bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.sample.at) < sampleFor {
		return p.sample.promised, !p.sample.promised.IsZero(), nil
	}
	p.mu.Unlock()
	began := time.Now()
	inserted, err := through(ctx)
	var copies []tableCopy
	if err == nil {
		copies, err = p.copies(ctx)
	}
	p.mu.Lock()
	if err != nil {
		return never, false, err
	}
	p.sample.take(began, inserted, copies)
	p.turns.setStale(p.sample.stale)
	return p.sample.promised, !p.sample.promised.IsZero(), nil
}

// take keeps the least promise of all tables of all shards. Of each it is the least of the replicas that are asked:
// while one is current those that are not behind, else all.
func (s *sample) take(now, inserted time.Time, copies []tableCopy) {
	current := map[string]bool{}
	for _, c := range copies {
		current[c.path] = current[c.path] || c.delay < staleAfter
	}
	s.at, s.promised, s.stale = now, time.Time{}, false
	for _, c := range copies {
		if c.whole {
			s.whole[c.copyOf] = inserted
		}
		s.stale = s.stale || !current[c.path]
		if current[c.path] && c.delay >= staleAfter {
			continue
		}
		promise, known := s.whole[c.copyOf]
		if !known {
			promise = never
		}
		if s.promised.IsZero() || promise.Before(s.promised) {
			s.promised = promise
		}
	}
}
