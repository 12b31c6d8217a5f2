package budget

import (
	"time"

	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
)

// Forecast is what will be spent of a budget when the period ends that it is now, at the rate of the period so far, and the day on
// which it will be used up; nil: not in this period. In the first hour there is none.
func Forecast(b *Budget, spent decimal.Decimal, now time.Time) (amount decimal.Decimal, usedUpOn *beijing.Day, ok bool) {
	period := b.Period.Of(beijing.DayOf(now))
	start, end := period.Start.Start(), period.End.End()
	elapsed := now.Sub(start)
	if elapsed < time.Hour {
		return decimal.Zero, nil, false
	}
	amount = spent.Mul(decimal.NewFromInt(int64(end.Sub(start) / time.Second))).Div(decimal.NewFromInt(int64(elapsed / time.Second)))
	if holds := b.Holds(now); amount.GreaterThanOrEqual(holds) && spent.IsPositive() {
		seconds := holds.Mul(decimal.NewFromInt(int64(elapsed / time.Second))).Div(spent).IntPart()
		day := min(beijing.DayOf(start.Add(time.Duration(seconds)*time.Second)), period.End)
		usedUpOn = &day
	}
	return amount, usedUpOn, true
}
