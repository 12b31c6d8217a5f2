package spool

import (
	"log/slog"
	"sync"

	"callgate/internal/calls"
	"callgate/internal/redact"
)

const (
	// maxRedaction bounds the memory of the inputs that wait for their redaction, in bytes, and with it
	// how long they wait: some 32 of the largest, for about a millisecond each at worst.
	maxRedaction = 1 << 20
	// redactAtOnce is the size of an input, in bytes, below which its redaction costs less than handing
	// it over.
	redactAtOnce = 1 << 10
)

// redactionQueue makes the details of failed calls beside the call path: what an input costs depends on
// what a caller wrote in it, and neither its answer nor the records of others are to wait for that.
// Successes never pass here, and what is not redacted never leaves memory. When too much waits, a call
// makes its own detail: whoever sends much that is costly waits for it alone.
type redactionQueue struct {
	ring *ring
	log  *slog.Logger
	done sync.WaitGroup
	wake chan struct{}

	mu      sync.Mutex
	waiting []*calls.Record
	spare   []*calls.Record // the last batch, for reuse
	bytes   int             // of the inputs not yet redacted
	oldest  int64           // least end of the waiting records, Unix ms
	taken   int64           // least end of the records in work, Unix ms
	closed  bool
}

func newRedactionQueue(r *ring, log *slog.Logger) *redactionQueue {
	return &redactionQueue{ring: r, log: log, wake: make(chan struct{}, 1), oldest: Never, taken: Never}
}

// add takes a failed call whose detail is to be made, and hands it on to the ring once it is.
func (q *redactionQueue) add(record *calls.Record) {
	size := record.Unredacted.Size()
	if size > redactAtOnce && q.queue(record, size) {
		return
	}
	q.redact(record)
}

func (q *redactionQueue) queue(record *calls.Record, size int) bool {
	end := endOf(record)
	q.mu.Lock()
	if q.closed || q.bytes+size > maxRedaction {
		q.mu.Unlock()
		return false
	}
	first := len(q.waiting) == 0
	q.waiting = append(q.waiting, record)
	q.bytes += size
	q.oldest = min(q.oldest, end)
	if first {
		signal(q.wake) // under the lock, because close closes the channel
	}
	q.mu.Unlock()
	return true
}

// redact makes a record's detail and hands the record to the ring.
func (q *redactionQueue) redact(record *calls.Record) {
	if err := redact.Record(record); err != nil {
		q.log.Error("cannot make a failure's detail", "call", record.CallID, "error", err)
	}
	q.ring.add(record)
}

// run makes details until close.
func (q *redactionQueue) run() {
	for range q.wake {
		for batch := q.take(); len(batch) > 0; batch = q.take() {
			for i, record := range batch {
				size := record.Unredacted.Size()
				q.redact(record)
				batch[i] = nil
				q.mu.Lock()
				q.bytes -= size
				q.mu.Unlock()
			}
			q.mu.Lock()
			q.taken, q.spare = Never, batch[:0]
			q.mu.Unlock()
		}
	}
}

func (q *redactionQueue) take() []*calls.Record {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.waiting
	q.waiting, q.spare = q.spare[:0], nil
	q.taken, q.oldest = q.oldest, Never
	return batch
}

// pending is the least end of the records not yet handed to the ring, in Unix ms, or Never.
func (q *redactionQueue) pending() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return min(q.oldest, q.taken)
}

// close makes every call make its own detail from now on, and waits until nothing is queued.
func (q *redactionQueue) close() {
	q.mu.Lock()
	q.closed = true
	signal(q.wake)
	close(q.wake)
	q.mu.Unlock()
	q.done.Wait()
}
