package calls

import (
	"fmt"
	"log/slog"
	"sync"
)

const (
	// maxRedaction bounds the memory of the inputs that wait for their redaction, in bytes, and with it
	// how long they wait: some 32 of the largest, for about a millisecond each at worst.
	maxRedaction = 1 << 20
	// redactAtOnce is the size of an input, in bytes, below which its redaction costs less than handing
	// it over.
	redactAtOnce = 1 << 10
)

// redaction makes the details of failed calls beside the call path: what an input costs depends on
// what a caller wrote in it, and neither its answer nor the records of others are to wait for that.
// Successes never pass here, and what is not redacted never leaves memory. When too much waits, a call
// makes its own detail: whoever sends much that is costly waits for it alone.
type redaction struct {
	ring *ring
	log  *slog.Logger
	done sync.WaitGroup
	wake chan struct{}

	mu      sync.Mutex
	waiting []*Record
	spare   []*Record // the last batch, for reuse
	bytes   int       // of the inputs not yet redacted
	oldest  int64     // least end of the waiting records, Unix ms
	taken   int64     // least end of the records in work, Unix ms
	closed  bool
}

func newRedaction(r *ring, log *slog.Logger) *redaction {
	return &redaction{ring: r, log: log, wake: make(chan struct{}, 1), oldest: never, taken: never}
}

// add takes a failed call whose detail is to be made, and hands it on to the ring once it is.
func (q *redaction) add(record *Record) {
	size := record.Unredacted.size()
	if size > redactAtOnce && q.queue(record, size) {
		return
	}
	q.redact(record)
}

func (q *redaction) queue(record *Record, size int) bool {
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
		q.rouse()
	}
	q.mu.Unlock()
	return true
}

// rouse makes run look; under the lock, because close closes the channel.
func (q *redaction) rouse() {
	select {
	case q.wake <- struct{}{}:
	default: // it is about to look anyway
	}
}

// redact makes a record's detail and hands the record to the ring.
func (q *redaction) redact(record *Record) {
	if err := record.Redact(); err != nil {
		q.log.Error("cannot make a failure's detail", "call", record.CallID, "error", err)
	}
	q.ring.add(record)
}

// run makes details until close.
func (q *redaction) run() {
	for range q.wake {
		for batch := q.take(); len(batch) > 0; batch = q.take() {
			for i, record := range batch {
				size := record.Unredacted.size()
				q.redact(record)
				batch[i] = nil
				q.mu.Lock()
				q.bytes -= size
				q.mu.Unlock()
			}
			q.mu.Lock()
			q.taken, q.spare = never, batch[:0]
			q.mu.Unlock()
		}
	}
}

func (q *redaction) take() []*Record {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.waiting
	q.waiting, q.spare = q.spare[:0], nil
	q.taken, q.oldest = q.oldest, never
	return batch
}

// pending is the least end of the records not yet handed to the ring, in Unix ms, or never.
func (q *redaction) pending() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return min(q.oldest, q.taken)
}

// close makes every call make its own detail from now on, and waits until nothing is queued.
func (q *redaction) close() {
	q.mu.Lock()
	q.closed = true
	q.rouse()
	close(q.wake)
	q.mu.Unlock()
	q.done.Wait()
}

// Redact makes the failure's detail of what is known of the call, which is forgotten. It fails only
// by a fault of its own: then the detail says no more than why the call failed.
func (r *Record) Redact() (err error) {
	in := r.Unredacted
	if in == nil {
		return nil
	}
	r.Unredacted = nil
	defer func() {
		if p := recover(); p != nil { // an input nobody thought of must not cost the record
			r.Failure = &Failure{Message: cut(in.Message, maxMessage), BodyNote: NotFullyRead}
			err = fmt.Errorf("panic in the redaction: %v", p)
		}
	}()
	r.Failure = NewFailure(*in)
	return nil
}

// size is the memory an input takes, in bytes.
func (in *FailureInput) size() int {
	n := len(in.Message) + len(in.Method) + len(in.Path) + len(in.RawQuery) + cap(in.Body) + len(in.ContentType) + cap(in.UpstreamBody)
	for _, secret := range in.Secrets {
		n += len(secret)
	}
	return n
}
