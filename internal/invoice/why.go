package invoice

import "github.com/shopspring/decimal"

// Reason is why something else may be billed than was counted. Calls are counted of each.
type Reason string

// The reasons.
const (
	Partial    Reason = "partial"    // calls that were interrupted: what was counted is a lower bound
	Absent     Reason = "absent"     // calls whose answers report no usage, or none that can be read
	Deferred   Reason = "deferred"   // calls for something that was done, and told, later
	Estimated  Reason = "estimated"  // calls of which limits were charged an estimate, which is in no figure
	Tier       Reason = "tier"       // calls of another tier of service than the price by which they were estimated
	Unpriced   Reason = "unpriced"   // calls for which no price held
	Elsewhere  Reason = "elsewhere"  // calls of the day and capability that are Unnamed, of another item
	Unnamed    Reason = "unnamed"    // calls of this item whose model is not known by its name
	Unbilled   Reason = "unbilled"   // calls of capabilities of which the file bills nothing at all, as those of another provider
	Unanswered Reason = "unanswered" // calls without an answer that has usage: failed ones, deferred and repeated ones
)

// direction is which side is larger.
type direction uint8

const (
	more direction = 1 << iota // is billed than was counted
	less
)

// reasons are what each of them can be the cause of: differences of calls, of meters and of costs.
var reasons = [...]struct {
	reason              Reason
	calls, meters, cost direction
}{
	{Partial, 0, more, more},
	{Absent, 0, more, more},
	{Deferred, more, more, more},
	{Estimated, 0, more, more},
	{Tier, 0, 0, more | less},
	{Unpriced, 0, 0, more},
	{Elsewhere, more, more, more},
	{Unnamed, less, less, less},
	{Unbilled, less, less, less},
	{Unanswered, less, 0, 0},
}

// Cause is a reason and of how many calls it is.
type Cause struct {
	Reason Reason
	Calls  int64
}

// Causes are the reasons that the differences may have; unexplained tells that one of them has none. As many calls more or less
// need as many calls for a reason, and a cost that differs by what its file's decimals cut off is no difference.
func (i Item) Causes() (causes []Cause, unexplained bool) {
	d := i.Difference()
	var calls, meters, cost direction
	calls = directionOf(value(d.Calls))
	for _, n := range d.Meters {
		meters |= directionOf(n)
	}
	rounding := decimal.New(5, i.file.exponent-1).Mul(decimal.NewFromInt(max(i.lines, 1)))
	differ := func(n decimal.Decimal) {
		if n.Abs().GreaterThan(rounding) {
			cost |= directionOf(int64(n.Sign()))
		}
	}
	for _, n := range d.Costs {
		differ(n)
	}
	if i.Ours != nil && i.Theirs != nil {
		for currency, amount := range i.Theirs.Costs {
			if _, both := d.Costs[currency]; !both {
				differ(amount)
			}
		}
	}
	left, metersLeft, costLeft := value(d.Calls), meters, cost
	for _, r := range reasons {
		n := i.Why[r.reason]
		if n <= 0 || r.calls&calls == 0 && r.meters&meters == 0 && r.cost&cost == 0 {
			continue
		}
		causes = append(causes, Cause{r.reason, n})
		metersLeft, costLeft = metersLeft&^r.meters, costLeft&^r.cost
		switch {
		case r.calls&calls == 0:
		case left > 0:
			left = max(left-n, 0)
		default:
			left = min(left+n, 0)
		}
	}
	return causes, left != 0 || metersLeft != 0 || costLeft != 0
}

func directionOf(n int64) direction {
	switch {
	case n > 0:
		return more
	case n < 0:
		return less
	}
	return 0
}
