package calls

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// refused is a failed call as the gateway hands it over, with a body of n bytes.
func refused(start time.Time, n int) *Record {
	r := success(start)
	r.StatusCode, r.Success, r.EndedBy, r.ReasonType, r.ReasonCode = 403, false, Denied, PermissionDenied, ApplicationDisabled
	in := request(`{"api_key":"hunter2-canary","text":"` + strings.Repeat("x", n) + `"}`)
	r.Unredacted = &in
	return r
}

func newQueue() (*redaction, *ring) {
	r := newRing(64<<20, newDrops(uuid.New()))
	return newRedaction(r, quiet), r
}

func TestARedactionIsNotMadeByWhoeverHandsTheCallOver(t *testing.T) {
	q, ring := newQueue()
	start := time.Now()
	call := refused(start, 10_000)
	q.add(call)
	if call.Failure != nil || len(ring.waiting) != 0 {
		t.Fatal("the detail was made before Add returned")
	}
	if q.pending() != endOf(call) {
		t.Error("the ledger would be through before a call that waits for its redaction")
	}
	q.done.Go(q.run)
	q.close()
	if len(ring.waiting) != 1 || call.Unredacted != nil || !strings.Contains(string(call.Failure.RequestBody), redacted) ||
		strings.Contains(string(call.Failure.RequestBody), "hunter2") {
		t.Errorf("record %+v, detail %+v", call, call.Failure)
	}
	if q.pending() != never || q.bytes != 0 {
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
		q.add(refused(time.Now(), 16_000))
		q.mu.Lock()
		most = max(most, q.bytes)
		q.mu.Unlock()
	}
	q.close()
	q.add(refused(time.Now(), 16_000)) // too late for the queue
	if most > maxRedaction || most < maxRedaction/2 {
		t.Errorf("%d bytes waited", most)
	}
	if len(ring.waiting) != count+1 {
		t.Errorf("%d of %d records came", len(ring.waiting), count+1)
	}
	for _, record := range ring.waiting {
		if record.Unredacted != nil || record.Failure == nil || !strings.Contains(string(record.Failure.RequestBody), redacted) {
			t.Fatalf("%+v has no detail", record)
		}
	}
}

func TestDetailsMadeBesideTheCallAreCountedOnceAndWhole(t *testing.T) {
	s := openStores(t)
	r := s.open(t, Config{})
	const count = 2_000
	for i := range count {
		if i%2 == 0 {
			r.Add(success(time.Now()))
		} else {
			r.Add(refused(time.Now(), i*8))
		}
	}
	if err := shut(r); err != nil {
		t.Fatal(err)
	}
	if n := s.counted(t); n != count {
		t.Errorf("%d calls are counted of %d", n, count)
	}
	if n := s.number(t, `SELECT toInt64(countIf(request_body LIKE '%[REDACTED]%')) FROM call_failures`); n != count/2 {
		t.Errorf("%d details are whole of %d", n, count/2)
	}
	if n := s.number(t, `SELECT toInt64(countIf(request_body LIKE '%hunter2%')) FROM call_failures`); n != 0 {
		t.Errorf("%d details show a secret", n)
	}
}
