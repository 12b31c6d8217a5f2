// Package meter reads what an upstream's answer reports as used while the answer passes to the caller. Nothing is asked
// for, estimated or changed: a number is what the upstream said, at the place where its format has it, and what is not
// said stays unknown.
//
// In the order of a byte: reader.go tells by the first bytes how an answer is read,
// events.go and frames.go find the JSON in a stream, scanner.go walks through it, places.go says where each provider has
// its numbers and names, answer.go what counts of one text and of the next, and report.go what it all means. Of content
// nothing is taken: what no place leads to is passed over unread.
package meter

import (
	"callgate/internal/calls"
	"math/bits"
	"slices"
)

// State tells what is known of what a call used.
type State string

// The states. The zero State is that of calls that were not looked at.
const (
	None     State = "none"     // no answer of status 2xx to a POST
	Reported State = "reported" // the answer ended, and said what it used
	// Partial: the answer was interrupted, or ended before it said the last of what it used: what it had said by then, a
	// lower bound, or nothing.
	Partial    State = "partial"
	Absent     State = "absent"     // the answer ended and says nothing of what it used
	Deferred   State = "deferred"   // what was asked for is still to be done, and what it uses is told elsewhere
	Repeated   State = "repeated"   // an answer of before was handed out again, and what it says was counted then
	Unreadable State = "unreadable" // what it says cannot be read, or would cost too much to read
)

// Meter is something that is used and counted.
type Meter uint8

// The meters. Cached input and cache writes are part of Input, what is written for a time part of CacheWrite, Reasoning
// of Output, sounds and pictures of Input and Output, whatever the provider's own way to say it. In the order of
// calls.MeterNames: a whole comes before its parts.
const (
	Input Meter = iota
	Output
	CachedInput
	CacheWrite
	Reasoning
	CacheWrite5m
	CacheWrite30m
	CacheWrite1h
	CacheWrite12h
	InputAudio
	InputImage
	InputVideo
	OutputAudio
	OutputImage
	SearchUnits
	WebSearches
	ToolCalls
	Images
	Pages
	Characters
	Milliseconds

	// What the provider says that it charges: calls.MeterCostReports and calls.MeterReportedCost, which have no price.
	CostReports
	ReportedCost

	NumMeters = iota
	NumPriced = CostReports
)

// String is the name under which contract, ledger and price book have the meter.
func (m Meter) String() string { return calls.MeterNames[m] }

// Named gives the meter of a name.
func Named(name string) (Meter, bool) {
	m := slices.Index(calls.MeterNames, name)
	return Meter(max(m, 0)), m >= 0 //nolint:gosec // there are few
}

// maxCount bounds what a meter counts: more is nothing that one call used, and would make sums overflow that hold the
// calls of others.
const maxCount = 1<<32 - 1

// Meters are the numbers of a line, as far as they are known. The zero Meters know none.
type Meters struct {
	known  uint32 // a bit for each Meter
	counts [NumMeters]uint32
}

// Count is a number and whether it is known.
func (m *Meters) Count(of Meter) (n uint32, known bool) { return m.counts[of], m.known&(1<<of) != 0 }

// Set makes a number known.
func (m *Meters) Set(of Meter, n uint32) {
	m.known |= 1 << of
	m.counts[of] = n
}

// IsZero tells whether no number is known.
func (m *Meters) IsZero() bool { return m.known == 0 }

// Add adds the numbers of a line, but for those whose sum nothing can count, and tells whether it could add all.
func (m *Meters) Add(of *Meters) (all bool) {
	all = true
	for known := of.known; known != 0; known &= known - 1 {
		i := Meter(bits.TrailingZeros32(known))
		if sum := uint64(m.counts[i]) + uint64(of.counts[i]); sum > maxCount {
			all = false
		} else {
			m.Set(i, uint32(sum))
		}
	}
	return all
}

// Line is what one model used, or that a model answered and what it used is unknown.
type Line struct {
	// Model is the answer's own name of the model, valid UTF-8 of at most 100 bytes; OtherModel for a longer one, empty
	// when it gave none.
	Model string
	Tier  string // of service, as the answer names it; empty when it does not
	Meters
}

// maxLines bounds the models of one answer: what more of them used is OtherModel's.
const maxLines = 8

// OtherModel stands for models whose names are not kept.
const OtherModel = "other"

// Report is what an answer said.
type Report struct {
	State State
	// Lines begin with that of the model that answered. A later one is of a model that it used: a tool's, or an adviser.
	Lines    []Line
	AnswerID string // the answer's own; empty when it has none, or one that is longer than 100 bytes
	// ReportedCost is what the provider says that it charges, a decimal of at most 20 digits behind its point, in
	// Currency; empty when it does not.
	ReportedCost, Currency string
}

// Model is the name of the model that answered.
func (r *Report) Model() string {
	if len(r.Lines) == 0 {
		return ""
	}
	return r.Lines[0].Model
}

// Sum adds up the lines.
func (r *Report) Sum() (sum Meters) {
	for i := range r.Lines {
		sum.Add(&r.Lines[i].Meters) // that they can be added was seen to when the report was made
	}
	return sum
}
