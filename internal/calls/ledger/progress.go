package ledger

import (
	"maps"
	"sync"

	"callgate/internal/calls/spool"
)

// progress brings the lanes of a spool together: a segment is confirmed when all have confirmed their part of it,
// and removed when all agree that theirs is safe.
type progress struct {
	spool *spool.Spool

	mu    sync.Mutex // never held while the spool is asked, which holds its own and asks back
	lanes int
	sent  map[*spool.Segment]map[int]bool // by lane; of segments that are not confirmed by all
	safe  map[*spool.Segment]map[int]bool // by lane; of segments that are confirmed

	reaching sync.Mutex
	silenced map[int]bool // lanes that cannot reach their shard
}

func newProgress(of *spool.Spool) *progress {
	return &progress{spool: of, sent: map[*spool.Segment]map[int]bool{}, safe: map[*spool.Segment]map[int]bool{}, silenced: map[int]bool{}}
}

// begin says how many lanes there are.
func (p *progress) begin(lanes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lanes = lanes
}

// confirm notes that a lane has sent its part of a segment.
func (p *progress) confirm(l *lane, g *spool.Segment) {
	if p.complete(p.sent, l, g) {
		p.spool.Confirm(g)
	}
}

// release notes that what a lane has confirmed of a segment is safe.
func (p *progress) release(l *lane, g *spool.Segment) {
	if p.complete(p.safe, l, g) {
		p.spool.Remove(g)
	}
}

// complete adds a lane to those of a segment, and tells whether it was the last one.
func (p *progress) complete(of map[*spool.Segment]map[int]bool, l *lane, g *spool.Segment) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if of[g] == nil {
		of[g] = map[int]bool{}
	}
	of[g][l.index] = true
	if len(of[g]) < p.lanes {
		return false
	}
	delete(of, g)
	return true
}

// released tells whether a lane has said that its part is safe.
func (p *progress) released(l *lane, g *spool.Segment) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.safe, func(g *spool.Segment, _ map[int]bool) bool { return g.Removed() })
	return p.safe[g][l.index]
}

// revoke makes a lane send its part of a segment again; the parts of others are there.
func (p *progress) revoke(l *lane, g *spool.Segment) error {
	p.mu.Lock()
	sent, revoked := p.sent[g]
	if !revoked {
		sent = map[int]bool{}
		for i := range p.lanes {
			sent[i] = true
		}
	}
	delete(sent, l.index)
	if len(sent) > 0 {
		p.sent[g] = sent
	}
	delete(p.safe, g)
	p.mu.Unlock()
	if revoked {
		return nil // by another lane, for its own part
	}
	err := p.spool.Revoke(g)
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.sent, g)
	}
	return err
}

// reach notes whether a lane reaches its shard. As long as any does, segments are sealed for it.
func (p *progress) reach(l *lane, can bool) {
	p.reaching.Lock()
	defer p.reaching.Unlock()
	p.silenced[l.index] = !can
	reached := false
	for i := range p.lanes {
		reached = reached || !p.silenced[i]
	}
	p.spool.SetReachable(reached)
}
