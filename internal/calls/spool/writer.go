package spool

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/calls"
)

const (
	beat       = 2 * time.Millisecond   // between two writes while records come: 1 ms cost 13 % more a call at 2,000 a second
	sealAfter  = 500 * time.Millisecond // age of its first record at which a segment is sealed
	syncEvery  = 200 * time.Millisecond
	retryWrite = 250 * time.Millisecond
	chunk      = 1 << 20 // bytes of one write, and up to one record more
)

// errNoRoom means the spool has reached the size it may have.
var errNoRoom = errors.New("spool has reached its size limit")

// writer moves records from the ring to segments. It alone writes; syncing happens beside it, so
// that a slow disk delays nobody.
type writer struct {
	ring  *ring
	spool *Spool
	limit int64 // bytes the spool may have, 0: what the disk holds
	every time.Duration
	log   *slog.Logger
	stop  chan struct{} // closed: write what is left, seal and return

	number   uint64
	file     *os.File
	sequence uint32
	size     int64
	torn     bool // a frame that a full disk cut short could not be removed
	began    time.Time
	buffer   []byte
	ends     []int // of the frames in buffer
	counted  tally // of the records in buffer
	sync     syncer
	written  atomic.Uint64 // records for which write has returned

	writeErrors atomic.Uint64
}

func newWriter(config Config, s *Spool) *writer {
	return &writer{
		ring: s.ring, spool: s, limit: config.MaxBytes, every: config.SealAfter, log: s.log, stop: make(chan struct{}),
	}
}

// run writes until stop is closed and the ring is empty. A record that cannot be written waits in
// the ring, and is tried again; giveUp ends that after stop.
func (w *writer) run(giveUp <-chan struct{}) {
	defer w.sync.close()
	next := time.NewTimer(time.Hour)
	defer next.Stop()
	for stopping := false; !stopping; {
		select {
		case <-w.ring.wake:
		case <-w.spool.caughtUp:
		case <-next.C:
		case <-w.stop:
			stopping = true
		}
		wrote := w.writeWaiting(stopping, giveUp)
		wait := time.Hour
		if w.file != nil {
			if left, due := w.due(); due || stopping {
				w.seal()
			} else {
				wait = left
			}
		}
		if wrote {
			wait = min(wait, beat)
		}
		next.Reset(wait)
	}
}

// writeWaiting writes what waits in the ring, or goes on until nothing comes any more. It reports whether there
// was anything.
func (w *writer) writeWaiting(all bool, giveUp <-chan struct{}) bool {
	for some := false; ; some = true {
		batch := w.ring.take()
		if len(batch) == 0 {
			return some
		}
		if w.store(batch, giveUp); !all {
			return true
		}
	}
}

// store writes a batch, however long the disk refuses it; after giveUp what is refused is dropped.
func (w *writer) store(batch []*calls.Record, giveUp <-chan struct{}) {
	rest := batch
	for tries := 0; len(rest) > 0; {
		n, err := w.append(rest)
		rest = rest[n:]
		if err == nil {
			continue
		}
		if tries%40 == 0 {
			w.log.Warn("cannot write call records; they wait in memory", "error", err, "records", len(rest))
		}
		tries++
		w.writeErrors.Add(1)
		if w.makeRoom() {
			continue
		}
		if w.sequence > 0 && w.file != nil {
			if _, due := w.due(); due {
				w.seal() // shipping it is what makes room
			}
		}
		select {
		case <-giveUp:
			for _, record := range rest {
				w.ring.drops.add(record)
			}
			rest = nil
		case <-time.After(retryWrite):
		}
	}
	w.ring.written(batch)
}

// append writes as many records of batch as one write and one segment take.
func (w *writer) append(batch []*calls.Record) (int, error) {
	if w.file == nil {
		if err := w.begin(batch[0]); err != nil {
			return 0, err
		}
	}
	id := w.spool.open.ID
	oldest := int64(Never)
	b, ends := w.buffer[:0], w.ends[:0]
	for _, record := range batch {
		sequence := w.sequence + uint32(len(ends))
		if sequence == MaxRecords || len(b) >= w.chunk() {
			break
		}
		at := len(b)
		b = appendPayload(beginFrame(b), record)
		endFrame(b, at, id[:], sequence)
		ends = append(ends, len(b))
	}
	w.buffer, w.ends = b, ends
	count, err := w.write(b, ends)
	w.counted = w.counted[:0]
	for _, record := range batch[:count] {
		oldest = min(oldest, endOf(record))
		w.counted = w.counted.add(beijing.DayOf(record.Start), 1)
	}
	if count > 0 {
		w.sequence += uint32(count)
		w.spool.appended(int64(ends[count-1]), oldest, w.counted)
		w.written.Add(uint64(count))
	}
	if w.torn || w.sequence == MaxRecords || w.size >= w.largest() {
		w.seal()
	}
	return count, err
}

// chunk is the size from which a write takes no more records.
func (w *writer) chunk() int { return int(min(chunk, w.largest())) }

// begin creates the next segment.
func (w *writer) begin(first *calls.Record) error {
	g := &Segment{ID: segmentID(w.spool.id), Spool: w.spool.id, number: w.number, dir: w.spool.home(), size: segmentHeader, oldest: endOf(first)}
	file, err := os.OpenFile(g.path(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("create segment: %w", err)
	}
	if _, err := file.Write(g.header()); err != nil {
		return errors.Join(fmt.Errorf("write segment header: %w", err), file.Close(), os.Remove(g.path()))
	}
	w.number++
	w.file, w.sequence, w.size, w.torn, w.began = file, 0, segmentHeader, false, time.Now()
	w.spool.begin(g)
	w.sync.begin(file)
	return nil
}

// write appends frames, which end at ends, and tells how many the file took whole: on a full disk
// perhaps some, and an error. What it took of the next one is cut off again; torn says that even
// that failed: readers step over it, and a new segment takes what follows.
func (w *writer) write(b []byte, ends []int) (frames int, err error) {
	if w.limit > 0 && w.spool.total()+int64(len(b)) > w.limit {
		return 0, errNoRoom
	}
	n, err := w.file.Write(b)
	frames = len(ends)
	if err != nil {
		err = fmt.Errorf("write segment: %w", err)
		frames, _ = slices.BinarySearch(ends, n+1) // those that end within n bytes
	}
	if frames > 0 {
		w.size += int64(ends[frames-1])
		w.sync.dirty.Store(true)
	}
	if n > 0 && err != nil {
		_, seekErr := w.file.Seek(w.size, io.SeekStart)
		cutErr := errors.Join(w.file.Truncate(w.size), seekErr)
		w.torn = cutErr != nil
		err = errors.Join(err, cutErr)
	}
	return frames, err
}

// makeRoom gives up sent segments that are only kept as a precaution, when the disk is full. It
// tells whether there were any.
func (w *writer) makeRoom() bool {
	kept := w.spool.SentBefore(time.Now())
	for _, g := range kept {
		w.spool.Remove(g)
	}
	return len(kept) > 0
}
