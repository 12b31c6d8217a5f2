package stats

import "github.com/shopspring/decimal"

// Line is what a call used of one model, as calls.Line.
type Line struct {
	Model, Tier string
	Band        uint32
	Meters      []Meter
}

// Meter is a number under its name.
type Meter struct {
	Name   string
	Amount uint64
}

// CallTokens are what the answer to a call reported; nil is not known.
type CallTokens struct {
	UsageState                                   string // as in calls.UsageState
	UpstreamModel                                string // empty when the answer named none
	Input, Output, Cached, CacheWrite, Reasoning *uint32
	Lines                                        []Line // what it used, where these do not say all
	AnswerID                                     string // empty: none
	ReportedCost                                 *decimal.Decimal
	ReportedCurrency                             string
}

// usedColumns are the columns of calls that have their lines.
type usedColumns struct {
	model, tier, meter []string
	band               []uint32
	amount             []uint64
}

func (u *usedColumns) lines() (lines []Line) {
	for i, meter := range u.meter {
		last := len(lines) - 1
		if last < 0 || lines[last].Model != u.model[i] || lines[last].Tier != u.tier[i] || lines[last].Band != u.band[i] {
			lines = append(lines, Line{Model: u.model[i], Tier: u.tier[i], Band: u.band[i]})
			last++
		}
		lines[last].Meters = append(lines[last].Meters, Meter{Name: meter, Amount: u.amount[i]})
	}
	return lines
}
