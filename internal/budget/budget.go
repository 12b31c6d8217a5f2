// Package budget holds applications, keys, owners and capabilities to what they may spend in a period.
//
// What is spent is the cost that the statistics show, by the prices of now: a corrected price, a rate or a believed provider
// changes it at once. A budget that blocks is enforced by every gateway from memory. What the gateways know of each budget in a
// period stands in Redis: of each gateway what the calls cost that it made on the days that are not over, the whole of it each
// time, with the part of what is left that it may spend until it says so again; and a reading of the ledger, taken anew each
// minute, of everything else: the days before the cut, before which no call is in flight or on its way to the ledger, and since
// then the calls of gateways that say nothing. So each call counts once, whoever tells of it; an exchange may be repeated; and
// what Redis loses is said and read again.
//
// What a call is expected to cost is taken when it begins, so a budget is exceeded at most by what was in flight.
package budget

import (
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
)

// Scope says whose spending a budget is of.
type Scope string

// The scopes. Those of applications and keys are their owner's to set, the others administrators'.
const (
	ForApplication Scope = "application"
	ForKey         Scope = "key"
	ForOwner       Scope = "owner" // all applications of the owner together
	ForCapability  Scope = "capability"
)

// Period is what a budget is for: a Beijing day, a week from Monday, or a calendar month.
type Period string

// The periods.
const (
	Day   Period = "day"
	Week  Period = "week"
	Month Period = "month"
)

// Periods are all of them, from the shortest on.
var Periods = []Period{Day, Week, Month}

// Of gives the days of the period that a day is in.
func (p Period) Of(day beijing.Day) beijing.Range {
	switch p {
	case Week:
		return beijing.WeekOf(day)
	case Month:
		return beijing.MonthOf(day)
	}
	return beijing.Range{Start: day, End: day}
}

// What a budget does when it is used up, and with calls whose cost is not known.
const (
	Warn  = "warn"
	Block = "block"
	Allow = "allow"
)

// Subject is whose spending it is. The zero fields do not belong to the scope.
type Subject struct {
	Scope       Scope
	Application uuid.UUID // of a key, too
	Key         uuid.UUID
	Owner       uuid.UUID
	Capability  string
}

// Budget is how much a subject may spend in each period.
type Budget struct {
	ID uuid.UUID
	Subject
	FormerKeys []uuid.UUID // that the key replaced: their calls count as its own
	Period     Period
	Amount     decimal.Decimal // above 0, at most MostAmount, with at most six decimals
	Currency   string          // ISO 4217
	Action     string          // Warn or Block
	Unknown    string          // Allow or Block
	Thresholds []int16         // percent, ascending; reaching one is told
	Override   *Override
	UpdatedBy  string // e-mail address
	UpdatedAt  time.Time

	// Of a listing: what they are called.
	ApplicationName, KeyName, OwnerEmail, CapabilityName string
}

// Override is an amount that holds in place of a budget's until a time.
type Override struct {
	Amount decimal.Decimal
	Until  time.Time
	Reason string
	By     string // e-mail address
}

// Holds is the amount that holds at a time.
func (b *Budget) Holds(now time.Time) decimal.Decimal {
	if b.Override != nil && now.Before(b.Override.Until) {
		return b.Override.Amount
	}
	return b.Amount
}

// Enforced tells whether gateways refuse calls for it.
func (b *Budget) Enforced() bool { return b.Action == Block || b.Unknown == Block }

// Spent is what a subject has spent in a period, in the budget's currency.
type Spent struct {
	Amount   decimal.Decimal
	Unknown  int64     // calls whose cost is not known in that currency: no price or no rate held
	Unpriced []string  // capabilities of which there were such calls, in order
	Version  uuid.UUID // of the price book
}

// Ask is a question for what is spent of a budget in the period that begins on a day.
type Ask struct {
	*Budget
	From beijing.Day
}

// Question asks for what is spent but for what gateways count themselves.
type Question struct {
	Ask
	Cut     beijing.Day             // the first day of which they count
	Counted map[uuid.UUID]time.Time // since when they do, of calls that began then or later
}

// microExponent is the unit that gateways count in: millionths of the currency.
const microExponent = -6

// micro rounds up to millionths.
func micro(amount decimal.Decimal) int64 { return amount.Shift(-microExponent).Ceil().IntPart() }
