package budget

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"callgate/internal/fault"
	"callgate/internal/pricing"
)

// MaxReason bounds the reason of an override, in characters.
const MaxReason = 500

// amountForm is a decimal below a thousand million with at most six decimals.
var amountForm = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,6})?$`)

const (
	maxThresholds = 5
	maxThreshold  = 1000
)

// usual are the thresholds where nothing is said of them.
var usual = []int16{50, 80, 100}

// Draft is a budget as it is entered.
type Draft struct {
	Period     string
	Amount     string
	Currency   string
	Action     string
	Unknown    string  // empty: Allow
	Thresholds []int64 // nil: 50, 80 and 100 percent; empty: nothing is told
}

// check gives the budgets that drafts mean. The fault is Invalid with every wrong field, as budgets[i].name.
func check(drafts []Draft) ([]Budget, error) {
	wrong := fault.Fields{}
	if len(drafts) > len(Periods) {
		wrong.Add("budgets", "must be at most one for each of day, week and month")
		return nil, wrong.Err()
	}
	budgets := make([]Budget, len(drafts))
	for i, d := range drafts {
		field := func(name string) string { return fmt.Sprintf("budgets[%d].%s", i, name) }
		b := &budgets[i]
		*b = Budget{Period: Period(d.Period), Currency: d.Currency, Action: d.Action, Unknown: d.Unknown}
		if b.Unknown == "" {
			b.Unknown = Allow
		}
		if !slices.Contains(Periods, b.Period) {
			wrong.Add(field("period"), "must be day, week or month")
		} else if slices.ContainsFunc(budgets[:i], func(of Budget) bool { return of.Period == b.Period }) {
			wrong.Add(field("period"), "must be another one than that of the budget before")
		}
		b.Amount = amount(wrong, field("amount"), d.Amount)
		pricing.CheckCurrency(wrong, field("currency"), d.Currency)
		if b.Action != Warn && b.Action != Block {
			wrong.Add(field("action"), "must be warn or block")
		}
		if b.Unknown != Allow && b.Unknown != Block {
			wrong.Add(field("unknown"), "must be allow or block")
		}
		b.Thresholds = thresholds(wrong, field("thresholds"), d.Thresholds)
	}
	return budgets, wrong.Err()
}

func amount(wrong fault.Fields, field, text string) decimal.Decimal {
	if !amountForm.MatchString(text) {
		wrong.Add(field, "must be a decimal above 0 and below 1000000000 with at most six decimals, such as 12.5")
		return decimal.Zero
	}
	found := decimal.RequireFromString(text)
	if !found.IsPositive() {
		wrong.Add(field, "must be a decimal above 0 and below 1000000000 with at most six decimals, such as 12.5")
	}
	return found
}

func thresholds(wrong fault.Fields, field string, given []int64) []int16 {
	if given == nil {
		return usual
	}
	found := make([]int16, 0, maxThresholds)
	for _, percent := range given[:min(len(given), maxThresholds+1)] {
		if percent < 1 || percent > maxThreshold || len(given) > maxThresholds {
			wrong.Add(field, "must be at most %d whole numbers of percent from 1 to %d", maxThresholds, maxThreshold)
			return nil
		}
		found = append(found, int16(percent))
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// OverrideDraft is an override as it is entered.
type OverrideDraft struct {
	Amount string
	Until  time.Time
	Reason string
}

func (d OverrideDraft) check(by string, now time.Time) (*Override, error) {
	wrong := fault.Fields{}
	o := &Override{Amount: amount(wrong, "amount", d.Amount), Until: d.Until, Reason: strings.TrimSpace(d.Reason), By: by}
	wrong.Text("reason", o.Reason, 1, MaxReason)
	if !d.Until.After(now) || d.Until.After(now.AddDate(1, 0, 0)) {
		wrong.Add("until", "must be later than now, and within a year")
	}
	return o, wrong.Err()
}
