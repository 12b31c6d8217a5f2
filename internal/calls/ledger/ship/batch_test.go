package ship

import (
	"fmt"
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/shards"
	"callgate/internal/calls/spool"
)

func TestBatchesAreCutAlikeByWhoeverReadsTheSegment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	midnight := beijing.Today(time.Now()).Start()
	var records []*calls.Record
	for i := range 300 { // alternating days, the order within a day rising
		records = append(records, callstest.Success(midnight.Add(time.Duration(i%3-1)*24*time.Hour+time.Duration(i)*time.Millisecond)))
	}
	open := func() *spool.Spool {
		opened, err := spool.Open(t.Context(), spool.Config{Dir: dir}, callstest.Quiet, nil)
		if err != nil {
			t.Fatal(err)
		}
		return opened
	}
	writing := open()
	for _, record := range records {
		writing.Add(record)
	}
	writing.Drain(t.Context())
	if err := writing.Close(); err != nil {
		t.Fatal(err)
	}
	adopting := open()
	for range 100 { // a process that another test is starting has the lock for a moment, too: then this is another spool beside it
		if adopting.Backlog() > 0 {
			break
		}
		_ = adopting.Close()
		time.Sleep(10 * time.Millisecond)
		adopting = open()
	}
	t.Cleanup(func() { _ = adopting.Close() })
	var g *spool.Segment
	for g = range adopting.Unsent() {
		break
	}
	read := func() []*batch {
		var content spool.Content
		if err := content.Read(g); err != nil {
			t.Fatal(err)
		}
		return cut(new(shards.Shard), g, content.Rows)
	}
	first, second := read(), read()
	if len(first) != 3 || len(second) != 3 {
		t.Fatalf("%d and %d batches for three days", len(first), len(second))
	}
	for i, b := range first {
		if b.token != second[i].token || b.token != fmt.Sprintf("%s/%s/0", g.ID, beijing.Today(time.Now())+beijing.Day(i-1)) {
			t.Errorf("tokens %s and %s", b.token, second[i].token)
		}
		for j, r := range b.rows {
			if r.Call != second[i].rows[j].Call || beijing.DayOf(time.UnixMilli(r.Start)) != b.day {
				t.Errorf("row %d of %s differs or is of another day", j, b.token)
			}
			if j > 0 && r.Start <= b.rows[j-1].Start {
				t.Errorf("row %d of %s is not in record order", j, b.token)
			}
		}
	}
}
