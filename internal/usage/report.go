// Package usage reads what an upstream's answer reports of its tokens while the answer passes to the caller.
// Nothing is asked for, estimated or changed: a number is what the upstream said, at the place
// where its format has it, and what is not said stays unknown.
//
// In the order of a byte: reader.go chooses how an answer is read, inflate.go undoes its compression, events.go,
// words.go and tail.go find the JSON in an event stream, plain.go reads it where that is easy, scanner.go and skip.go where it is not,
// places.go says where the numbers stand, and report.go what they mean. passed.go measures what passed, for limits, beside all this.
package usage

import "math/bits"

// State tells what is known of the tokens that a call used.
type State string

// The states. The zero State is that of calls that were not looked at.
const (
	None     State = "none"     // no answer of status 2xx to a POST
	Reported State = "reported" // the answer ended, and said what it used
	// Partial: the answer was interrupted, or ended before it said the last of what it used: what it had said by then, a lower bound,
	// or nothing.
	Partial    State = "partial"
	Absent     State = "absent"     // the answer ended and says nothing of tokens
	Unreadable State = "unreadable" // what it says cannot be read, or would cost too much to read
)

// Fields is a set of the numbers of a Report.
type Fields uint8

// The members of Fields.
const (
	Input Fields = 1 << iota
	Output
	Cached
	CacheWrite
	Reasoning
)

// Report is what an answer said. A number counts only where Known has its field. Cached and CacheWrite are part of
// Input, Reasoning is part of Output, whatever the format: Cached + CacheWrite <= Input and Reasoning <= Output.
type Report struct {
	State State
	// Model is the answer's own name of the model that answered, valid UTF-8 of at most 100 bytes; OtherModel for a
	// longer one, empty when it gave none.
	Model string
	Known Fields
	// Tokens.
	Input, Output, Cached, CacheWrite, Reasoning uint32
}

// OtherModel stands for models whose names are not kept.
const OtherModel = "other"

// maxTokens bounds each number of a report: larger ones are no count of one call's tokens, and would make sums
// overflow that hold the calls of others.
const maxTokens = 1<<32 - 1

// numbers are the values of places, as far as they were said.
type numbers struct {
	said  uint32 // a bit for each place
	value [places]uint32
}

func (n *numbers) set(p place, v uint32) {
	n.said |= 1 << p
	n.value[p] = v
}

// add takes what a later text says: the latest value of each place counts.
func (n *numbers) add(later *numbers) {
	for said := later.said; said != 0; said &= said - 1 {
		p := place(bits.TrailingZeros32(said))
		n.set(p, later.value[p])
	}
}

// first is the value of the first of some places that was said.
func (n *numbers) first(of ...place) (v uint64, said bool) {
	for _, p := range of {
		if n.said&(1<<p) != 0 {
			return uint64(n.value[p]), true
		}
	}
	return 0, false
}

// sum adds up the places that were said.
func (n *numbers) sum(of ...place) (v uint64, said bool) {
	for _, p := range of {
		if one, ok := n.first(p); ok {
			v, said = v+one, true
		}
	}
	return v, said
}

// report brings the formats to one meaning. It reports false when a number cannot be a count of tokens.
func (n *numbers) report(r *Report) bool {
	if n.said == openAIPlaces { // as mostly
		r.Known, r.Input, r.Output = Input|Output, n.value[promptTokens], n.value[completionTokens]
		return true
	}
	input, hasInput := n.input()
	output, hasOutput := n.output()
	if n.said&parts != 0 {
		cached, written, reasoning := n.tell(r, Cached, &r.Cached, cachedDetail, cacheHit, cachedTokens, cacheRead, geminiCached),
			n.tell(r, CacheWrite, &r.CacheWrite, cacheWriteDetail, cacheCreation),
			n.tell(r, Reasoning, &r.Reasoning, reasoningTokens, geminiThoughts)
		if cached+written > input { // it was counted beside
			input, hasInput = input+cached+written, true
		}
		if reasoning > output || n.reasoningIsBeside(input, output, reasoning) {
			output, hasOutput = output+reasoning, true
		}
	}
	if max(input, output) > maxTokens {
		return false
	}
	if hasInput {
		r.Known, r.Input = r.Known|Input, uint32(input)
	}
	if hasOutput {
		r.Known, r.Output = r.Known|Output, uint32(output)
	}
	return true
}

// openAIPlaces are those of OpenAI's usage where it has no details.
const openAIPlaces = 1<<promptTokens | 1<<completionTokens | 1<<totalTokens

// parts are the places of numbers that are part of others.
const parts = 1<<cachedDetail | 1<<cacheHit | 1<<cachedTokens | 1<<cacheRead | 1<<geminiCached |
	1<<cacheWriteDetail | 1<<cacheCreation | 1<<reasoningTokens | 1<<geminiThoughts

// tell takes the first of some places that was said into a report.
func (n *numbers) tell(r *Report, field Fields, to *uint32, of ...place) uint64 {
	v, said := n.first(of...)
	if said {
		r.Known, *to = r.Known|field, uint32(v)
	}
	return v
}

func (n *numbers) input() (v uint64, said bool) {
	if v, said = n.first(promptTokens); said {
		return v, true
	}
	if v, said = n.first(inputTokens); said {
		if _, inside := n.first(cachedDetail, cacheWriteDetail); inside {
			return v, true
		}
		beside, _ := n.sum(cacheRead, cacheCreation) // Anthropic counts what its cache took part in apart
		return v + beside, true
	}
	if _, gemini := n.first(geminiPrompt); gemini {
		return n.sum(geminiPrompt, geminiToolUse)
	}
	return n.first(cohereInput, billedInput)
}

func (n *numbers) output() (v uint64, said bool) {
	if v, said = n.first(completionTokens, outputTokens); said {
		return v, true
	}
	if v, said = n.sum(geminiCandidates, geminiThoughts); said {
		return v, true
	}
	return n.first(cohereOutput, billedOutput)
}

// reasoningIsBeside tells by the answer's own total that its completion tokens are those without reasoning.
func (n *numbers) reasoningIsBeside(input, output, reasoning uint64) bool {
	total, said := n.first(totalTokens)
	_, completion := n.first(completionTokens)
	return said && completion && reasoning > 0 && total == input+output+reasoning
}
