package calls

// Usage is what the answer to a call reports of its tokens (internal/meter reads it). A number
// counts only where Known has its field. Cached and CacheWrite are part of Input, Reasoning of Output.
type Usage struct {
	State                                        UsageState
	Model                                        string // the answer's own name of the model; empty when it gave none
	Known                                        UsageFields
	Input, Output, Cached, CacheWrite, Reasoning uint32
}

// UsageState tells what is known of a call's tokens.
type UsageState string

// The values of UsageState.
const (
	UsageNotCollected UsageState = ""           // of an earlier version, or with UPSTREAM_USAGE=false
	UsageNone         UsageState = "none"       // no answer of status 2xx to a POST
	UsageReported     UsageState = "reported"   // the answer ended, and said what it used
	UsagePartial      UsageState = "partial"    // it was interrupted: the last that it said, a lower bound, or nothing
	UsageAbsent       UsageState = "absent"     // it ended and says nothing of tokens
	UsageDeferred     UsageState = "deferred"   // it ended, and what was asked for is still to be done: what it uses is told elsewhere
	UsageRepeated     UsageState = "repeated"   // it is an answer of before, handed out again, and was counted then
	UsageUnreadable   UsageState = "unreadable" // what it says cannot be read
)

// UsageFields is a set of the numbers of a Usage.
type UsageFields uint8

// The members of UsageFields.
const (
	UsageInput UsageFields = 1 << iota
	UsageOutput
	UsageCached
	UsageCacheWrite
	UsageReasoning
)

// Number is a number of u and whether it is known.
func (u *Usage) Number(field UsageFields) (n uint32, known bool) {
	return *u.at(field), u.Known&field != 0
}

// Set makes a number of u known.
func (u *Usage) Set(field UsageFields, n uint32) {
	u.Known |= field
	*u.at(field) = n
}

// AllUsageFields are the members of UsageFields in the order they are stored.
var AllUsageFields = [...]UsageFields{UsageInput, UsageOutput, UsageCached, UsageCacheWrite, UsageReasoning}

func (u *Usage) at(field UsageFields) *uint32 {
	switch field {
	case UsageInput:
		return &u.Input
	case UsageOutput:
		return &u.Output
	case UsageCached:
		return &u.Cached
	case UsageCacheWrite:
		return &u.CacheWrite
	}
	return &u.Reasoning
}
