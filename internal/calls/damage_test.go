package calls

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
)

// whole is a sealed segment of real records as the writer leaves it, and where each frame ends.
func whole(records []*Record) (g *segment, data []byte, ends []int) {
	g = &segment{id: uuid.New(), spool: uuid.New(), oldest: endOf(records[0])}
	data = g.header()
	ends = append(ends, len(data))
	for i, r := range records {
		at := len(data)
		data = appendPayload(beginFrame(data), r)
		endFrame(data, at, g.id[:], uint32(i))
		ends = append(ends, len(data))
	}
	at := len(data)
	data = beginFrame(data)
	endFrame(data, at, g.id[:], uint32(len(records)))
	return g, data, append(ends, len(data))
}

// injury is one way to damage the byte at a position.
type injury struct {
	name   string
	injure func(data []byte, at int) []byte
}

var injuries = []injury{
	{"lowest bit flipped", func(data []byte, at int) []byte { return flipped(data, at, 0x01) }},
	{"highest bit flipped", func(data []byte, at int) []byte { return flipped(data, at, 0x80) }},
	{"all bits flipped", func(data []byte, at int) []byte { return flipped(data, at, 0xff) }},
	{"cut out", func(data []byte, at int) []byte { return slices.Delete(bytes.Clone(data), at, at+1) }},
	{"cut off from here", func(data []byte, at int) []byte { return bytes.Clone(data[:at]) }},
}

func flipped(data []byte, at int, mask byte) []byte {
	broken := bytes.Clone(data)
	broken[at] ^= mask
	return broken
}

// expect tells which of n records an injury at a position may cost: the one it hits, or when the
// file is cut off all from there on. missed is how many of them can be known to be lost.
func (j injury) expect(ends []int, at int) (lost func(i int) bool, missed int) {
	n := len(ends) - 2
	hit := slices.IndexFunc(ends, func(end int) bool { return at < end }) - 1 // -1: the header, n: the seal
	if j.name != "cut off from here" {
		if hit >= 0 && hit < n {
			missed = 1
		}
		return func(i int) bool { return i == hit }, missed
	}
	if hit >= 0 && hit < n && at-ends[hit] > frameHeader { // less may be a torn seal
		missed = 1
	}
	return func(i int) bool { return i >= hit }, missed
}

// sample is a segment's worth of calls, failures with bodies among them.
func sample() []*Record {
	var records []*Record
	for i := range 7 {
		r := success(time.Now().Add(time.Duration(i) * time.Millisecond))
		if i%3 == 2 {
			r = failed(r.Start)
		}
		r.ResponseBytes = int64(i)
		records = append(records, r)
	}
	return records
}

// TestEveryByteOfASegmentDamagedInTurnCostsOnlyItsRecordWhichIsMissed reads the damaged file as the
// shipper does.
func TestEveryByteOfASegmentDamagedInTurnCostsOnlyItsRecordWhichIsMissed(t *testing.T) {
	t.Parallel()
	records := sample()
	g, data, ends := whole(records)
	g.dir = t.TempDir()
	var read content
	files := 0
	for at := range data {
		for _, j := range injuries {
			if err := os.WriteFile(g.path(), j.injure(data, at), 0o600); err != nil {
				t.Fatal(err)
			}
			adopted, err := openSegment(g.path(), g.spool)
			if err != nil {
				t.Fatalf("byte %d %s: %v", at, j.name, err)
			}
			if err := read.read(adopted); err != nil {
				t.Fatalf("byte %d %s: %v", at, j.name, err)
			}
			lost, missed := j.expect(ends, at)
			if got := read.damaged + len(read.quarantined); got != missed {
				t.Fatalf("byte %d %s: %d are counted as missed, want %d", at, j.name, got, missed)
			}
			for i, r := range records {
				kept := slices.ContainsFunc(read.rows, func(got row) bool { return got.call == r.CallID })
				if kept == lost(i) {
					t.Fatalf("byte %d %s: record %d is kept: %v", at, j.name, i, kept)
				}
			}
			files++
		}
	}
	t.Logf("%d bytes, %d damaged files", len(data), files)
}

// TestSegmentsDamagedInEveryByteAreShippedButForTheDamagedRecords ships such segments to ClickHouse,
// every byte's in `make chaos`.
func TestSegmentsDamagedInEveryByteAreShippedButForTheDamagedRecords(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir := t.TempDir()
	step := fromEnvironment("CHAOS_DAMAGE_STEP", 173)
	var kept, missed int64
	files := 0
	_, data, _ := whole(sample())
	for at := 0; at < len(data)-frameHeader; at += step {
		for _, j := range injuries {
			records := sample()
			g, data, ends := whole(records)
			at := min(at, len(data)-1) // lengths differ by a byte or two
			g.dir = filepath.Join(dir, g.spool.String())
			if err := os.Mkdir(g.dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(g.path(), j.injure(data, at), 0o600); err != nil {
				t.Fatal(err)
			}
			lost, counted := j.expect(ends, at)
			for i := range records {
				if !lost(i) {
					kept++
				}
			}
			missed += int64(counted)
			files++
		}
	}
	began := time.Now()
	r := s.open(t, Config{SpoolDir: dir})
	eventually(t, 30*time.Minute, "all segments are shipped", func() bool { return r.spool.backlog() == 0 })
	if err := shut(r); err != nil {
		t.Fatal(err)
	}
	if n := s.counted(t); n != kept {
		t.Errorf("%d calls are counted of %d intact ones", n, kept)
	}
	if got := s.missed(t, ids(application), rangeOfToday()); got != missed {
		t.Errorf("%d are counted as missed, want %d", got, missed)
	}
	t.Logf("%d damaged segments in %v: %d intact records, all counted; %d missed", files, time.Since(began).Round(time.Millisecond), kept, missed)
}

// TestASegmentThatCannotBeReadHoldsBackNoOther puts a directory where a segment should be: reading
// fails, as on a bad disk.
func TestASegmentThatCannotBeReadHoldsBackNoOther(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir := t.TempDir()
	spooled(t, dir, many(10)...)
	home := filepath.Dir(segments(t, dir, unsentSuffix)[0])
	unreadable := filepath.Join(home, fmt.Sprintf("%012d-%s%s", 0, uuid.New(), unsentSuffix))
	if err := os.Mkdir(unreadable, 0o700); err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-time.Hour)
	if err := os.Chtimes(unreadable, then, then); err != nil { // the oldest goes first
		t.Fatal(err)
	}
	r := s.open(t, Config{SpoolDir: dir})
	eventually(t, 30*time.Second, "all others are counted", func() bool { return s.number(t, `SELECT toInt64(count()) FROM calls`) == 10 })
	eventually(t, 30*time.Second, "only the unreadable one waits", func() bool { return r.spool.backlog() == 1 })
	if err := os.Remove(unreadable); err != nil {
		t.Fatal(err)
	}
}
