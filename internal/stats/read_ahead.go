package stats

import (
	"context"
	"slices"
)

// readAhead reads the page of a list that begins, while what arrived lately is still asked: the rollups tell already where
// the page is, unless something came meanwhile. It is of use where it turns out to be there, among days that are the same at
// every instant; else the page is read as ever.
type readAhead struct {
	r      *Reader
	q      CallsQuery
	cancel context.CancelFunc
	done   chan struct{} // nil: nothing is read
	window pageWindow
	items  []Call
	err    error
}

// ahead is for the page of a query, nil where none is read ahead; its stop must be called.
func (r *Reader) ahead(q CallsQuery) *readAhead {
	if q.Until != nil || q.At != nil || q.From != nil || q.To != nil {
		return nil
	}
	asOf := r.now().Add(-oldestUntil) // before any instant that the list may turn out to be of
	q.Until = &asOf
	return &readAhead{r: r, q: q}
}

// begin starts to read the page where these counts say that it is, once.
func (a *readAhead) begin(ctx context.Context, t series) {
	if a == nil || a.done != nil {
		return
	}
	t.sort()
	if w := t.find(a.q, t.matches(a.q.Result)); w.count == 0 || !a.q.allInTime(w.buckets) {
		return
	}
	ctx, a.cancel = context.WithTimeout(ctx, queryTimeout)
	a.done = make(chan struct{})
	go func() {
		defer close(a.done)
		if a.window, a.err = a.r.locate(ctx, a.q, t); a.err == nil {
			a.items, a.err = a.r.read(ctx, a.q, a.window)
		}
	}()
}

// take gives the rows of a window if they were read.
func (a *readAhead) take(w pageWindow) (items []Call, ok bool) {
	if a == nil || a.done == nil {
		return nil, false
	}
	<-a.done
	same := a.window.count == w.count && a.window.skip == w.skip && a.window.inside == w.inside && slices.Equal(a.window.buckets, w.buckets)
	return a.items, same && a.err == nil
}

// stop ends what is still read.
func (a *readAhead) stop() {
	if a != nil && a.done != nil {
		a.cancel()
		<-a.done
	}
}
