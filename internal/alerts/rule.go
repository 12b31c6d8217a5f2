package alerts

import (
	"time"

	"github.com/google/uuid"
)

// Kind is what a rule watches.
type Kind string

// The kinds, with the unit of their thresholds.
const (
	FailureRate      Kind = "failureRate"      // percent of the calls that ended in the window
	NoCalls          Kind = "noCalls"          // minutes since the last call began
	P95              Kind = "p95"              // milliseconds, of the calls that ended in the window
	Tokens           Kind = "tokens"           // input and output of the period
	Cost             Kind = "cost"             // amount of a currency, of the period
	LimitUse         Kind = "limit"            // percent of a limit that is used
	BudgetUse        Kind = "budget"           // percent of an application's budget of a period that is spent
	KeyExpiry        Kind = "keyExpiry"        // days until the next key expires
	StatisticsBehind Kind = "statisticsBehind" // seconds that dataThrough is behind
	SpoolStuck       Kind = "spoolStuck"       // minutes that a spool has not been reported
	UpstreamLeftOut  Kind = "upstreamLeftOut"  // minutes that gateways have kept calls from an upstream, of the longest
	DayClosed        Kind = "dayClosed"        // none: what each Beijing day came to is told, once it is closed (days.go)
)

// TargetType is what sort of thing a rule watches.
type TargetType string

// The types of targets.
const (
	Application TargetType = "application"
	Capability  TargetType = "capability"
	Upstream    TargetType = "upstream"
	Platform    TargetType = "platform"
	Account     TargetType = "account" // all applications of the owner
)

// Target is what a rule watches.
type Target struct {
	Type TargetType `json:"type"`
	ID   *string    `json:"id"` // nil: the platform, or the account
	Name string     `json:"name"`
}

const (
	// MaxPerOwner bounds the rules of an owner: they are evaluated every few seconds.
	MaxPerOwner = 50
	// MaxOfAdministrators bounds those of the administrators together.
	MaxOfAdministrators = 200

	maxChannels   = 5
	defaultWindow = 5
	defaultCalls  = 20
	maxCalls      = 1_000_000
	maxThreshold  = 1e15
	mostOfBudget  = 1000 // percent, as of the thresholds of budgets
)

// windows are the minutes that a failure rate or percentile may be of.
var windows = []int64{5, 10, 15, 30, 60}

// Who asks: the owner of rules, or an administrator, whose rules are everybody's who is one.
type Who struct {
	Owner uuid.UUID // uuid.Nil: administrators
	Email string
}

func (w Who) owner() *uuid.UUID {
	if w.Owner == uuid.Nil {
		return nil
	}
	return &w.Owner
}

// Rule says what is to be told to whom. Optional fields are zero where they do not belong to the kind.
type Rule struct {
	ID               uuid.UUID
	Owner            *uuid.UUID // nil: administrators
	Name             string
	Kind             Kind
	Target           Target
	Threshold        float64
	ResolveThreshold float64
	WindowMinutes    int64
	MinCalls         int64
	Period           string // day or month; of BudgetUse, week too
	Currency         string
	Limit            string // as the contract names it
	Enabled          bool
	SilencedUntil    *time.Time
	CreatedBy        string
	CreatedAt        time.Time
	UpdatedAt        time.Time

	Channels   []Channel
	State      State
	Deliveries Counts
}

// Counts are the deliveries of a rule that are not well.
type Counts struct {
	Pending int64
	Failing int64 // pending ones of which an attempt has failed
	GivenUp int64 // in the last 24 h
}

// Unit is that of the thresholds.
func (r *Rule) Unit() string {
	switch r.Kind {
	case FailureRate, LimitUse, BudgetUse:
		return "percent"
	case NoCalls, SpoolStuck, UpstreamLeftOut:
		return "minutes"
	case P95:
		return "ms"
	case Tokens:
		return "tokens"
	case KeyExpiry:
		return "days"
	case StatisticsBehind:
		return "seconds"
	case DayClosed:
		return ""
	default:
		return r.Currency
	}
}

// windowed tells whether the kind looks at a window of calls.
func (k Kind) windowed() bool { return k == FailureRate || k == P95 }

// targets are what each kind can watch.
var targets = map[Kind][]TargetType{
	FailureRate: {Application, Capability, Upstream}, P95: {Application, Capability, Upstream},
	NoCalls: {Application}, Tokens: {Application}, Cost: {Application}, LimitUse: {Application}, BudgetUse: {Application}, KeyExpiry: {Application},
	UpstreamLeftOut:  {Application, Capability, Upstream},
	StatisticsBehind: {Platform}, SpoolStuck: {Platform}, DayClosed: {Account, Platform},
}

// ofOwners are the types of targets that owners' rules have; all others are administrators'.
var ofOwners = []TargetType{Application, Account}

// limitNames are the limits of an application.
var limitNames = []string{"requestsPerMinute", "tokensPerMinute", "concurrency", "callsPerDay", "tokensPerDay"}

// breached tells whether a value is at or beyond the threshold.
func (r *Rule) breached(value float64) bool {
	if r.Kind == KeyExpiry {
		return value <= r.Threshold
	}
	return value >= r.Threshold
}

// cleared tells whether a value has left the threshold of resolution.
func (r *Rule) cleared(value float64) bool {
	if r.Kind == KeyExpiry {
		return value > r.ResolveThreshold
	}
	return value < r.ResolveThreshold
}

// silenced tells whether nothing is to be sent now.
func (r *Rule) silenced(now time.Time) bool {
	return r.SilencedUntil != nil && now.Before(*r.SilencedUntil)
}
