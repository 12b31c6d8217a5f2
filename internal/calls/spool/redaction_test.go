package spool

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/calls/callstest"
)

func newQueue() (*redactionQueue, *ring) {
	r := newRing(64<<20, newDrops(uuid.New(), ""))
	return newRedactionQueue(r, callstest.Quiet), r
}

func TestARedactionIsNotMadeByWhoeverHandsTheCallOver(t *testing.T) {
	q, ring := newQueue()
	start := time.Now()
	call := callstest.Refused(start, 10_000)
	q.add(call)
	if call.Failure != nil || len(ring.waiting) != 0 {
		t.Fatal("the detail was made before Add returned")
	}
	if q.pending() != endOf(call) {
		t.Error("the ledger would be through before a call that waits for its redaction")
	}
	q.done.Go(q.run)
	q.close()
	if len(ring.waiting) != 1 || call.Unredacted != nil || !strings.Contains(string(call.Failure.RequestBody), "[REDACTED]") ||
		strings.Contains(string(call.Failure.RequestBody), "hunter2") {
		t.Errorf("record %+v, detail %+v", call, call.Failure)
	}
	if q.pending() != Never || q.bytes != 0 {
		t.Errorf("pending %d, %d bytes after all was made", q.pending(), q.bytes)
	}
}

func TestWhatWaitsForItsRedactionIsBoundedInBytesAndNothingIsLost(t *testing.T) {
	q, ring := newQueue()
	const count = 500
	most := 0
	for i := range count {
		if i == count/2 {
			q.done.Go(q.run) // until here nothing is taken off
		}
		q.add(callstest.Refused(time.Now(), 16_000))
		q.mu.Lock()
		most = max(most, q.bytes)
		q.mu.Unlock()
	}
	q.close()
	q.add(callstest.Refused(time.Now(), 16_000)) // too late for the queue
	if most > maxRedaction || most < maxRedaction/2 {
		t.Errorf("%d bytes waited", most)
	}
	if len(ring.waiting) != count+1 {
		t.Errorf("%d of %d records came", len(ring.waiting), count+1)
	}
	for _, record := range ring.waiting {
		if record.Unredacted != nil || record.Failure == nil || !strings.Contains(string(record.Failure.RequestBody), "[REDACTED]") {
			t.Fatalf("%+v has no detail", record)
		}
	}
}
