package ship

import (
	"github.com/shopspring/decimal"

	"callgate/internal/calls"
	"callgate/internal/calls/spool"
)

// lineColumns are the columns of insertLines, reused from batch to batch.
type lineColumns struct {
	model, tier, meter [][]string
	band               [][]uint32
	amount             [][]uint64
	answer             []string
	cost               []*decimal.Decimal
	currency           []any
}

// hasLines tells whether a row has any of insertLines.
func hasLines(r spool.Row) bool {
	return len(r.Lines) > 0 || r.AnswerID != "" || r.Charged != (calls.Charge{})
}

func (c *lineColumns) fill(rows []spool.Row) []any {
	for _, column := range []*[][]string{&c.model, &c.tier, &c.meter} {
		*column = resize(*column, len(rows))
	}
	c.band, c.amount, c.answer = resize(c.band, len(rows)), resize(c.amount, len(rows)), resize(c.answer, len(rows))
	c.cost, c.currency = resize(c.cost, len(rows)), resize(c.currency, len(rows))
	for i := range rows {
		r := &rows[i]
		c.model[i], c.tier[i], c.band[i], c.meter[i], c.amount[i] = c.model[i][:0], c.tier[i][:0], c.band[i][:0], c.meter[i][:0], c.amount[i][:0]
		for _, l := range r.Lines {
			for _, m := range l.Meters {
				c.model[i], c.tier[i], c.band[i] = append(c.model[i], l.Model), append(c.tier[i], l.Tier), append(c.band[i], l.Band)
				c.meter[i], c.amount[i] = append(c.meter[i], m.Name), append(c.amount[i], m.Amount)
			}
		}
		c.answer[i], c.cost[i] = r.AnswerID, costOf(r.Charged.Amount)
		repeat(c.currency, i, r.Charged.Currency)
	}
	return []any{c.model, c.tier, c.band, c.meter, c.amount, c.answer, c.cost, c.currency}
}

// costOf is an amount as its column holds it, twelve digits behind the point and 26 before it; nil: it is none.
func costOf(amount string) *decimal.Decimal {
	if amount == "" {
		return nil
	}
	cost, err := decimal.NewFromString(amount)
	if err != nil || cost.Exponent() > 26 || cost.Exponent() < -maxCostDigits || cost.Abs().Cmp(decimal.New(1, 26)) >= 0 {
		return nil
	}
	cost = cost.Round(12)
	return &cost
}

// maxCostDigits bounds the digits behind the point of what is rounded.
const maxCostDigits = 100
