package ship

import (
	"maps"
	"sync"

	"callgate/internal/calls/spool"
)

// progress brings the workers of a spool together: a segment is confirmed when all have confirmed their part of it,
// and removed when all agree that theirs is safe.
type progress struct {
	spool *spool.Spool

	mu      sync.Mutex // never held while the spool is asked, which holds its own and asks back
	workers int
	sent    map[*spool.Segment]map[int]bool // by worker; of segments that are not confirmed by all
	safe    map[*spool.Segment]map[int]bool // by worker; of segments that are confirmed

	reaching    sync.Mutex
	unreachable map[int]bool // workers that cannot reach their shard
}

func newProgress(of *spool.Spool) *progress {
	return &progress{spool: of, sent: map[*spool.Segment]map[int]bool{}, safe: map[*spool.Segment]map[int]bool{}, unreachable: map[int]bool{}}
}

// begin says how many workers there are.
func (p *progress) begin(workers int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.workers = workers
}

// confirm notes that a worker has sent its part of a segment.
func (p *progress) confirm(w *worker, g *spool.Segment) {
	if p.complete(p.sent, w, g) {
		p.spool.Confirm(g)
	}
}

// release notes that what a worker has confirmed of a segment is safe.
func (p *progress) release(w *worker, g *spool.Segment) {
	if p.complete(p.safe, w, g) {
		p.spool.Remove(g)
	}
}

// complete adds a worker to those of a segment, and tells whether it was the last one.
func (p *progress) complete(of map[*spool.Segment]map[int]bool, w *worker, g *spool.Segment) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if of[g] == nil {
		of[g] = map[int]bool{}
	}
	of[g][w.index] = true
	if len(of[g]) < p.workers {
		return false
	}
	delete(of, g)
	return true
}

// released tells whether a worker has said that its part is safe.
func (p *progress) released(w *worker, g *spool.Segment) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.safe, func(g *spool.Segment, _ map[int]bool) bool { return g.Removed() })
	return p.safe[g][w.index]
}

// revoke makes a worker send its part of a segment again; the parts of others are there.
func (p *progress) revoke(w *worker, g *spool.Segment) error {
	p.mu.Lock()
	sent, revoked := p.sent[g]
	if !revoked {
		sent = map[int]bool{}
		for i := range p.workers {
			sent[i] = true
		}
	}
	delete(sent, w.index)
	if len(sent) > 0 {
		p.sent[g] = sent
	}
	delete(p.safe, g)
	p.mu.Unlock()
	if revoked {
		return nil // by another worker, for its own part
	}
	err := p.spool.Revoke(g)
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.sent, g)
	}
	return err
}

// setReachable notes whether a worker reaches its shard. As long as any does, segments are sealed for it.
func (p *progress) setReachable(w *worker, can bool) {
	p.reaching.Lock()
	defer p.reaching.Unlock()
	p.unreachable[w.index] = !can
	reached := false
	for i := range p.workers {
		reached = reached || !p.unreachable[i]
	}
	p.spool.SetReachable(reached)
}
