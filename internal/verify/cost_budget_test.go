package verify

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/budget"
	"callgate/internal/report"
)

// compareBudgets asks what is spent of 200 random budgets of all scopes, periods and three currencies, of which nothing leads to
// one, and compares it with the rows of calls to the last decimal: as the pages ask, and as a gateway does that counts nothing.
func (w *world) compareBudgets(t *testing.T, owner uuid.UUID, applications []uuid.UUID, first beijing.Day) {
	t.Helper()
	var all []countedCall
	w.eachCounted(first, func(call countedCall) { all = append(all, call) })
	random := rand.New(rand.NewPCG(11, 12))
	reader := &report.BudgetReader{Stats: w.deps.Stats, Prices: w.deps.Pricing, Pool: w.Pool, Batches: func(uuid.UUID) string { return "another batch" }}
	asks := make([]budget.Ask, 200)
	for i := range asks {
		b := &budget.Budget{ID: uuid.New(), Period: budget.Periods[random.IntN(3)], Currency: []string{"USD", "CNY", "EUR"}[random.IntN(3)], Amount: decimal.NewFromInt(1)}
		b.Scope = []budget.Scope{budget.ForApplication, budget.ForKey, budget.ForOwner, budget.ForCapability}[random.IntN(4)]
		switch of := random.IntN(5); b.Scope {
		case budget.ForKey:
			b.Application, b.Key = applications[of], keysOfYear[2*of+random.IntN(2)]
		case budget.ForApplication:
			b.Application = applications[of]
		case budget.ForOwner:
			b.Owner = owner
		case budget.ForCapability:
			b.Capability = []string{"gpt", "claude", "free"}[random.IntN(3)]
		}
		asks[i] = budget.Ask{Budget: b, From: b.Period.Of(first + beijing.Day(random.IntN(365))).Start}
	}
	found, err := reader.Spent(w.Ctx, asks)
	if err != nil {
		t.Fatal(err)
	}
	for i, ask := range asks {
		days, sum := ask.Period.Of(ask.From), &costs{}
		priced := int64(0)
		for _, call := range all {
			of := ask.Scope == budget.ForOwner || call.application == ask.Application || ask.Scope == budget.ForCapability && call.capability == ask.Capability
			if of && days.Contains(first+beijing.Day(call.day)) && (ask.Scope != budget.ForKey || call.key == ask.Key) {
				sum.add(call)
			}
		}
		for _, n := range sum.calls {
			priced += n
		}
		want, unknown := new(big.Rat), sum.unpriced+sum.strange[ask.Currency]
		switch total := sum.total[ask.Currency]; {
		case ask.Currency == "EUR":
			unknown += priced
		case total != nil:
			want.SetFrac(total, big.NewInt(1e14))
		}
		same := func(by string, spent budget.Spent) {
			t.Helper()
			if spent.Amount.Rat().Cmp(want) != 0 || spent.Unknown != unknown || (len(spent.Unpriced) > 0) != (unknown > 0) {
				t.Errorf("%s, %s %s from %s in %s: %s and %d calls unknown (%v), the rows say %s and %d", by, ask.Scope, ask.Period, ask.From, ask.Currency,
					spent.Amount, spent.Unknown, spent.Unpriced, want.FloatString(14), unknown)
			}
		}
		same("pages", found[i])
		cut := ask.From + beijing.Day(random.IntN(days.Days()+1))
		read, err := reader.Read(w.Ctx, budget.Question{Ask: ask, Cut: cut, Counted: map[uuid.UUID]time.Time{uuid.New(): first.Start()}})
		if err != nil {
			t.Fatal(err)
		}
		same(fmt.Sprintf("a gateway, cut at %s", cut), read)
	}
}
