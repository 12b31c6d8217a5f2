package spool

import (
	"os"
	"slices"
	"testing"

	"github.com/google/uuid"

	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
)

// whole is a sealed segment of real records as the writer leaves it, and where each frame ends.
func whole(records []*calls.Record) (g *Segment, data []byte, ends []int) {
	g = &Segment{ID: uuid.New(), Spool: uuid.New(), oldest: endOf(records[0])}
	data = g.header()
	ends = append(ends, len(data))
	for i, r := range records {
		at := len(data)
		data = appendPayload(beginFrame(data), r)
		endFrame(data, at, g.ID[:], uint32(i))
		ends = append(ends, len(data))
	}
	at := len(data)
	data = beginFrame(data)
	endFrame(data, at, g.ID[:], uint32(len(records)))
	return g, data, append(ends, len(data))
}

// TestEveryByteOfASegmentDamagedInTurnCostsOnlyItsRecordWhichIsMissed reads the damaged file as the
// shipper does.
func TestEveryByteOfASegmentDamagedInTurnCostsOnlyItsRecordWhichIsMissed(t *testing.T) {
	t.Parallel()
	records := callstest.Sample()
	g, data, ends := whole(records)
	g.dir = t.TempDir()
	var read Content
	files := 0
	for at := range data {
		for _, j := range callstest.Injuries {
			if err := os.WriteFile(g.path(), j.Injure(data, at), 0o600); err != nil {
				t.Fatal(err)
			}
			adopted, err := openSegment(g.path(), g.Spool)
			if err != nil {
				t.Fatalf("byte %d %s: %v", at, j.Name, err)
			}
			if err := read.Read(adopted); err != nil {
				t.Fatalf("byte %d %s: %v", at, j.Name, err)
			}
			lost, missed := j.Expect(ends, at)
			if got := read.Damaged + len(read.Undecodable); got != missed {
				t.Fatalf("byte %d %s: %d are counted as missed, want %d", at, j.Name, got, missed)
			}
			for i, r := range records {
				kept := slices.ContainsFunc(read.Rows, func(got Row) bool { return got.Call == r.CallID })
				if kept == lost(i) {
					t.Fatalf("byte %d %s: record %d is kept: %v", at, j.Name, i, kept)
				}
			}
			files++
		}
	}
	t.Logf("%d bytes, %d damaged files", len(data), files)
}
