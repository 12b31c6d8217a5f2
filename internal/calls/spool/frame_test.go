package spool

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
)

// image is the content of a sealed segment with n records, and where each frame ends.
func image(g *Segment, n int) (data []byte, ends []int) {
	data = g.header()
	ends = append(ends, len(data))
	for i := range n {
		at := len(data)
		data = append(beginFrame(data), fmt.Sprintf("payload %d", i)...)
		endFrame(data, at, g.ID[:], uint32(i))
		ends = append(ends, len(data))
	}
	at := len(data)
	data = beginFrame(data)
	endFrame(data, at, g.ID[:], uint32(n))
	return data, append(ends, len(data))
}

func scanAll(data []byte, g *Segment) (found scan, sequences []uint32) {
	found = scanFrames(data, g.ID[:], func(sequence uint32, payload string) {
		if payload != fmt.Sprintf("payload %d", sequence) {
			panic("a frame carries another one's payload")
		}
		sequences = append(sequences, sequence)
	})
	return found, sequences
}

func TestEveryFlippedByteCostsAtMostItsOwnRecord(t *testing.T) {
	g := &Segment{ID: uuid.New()}
	const n = 5
	data, ends := image(g, n)
	for at := range data {
		for _, mask := range []byte{0x01, 0x80, 0xff} {
			broken := bytes.Clone(data)
			broken[at] ^= mask
			hit := slices.IndexFunc(ends, func(end int) bool { return at < end }) - 1 // -1: the header, n: the seal
			found, sequences := scanAll(broken, g)
			for i := range n {
				if kept := slices.Contains(sequences, uint32(i)); kept != (i != hit) {
					t.Fatalf("byte %d of frame %d flipped by %#x: record %d kept = %v", at, hit, mask, i, kept)
				}
			}
			if wantDamaged := hit >= 0 && hit < n; (found.damaged == 1) != wantDamaged || found.sealed == (hit == n) {
				t.Fatalf("byte %d of frame %d flipped: %+v", at, hit, found)
			}
		}
	}
}

func TestEveryByteCutOutOrAddedCostsAtMostItsOwnRecord(t *testing.T) {
	g := &Segment{ID: uuid.New()}
	const n = 5
	data, ends := image(g, n)
	for at := range data {
		hit := slices.IndexFunc(ends, func(end int) bool { return at < end }) - 1
		for name, broken := range map[string][]byte{
			"cut out": slices.Delete(bytes.Clone(data), at, at+1),
			"doubled": slices.Insert(bytes.Clone(data), at, data[at]),
		} {
			_, sequences := scanAll(broken, g)
			for i := range n {
				if i != hit && !slices.Contains(sequences, uint32(i)) {
					t.Fatalf("byte %d of frame %d %s: record %d is lost", at, hit, name, i)
				}
			}
		}
	}
}

func TestATornTailCostsOnlyTheTornRecord(t *testing.T) {
	g := &Segment{ID: uuid.New()}
	data, ends := image(g, 5)
	for size := range len(data) {
		whole := 0
		for _, end := range ends[1:6] {
			if end <= size {
				whole++
			}
		}
		found, sequences := scanAll(data[:size], g)
		if len(sequences) != whole || found.damaged != 0 || found.sealed {
			t.Fatalf("cut at %d: %d records of %d, %+v", size, len(sequences), whole, found)
		}
	}
}

func TestAFrameOfAnotherSegmentNeverPasses(t *testing.T) {
	data, _ := image(&Segment{ID: uuid.New()}, 5)
	if found, _ := scanAll(data, &Segment{ID: uuid.New()}); found.records != 0 {
		t.Fatalf("%d records of another segment were taken", found.records)
	}
}

func TestAFrameWrittenTwiceCountsOnce(t *testing.T) {
	g := &Segment{ID: uuid.New()}
	data, ends := image(g, 5)
	doubled := slices.Concat(data[:ends[3]], data[ends[1]:])
	if _, sequences := scanAll(doubled, g); !slices.Equal(sequences, []uint32{0, 1, 2, 3, 4}) {
		t.Fatalf("sequences %v", sequences)
	}
}

func FuzzScanFrames(f *testing.F) {
	g := &Segment{ID: uuid.UUID{1}}
	data, _ := image(g, 3)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		var last int64 = -1
		scanFrames(data, g.ID[:], func(sequence uint32, _ string) {
			if int64(sequence) <= last {
				t.Errorf("sequence %d after %d", sequence, last)
			}
			last = int64(sequence)
		})
	})
}
