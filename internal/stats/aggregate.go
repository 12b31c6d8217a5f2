package stats

import (
	"encoding/binary"
	"slices"
)

// aggregate is a set of calls and how many of them fell into each duration bucket.
type aggregate struct {
	sums
	buckets []int64 // by number; none are beyond its end
}

func (t *aggregate) add(part *aggregate) {
	t.sums.add(part.sums)
	t.reach(len(part.buckets))
	for bucket, n := range part.buckets {
		t.buckets[bucket] += n
	}
}

func (t *aggregate) count(bucket uint16, n int64) {
	t.reach(int(bucket) + 1)
	t.buckets[bucket] += n
}

// reach makes room for so many buckets.
func (t *aggregate) reach(buckets int) {
	if more := buckets - len(t.buckets); more > 0 {
		t.buckets = append(t.buckets, make([]int64, more)...)
	}
}

// isWhole tells whether every call is in a bucket, and nothing was taken from one that it did not hold.
func (t *aggregate) isWhole() bool {
	left := t.calls
	for _, n := range t.buckets {
		if n < 0 {
			return false
		}
		left -= n
	}
	return left == 0
}

func (t *aggregate) clone() *aggregate { return &aggregate{t.sums, slices.Clone(t.buckets)} }

// percentileLevels are those of figures, in ten-millionths.
var percentileLevels = [...]int64{4_999_999, 9_499_999, 9_899_999}

// tally takes the percentiles at the rank of figures: ceil(level * calls), the level a hair low.
func (t *aggregate) tally() tally {
	if t == nil || t.calls == 0 {
		return tally{}
	}
	const whole = 10_000_000
	found := make([]uint16, 0, len(percentileLevels))
	for _, level := range percentileLevels {
		rank := t.calls/whole*level + (t.calls%whole*level+whole-1)/whole
		for bucket, n := range t.buckets {
			if rank -= n; rank <= 0 {
				found = append(found, uint16(bucket))
				break
			}
		}
	}
	return tally{t.sums, found}
}

func (t *aggregate) metrics() Metrics { return t.tally().metrics() }

// What follows is how servers send the state of quantilesTiming to each other, as far as numbers below 1,024 go: its kind, the
// sum of weights, then all weights by number or, where they are few, pairs of number and weight, ended by a number that is
// too large to be one.
const (
	timingEmpty, timingLarge = 1, 3
	timingHead               = 1 + 8
	timingNumbers            = 1024
	timingEnd                = 30_000
	timingFew                = (timingNumbers + (timingEnd-timingNumbers)/16) / 2 // sums up to here are of pairs

	maxTimingState = timingHead + timingNumbers*(2+8) + 2
)

// readTiming takes the buckets from the state of figures' percentiles, whose weights are thousandfold, and of which no more than
// maxTimingState bytes are needed. False tells that it is none.
func (t *aggregate) readTiming(state string) bool {
	if len(state) > 0 && state[0] == timingEmpty {
		return true
	}
	if len(state) < timingHead || state[0] != timingLarge {
		return false
	}
	sum, rest := binary.LittleEndian.Uint64([]byte(state[1:timingHead])), []byte(state[timingHead:])
	if sum > timingFew {
		return t.readWeights(rest)
	}
	for len(rest) >= 2 {
		bucket := binary.LittleEndian.Uint16(rest)
		rest = rest[2:]
		if bucket == timingEnd {
			return true
		}
		if bucket >= timingNumbers || len(rest) < 8 {
			return false
		}
		t.weigh(bucket, rest)
		rest = rest[8:]
	}
	return false
}

func (t *aggregate) readWeights(weights []byte) bool {
	if len(weights) < 8*timingNumbers {
		return false
	}
	for bucket := range uint16(timingNumbers) {
		t.weigh(bucket, weights[8*bucket:])
	}
	return true
}

func (t *aggregate) weigh(bucket uint16, weight []byte) {
	if n := int64(binary.LittleEndian.Uint64(weight)); n != 0 {
		t.count(bucket, n/1000)
	}
}
