package spool

import (
	"sync"

	"callgate/internal/calls"
)

// recordBytes is what a record without detail weighs in memory: the struct, its model's share and
// its place in the ring.
const recordBytes = 320

// ring holds records between the call path and the writer, bounded by bytes. What the writer has
// taken still counts until it is written, so that a stalled disk cannot make memory grow.
type ring struct {
	mu      sync.Mutex
	waiting []*calls.Record
	spare   []*calls.Record // the writer's last batch, for reuse
	bytes   int             // of waiting and taken records
	limit   int
	oldest  int64 // least end of the waiting records, Unix ms
	taken   int64 // least end of the records the writer holds, Unix ms
	closed  bool
	beating bool // the writer comes by itself
	wake    chan struct{}

	drops        *Drops
	shedDetails  uint64 // details dropped to keep their records
	droppedTotal uint64
}

func newRing(limit int, d *Drops) *ring {
	return &ring{limit: limit, oldest: Never, taken: Never, wake: make(chan struct{}, 1), drops: d}
}

// add takes a record or counts it as dropped. Details may fill three quarters of the ring: the
// last quarter is kept for bare records.
func (r *ring) add(record *calls.Record) {
	record.MakeStorable(maxPayload / 2)
	size := recordBytes
	end := endOf(record)
	r.mu.Lock()
	if record.Failure != nil {
		if detail := record.Failure.Size(); r.bytes+size+detail <= r.limit/4*3 {
			size += detail
		} else {
			record.Failure = nil
			r.shedDetails++
		}
	}
	if r.closed || r.bytes+size > r.limit {
		r.droppedTotal++
		r.mu.Unlock()
		r.drops.add(record)
		return
	}
	first := len(r.waiting) == 0 && !r.beating
	r.waiting = append(r.waiting, record)
	r.bytes += size
	r.oldest = min(r.oldest, end)
	r.mu.Unlock()
	if first { // only after a rest: waking another goroutine costs more than most of a call's own work
		signal(r.wake)
	}
}

// take hands all waiting records to the writer, which must call written before it takes again. After some it
// comes again without being woken; after none it is woken by the next.
func (r *ring) take() []*calls.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	batch := r.waiting
	r.beating = len(batch) > 0
	r.waiting, r.spare = r.spare[:0], nil
	r.taken, r.oldest = r.oldest, Never
	return batch
}

// written gives back the room of records taken; the records and batch are reused.
func (r *ring) written(batch []*calls.Record) {
	bytes := 0
	for i, record := range batch {
		bytes += recordBytes
		if record.Failure != nil {
			bytes += record.Failure.Size()
		}
		batch[i] = nil
		record.Release()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes -= bytes
	r.taken = Never
	r.spare = batch[:0]
}

// pending is the least end of the records not yet written, in Unix ms, or Never.
func (r *ring) pending() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return min(r.oldest, r.taken)
}

// lost returns how many details and records were dropped since the start.
func (r *ring) lost() (details, records uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shedDetails, r.droppedTotal
}

// close makes add drop from now on, and wakes the writer.
func (r *ring) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	signal(r.wake)
}
