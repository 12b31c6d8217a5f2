package callstest

import (
	"bytes"
	"slices"
	"time"

	"callgate/internal/calls"
)

// FrameHeader is the size of what stands before a frame's payload, in bytes.
const FrameHeader = 16

// Sample is a segment's worth of calls, failures with bodies among them.
func Sample() []*calls.Record {
	var records []*calls.Record
	for i := range 7 {
		r := Success(time.Now().Add(time.Duration(i) * time.Millisecond))
		if i%3 == 2 {
			r = Failed(r.Start)
		}
		r.ResponseBytes = int64(i)
		records = append(records, r)
	}
	return records
}

// Injury is one way to damage the byte of a segment at a position.
type Injury struct {
	Name   string
	Injure func(data []byte, at int) []byte
}

const cutOff = "cut off from here"

// Injuries are all ways.
var Injuries = []Injury{
	{"lowest bit flipped", func(data []byte, at int) []byte { return flipped(data, at, 0x01) }},
	{"highest bit flipped", func(data []byte, at int) []byte { return flipped(data, at, 0x80) }},
	{"all bits flipped", func(data []byte, at int) []byte { return flipped(data, at, 0xff) }},
	{"cut out", func(data []byte, at int) []byte { return slices.Delete(bytes.Clone(data), at, at+1) }},
	{cutOff, func(data []byte, at int) []byte { return bytes.Clone(data[:at]) }},
}

func flipped(data []byte, at int, mask byte) []byte {
	broken := bytes.Clone(data)
	broken[at] ^= mask
	return broken
}

// Expect tells which of n records an injury at a position may cost: the one it hits, or when the
// file is cut off all from there on. missed is how many of them can be known to be lost. ends are those of
// the header and of every frame, the sealing one too.
func (j Injury) Expect(ends []int, at int) (lost func(i int) bool, missed int) {
	n := len(ends) - 2
	hit := slices.IndexFunc(ends, func(end int) bool { return at < end }) - 1 // -1: the header, n: the seal
	if j.Name != cutOff {
		if hit >= 0 && hit < n {
			missed = 1
		}
		return func(i int) bool { return i == hit }, missed
	}
	if hit >= 0 && hit < n && at-ends[hit] > FrameHeader { // less may be a torn seal
		missed = 1
	}
	return func(i int) bool { return i >= hit }, missed
}
