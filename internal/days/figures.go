// Package days is what a Beijing day came to when it was closed, as it is kept in PostgreSQL and told: who closes days
// (internal/calls/ledger/days), who makes the figures (internal/report) and who tells them (internal/alerts) share it.
package days

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
)

// Figures are what some applications did on a day.
type Figures struct {
	Calls      int64  `json:"calls"`
	Successes  int64  `json:"successes"`
	DurationMs int64  `json:"durationMs"` // of all calls together
	Tokens     Tokens `json:"tokens"`
	Costs      []Cost `json:"cost"` // by currency, by the prices of the closing
	Unpriced   int64  `json:"unpricedCalls"`
	Missing    int64  `json:"missingCalls"` // known to be missing
}

// Tokens are what answers reported, nil where none did, and the calls by what they report.
type Tokens struct {
	Input      *int64 `json:"input"`
	Output     *int64 `json:"output"`
	Cached     *int64 `json:"cached"`
	CacheWrite *int64 `json:"cacheWrite"`
	Reasoning  *int64 `json:"reasoning"`
	Reported   int64  `json:"reportedCalls"`
	Partial    int64  `json:"partialCalls"`
	Absent     int64  `json:"absentCalls"`
	Unreadable int64  `json:"unreadableCalls"`
}

// Cost is an estimated cost in one currency.
type Cost struct {
	Currency string          `json:"currency"`
	Amount   decimal.Decimal `json:"amount"`
	Priced   int64           `json:"pricedCalls"`
}

// Application is what one application did.
type Application struct {
	ID, Owner uuid.UUID
	Figures
}

// Missing is what is known to be missing of a day.
type Missing struct {
	Calls   int64   `json:"calls"`   // of all applications
	Anyones int64   `json:"anyones"` // among them those that may be anybody's
	Spools  []Spool `json:"spools"`  // that were given up and may have held calls of the day
}

// Spool is what was lost with a spool.
type Spool struct {
	ID    uuid.UUID `json:"id"`
	Node  string    `json:"node"`
	At    time.Time `json:"at"` // when it was given up, by
	By    string    `json:"by"`
	Calls *int64    `json:"calls"` // of the day; nil: nobody knows
}

// Unknown tells whether nobody knows how many calls are missing.
func (m Missing) Unknown() bool {
	return slices.ContainsFunc(m.Spools, func(s Spool) bool { return s.Calls == nil })
}

// Sum adds up what applications did.
func Sum(of []Application) Figures {
	sum := Figures{Costs: []Cost{}}
	for _, a := range of {
		sum.Add(a.Figures)
	}
	return sum
}

// Add adds the figures of others.
func (f *Figures) Add(of Figures) { f.combine(of, 1) }

// Minus are the figures less others: what a revision of a day has otherwise than the one before.
func (f Figures) Minus(of Figures) Figures {
	var difference Figures
	difference.Costs = []Cost{}
	difference.Add(f)
	difference.combine(of, -1)
	return difference
}

func (f *Figures) combine(of Figures, sign int64) {
	f.Calls, f.Successes, f.DurationMs = f.Calls+sign*of.Calls, f.Successes+sign*of.Successes, f.DurationMs+sign*of.DurationMs
	f.Unpriced, f.Missing = f.Unpriced+sign*of.Unpriced, f.Missing+sign*of.Missing
	f.Tokens.combine(of.Tokens, sign)
	for _, cost := range of.Costs {
		at, found := slices.BinarySearchFunc(f.Costs, cost.Currency, func(c Cost, currency string) int { return strings.Compare(c.Currency, currency) })
		if !found {
			f.Costs = slices.Insert(f.Costs, at, Cost{Currency: cost.Currency})
		}
		f.Costs[at].Amount = f.Costs[at].Amount.Add(cost.Amount.Mul(decimal.NewFromInt(sign)))
		f.Costs[at].Priced += sign * cost.Priced
	}
}

func (t *Tokens) combine(of Tokens, sign int64) {
	for _, pair := range [][2]**int64{{&t.Input, &of.Input}, {&t.Output, &of.Output}, {&t.Cached, &of.Cached}, {&t.CacheWrite, &of.CacheWrite}, {&t.Reasoning, &of.Reasoning}} {
		if *pair[1] == nil {
			continue
		}
		sum := sign * **pair[1]
		if *pair[0] != nil {
			sum += **pair[0]
		}
		*pair[0] = &sum
	}
	t.Reported, t.Partial = t.Reported+sign*of.Reported, t.Partial+sign*of.Partial
	t.Absent, t.Unreadable = t.Absent+sign*of.Absent, t.Unreadable+sign*of.Unreadable
}

// Same tells whether the figures are those of the same calls, whatever the prices.
func (f Figures) Same(as Figures) bool {
	d := f.Minus(as)
	for _, n := range []*int64{d.Tokens.Input, d.Tokens.Output, d.Tokens.Cached, d.Tokens.CacheWrite, d.Tokens.Reasoning} {
		if n != nil && *n != 0 {
			return false
		}
	}
	t := d.Tokens
	return d.Calls == 0 && d.Successes == 0 && d.DurationMs == 0 && d.Missing == 0 && t.Reported == 0 && t.Partial == 0 && t.Absent == 0 && t.Unreadable == 0
}

// SameOf is Same for each of some applications.
func SameOf(now, then []Application) bool {
	before := make(map[uuid.UUID]Figures, len(then))
	for _, a := range then {
		before[a.ID] = a.Figures
	}
	for _, a := range now {
		was, found := before[a.ID]
		if !found || !a.Same(was) {
			return false
		}
	}
	return len(now) == len(then)
}
