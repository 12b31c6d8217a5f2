package alerts

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
)

// Figures are what caused a state; those that do not belong to the kind of the rule are nil.
type Figures struct {
	Calls          *int64  `json:"calls,omitempty"`
	Failures       *int64  `json:"failures,omitempty"`
	Amount         *string `json:"amount,omitempty"`
	CapabilityName *string `json:"capabilityName,omitempty"`
	Cost           *string `json:"cost,omitempty"`
	Currency       *string `json:"currency,omitempty"`
	DataThrough    *string `json:"dataThrough,omitempty"` // RFC 3339, as everywhere in openapi.yaml
	Day            *string `json:"day,omitempty"`         // YYYY-MM-DD
	ExpiresAt      *string `json:"expiresAt,omitempty"`
	From           *string `json:"from,omitempty"`
	Host           *string `json:"host,omitempty"`
	KeyID          *string `json:"keyId,omitempty"`
	KeyName        *string `json:"keyName,omitempty"`
	LastCallAt     *string `json:"lastCallAt,omitempty"`
	Limit          *int64  `json:"limit,omitempty"`
	MissingCalls   *int64  `json:"missingCalls,omitempty"`
	P95Ms          *int64  `json:"p95Ms,omitempty"`
	Revision       *int64  `json:"revision,omitempty"`
	SpoolID        *string `json:"spoolId,omitempty"`
	To             *string `json:"to,omitempty"`
	Tokens         *int64  `json:"tokens,omitempty"`
	UnpricedCalls  *int64  `json:"unpricedCalls,omitempty"`
	UpstreamName   *string `json:"upstreamName,omitempty"` // of administrators' rules only
	Used           *int64  `json:"used,omitempty"`
	UsedUpOn       *string `json:"usedUpOn,omitempty"` // YYYY-MM-DD
}

// Window is what calls did that ended in a window.
type Window struct {
	Calls, Failures int64
	P95Ms           int64 // 0 without calls
}

// Spent is what an application used in a range of days.
type Spent struct {
	Tokens   int64
	Known    bool // any answer reported its tokens
	Costs    map[string]Money
	Unpriced int64
}

// Money is an amount in a currency.
type Money struct {
	Text   string // exact
	Amount float64
}

// Use is what an application uses of a limit.
type Use struct {
	Limit int64  // 0: there is none
	Used  *int64 // nil: not known
}

// BudgetSpent is what an application has spent of its own budget of a period.
type BudgetSpent struct {
	From     beijing.Day // the first of the period
	Spent    string      // exact, as Amount is
	Amount   string      // that holds: of an override, if there is one
	Currency string
	Percent  float64      // of Amount
	Unknown  int64        // calls whose cost is not known in the currency
	UsedUpOn *beijing.Day // at the rate of the period so far; nil: not in this period
}

// ExpiringKey is the key of an application that expires next.
type ExpiringKey struct {
	ID        uuid.UUID
	Name      string
	ExpiresAt time.Time
}

// LeftOut is the upstream that gateways have kept calls from for longest, of those that serve a target.
type LeftOut struct {
	Capability string // its name; empty: none is left out
	Upstream   string
	For        time.Duration
}

// Standing is how the ledger's spools are.
type Standing struct {
	Through   time.Time // before it every call that ended is in the statistics
	SpoolID   uuid.UUID // the spool that has not been reported for longest; uuid.Nil: there is none
	Host      string
	SilentFor time.Duration // of it
}

// Source is asked for the figures of rules. Every answer is about what exists of what was asked for; an error says that
// nothing is known.
type Source interface {
	Standing(ctx context.Context) (Standing, error)
	// Windows are of the calls of applications, capabilities or upstreams that ended after from, at to the latest.
	Windows(ctx context.Context, of TargetType, ids []string, from, to time.Time) (map[string]Window, error)
	LastCalls(ctx context.Context, applications []uuid.UUID) (map[uuid.UUID]time.Time, error)
	Spent(ctx context.Context, applications []uuid.UUID, days beijing.Range) (map[uuid.UUID]Spent, error)
	// Uses are by the names of the limits.
	Uses(ctx context.Context, applications []uuid.UUID) (map[uuid.UUID]map[string]Use, error)
	// Budgets are by their periods: day, week and month, of those that an application has, as they are at a time.
	Budgets(ctx context.Context, applications []uuid.UUID, at time.Time) (map[uuid.UUID]map[string]BudgetSpent, error)
	ExpiringKeys(ctx context.Context, applications []uuid.UUID) (map[uuid.UUID]ExpiringKey, error)
	// LeftOut is of applications, capabilities or upstreams; without a gateway that lives it is of none.
	LeftOut(ctx context.Context, of TargetType, ids []string) (map[string]LeftOut, error)
}

// Slot is what the calls of an application did that ended in the SlotLength before At, or at it.
type Slot struct {
	At              time.Time
	Calls, Failures int64
	LastStart       time.Time // of the call among them that began last
	Durations       []uint32  // in ms, in no order, where they are asked for
}

// DaySpent is what an application used on a day.
type DaySpent struct {
	Day    beijing.Day
	Tokens int64
	Costs  map[string]decimal.Decimal // by currency
}

// Past tells what a rule would have been measured by.
type Past interface {
	// Known is since when and until when all calls are known.
	Known(ctx context.Context) (from, to time.Time, err error)
	// Slots hands those with calls that ended after from, at to the latest, to take, ascending.
	Slots(ctx context.Context, application uuid.UUID, from, to time.Time, durations bool, take func(Slot)) error
	// DaysSpent are those of a range on which something was used, ascending.
	DaysSpent(ctx context.Context, application uuid.UUID, days beijing.Range) ([]DaySpent, error)
}
