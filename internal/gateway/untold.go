package gateway

import (
	"bytes"

	"callgate/internal/calls"
)

// Limits of tokens hold also where the answer does not say what was used: its caller left before the end, it cannot be
// read, or it says nothing. What is counted then is an estimate.

// toldAll tells whether what the answer said of tokens is all that the call used. An answer of another status than 2xx is
// an upstream's refusal, and used none; so did a call that no upstream was sent.
func (c *call) toldAll(u *calls.Usage, o *outcome) bool {
	switch u.State {
	case calls.UsagePartial, calls.UsageUnreadable:
		return false
	case calls.UsageAbsent, calls.UsageDeferred:
		return endsWithAny(c.path, withoutTokens[:])
	case calls.UsageNone: // nothing was answered, but the upstream has the request, and was left or is at work
		given := c.method == "POST" && c.status == 0 && c.attempts > 0 && !c.unconnected && c.request.complete.Load()
		return !given || o.endedBy != calls.ClientAbort && o.endedBy != calls.TimedOut && o.endedBy != calls.Shutdown
	}
	return true
}

// maxSeenRequest bounds what of a request is taken for text, in bytes: pictures and recordings are in it as well.
const maxSeenRequest = 64 << 10

// seenTokens is about how many tokens a call used by what was seen of it: a fourth of the bytes of its text, of the
// request's only where the answer did not tell the input.
func (c *call) seenTokens(u *calls.Usage) int64 {
	input, told := u.Number(calls.UsageInput)
	seen := int64(input)
	if !told {
		seen = min(c.request.size.Load(), maxSeenRequest) / 4
	}
	output, _ := u.Number(calls.UsageOutput)
	passed := c.passed
	if endsWithAny(c.path, withoutText[:]) || endsWithAny(c.path, withoutTokens[:]) {
		passed = 0
	}
	return seen + max(int64(output), passed)
}

// withoutTokens are the ends of paths whose answers need not say anything of tokens: nothing is estimated of those that
// ended and do not. withoutText are those whose answers are numbers.
var (
	withoutTokens = [...]string{
		"/audio/speech", "/audio/transcriptions", "/audio/translations", "/images/generations", "/images/edits", "/images/variations", "/videos",
		"/moderations", "/files", "/uploads", "/batches", "/cancel", "/tokenize", "/detokenize", "/count_tokens", ":countTokens",
	}
	withoutText = [...]string{"/embeddings", "/embed", ":embedContent", ":batchEmbedContents"}
)

// endsWithAny tells whether a path ends so, for the upstream too: some take what stands behind a semicolon off a path.
func endsWithAny(path []byte, ends []string) bool {
	if bytes.ContainsAny(path, ";%") {
		return false
	}
	for _, end := range ends {
		if bytes.HasSuffix(path, []byte(end)) {
			return true
		}
	}
	return false
}
