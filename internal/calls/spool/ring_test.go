package spool

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
)

func TestAFullRingDropsDetailsBeforeRecordsAndCountsBoth(t *testing.T) {
	d := newDrops(uuid.New(), "")
	r := newRing(40*recordBytes, d)
	now := time.Now()
	for range 100 {
		call := callstest.Failed(now)
		call.Failure.RequestBody = make([]byte, 4*recordBytes)
		r.add(call)
	}
	batch := r.take()
	details := 0
	for _, record := range batch {
		if record.Failure != nil {
			details++
		}
	}
	shed, dropped := r.lost()
	if len(batch)+int(dropped) != 100 || details+int(shed) != 100 || details == 0 || dropped == 0 || details >= len(batch) {
		t.Errorf("%d records with %d details kept, %d records and %d details dropped", len(batch), details, dropped, shed)
	}
	all, _ := d.Unstored()
	if len(all) != 1 || all[0].Calls != int64(dropped) || all[0].Key.Application != callstest.Application {
		t.Errorf("counted %+v, dropped %d", all, dropped)
	}
	r.written(batch)
	if r.add(callstest.Success(now)); r.bytes != recordBytes {
		t.Errorf("%d bytes are held for one record", r.bytes)
	}
}

func TestADropBelongsToTheBeijingDayOfItsStart(t *testing.T) {
	d := newDrops(uuid.New(), "")
	r := newRing(0, d)
	r.add(callstest.Success(time.Date(2026, 12, 31, 15, 59, 59, 999e6, time.UTC)))
	r.add(callstest.Success(time.Date(2026, 12, 31, 16, 0, 0, 0, time.UTC)))
	days := map[string]int64{}
	all, _ := d.Unstored()
	for _, drop := range all {
		days[drop.Key.Day.String()] = drop.Calls
	}
	if len(days) != 2 || days["2026-12-31"] != 1 || days["2027-01-01"] != 1 {
		t.Errorf("days %v", days)
	}
}

func TestEveryRecordAddedFromManyGoroutinesIsTakenOnce(t *testing.T) {
	r := newRing(1<<30, newDrops(uuid.New(), ""))
	const goroutines, each = 8, 2_000
	var adding sync.WaitGroup
	now := time.Now()
	for range goroutines {
		adding.Go(func() {
			for range each {
				r.add(callstest.Success(now))
			}
		})
	}
	done := make(chan struct{})
	go func() { adding.Wait(); close(done) }()
	seen := map[*calls.Record]bool{}
	take := func() {
		batch := r.take()
		for _, record := range batch {
			if seen[record] {
				t.Error("a record was taken twice")
			}
			seen[record] = true
		}
		r.written(batch)
	}
	for open := true; open; {
		select {
		case <-r.wake:
			take()
		case <-done:
			open = false
		}
	}
	take()
	if len(seen) != goroutines*each || r.bytes != 0 || r.pending() != Never {
		t.Errorf("%d of %d records taken, %d bytes held", len(seen), goroutines*each, r.bytes)
	}
}
