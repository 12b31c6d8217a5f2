package report

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/budget"
	"callgate/internal/openapi"
	"callgate/internal/stats"
)

// nearFrom is the part of a budget, in percent, from which it is nearly used up.
const nearFrom = 80

// now is what is spent of budgets in the periods that it is now, in their order; nil where the ledger cannot be asked.
func (r *BudgetReader) now(ctx context.Context, budgets []budget.Budget, now time.Time) []budget.Spent {
	if r.Stats == nil {
		return nil
	}
	asks, today := make([]budget.Ask, len(budgets)), beijing.DayOf(now)
	for i := range budgets {
		asks[i] = budget.Ask{Budget: &budgets[i], From: budgets[i].Period.Of(today).Start}
	}
	found, err := r.Spent(ctx, asks)
	if err != nil {
		return nil
	}
	return found
}

// budgetReader is the one of the report's stores.
func (r *Report) budgetReader() *BudgetReader {
	return &BudgetReader{Stats: r.Stats, Prices: r.Pricing, Pool: r.Pool}
}

// BudgetViews are budgets with what is spent of them now; null where the ledger cannot be asked.
func (r *Report) BudgetViews(ctx context.Context, budgets []budget.Budget) []openapi.Budget {
	now := r.Now()
	found := r.budgetReader().now(ctx, budgets, now)
	views := make([]openapi.Budget, len(budgets))
	for i := range budgets {
		views[i] = budgetView(&budgets[i], now)
		if found != nil {
			addSpent(&views[i], &budgets[i], found[i], now)
		}
	}
	return views
}

// BudgetPage answers listAllBudgets: a page of budgets, of those in a state alone where one is given.
func (r *Report) BudgetPage(ctx context.Context, all []budget.Budget, state string, page, size int) (answer openapi.BudgetPage) {
	total := len(all)
	if state == "" { // what is spent is asked of the page alone
		answer.Items = r.BudgetViews(ctx, pageIn(all, page, size))
	} else {
		views := slices.DeleteFunc(r.BudgetViews(ctx, all), func(b openapi.Budget) bool { return b.State != state })
		total, answer.Items = len(views), pageIn(views, page, size)
	}
	answer.PageFields = openapi.PageOf(page, size, total)
	return answer
}

func budgetView(b *budget.Budget, now time.Time) openapi.Budget {
	period := b.Period.Of(beijing.DayOf(now))
	view := openapi.Budget{
		BudgetFields: openapi.BudgetFields{Period: string(b.Period), Amount: b.Amount.String(), Currency: b.Currency, Action: b.Action},
		ID:           b.ID, Scope: string(b.Scope), Unknown: b.Unknown, Thresholds: openapi.Each(b.Thresholds, func(n int16) int64 { return int64(n) }),
		From: period.Start, ResetsAt: beijing.Format(period.End.End()), State: "unknown", UpdatedBy: b.UpdatedBy, UpdatedAt: beijing.Format(b.UpdatedAt),
	}
	if b.Scope == budget.ForCapability {
		view.CapabilityID, view.CapabilityName = &b.Capability, &b.CapabilityName
	} else {
		view.OwnerID, view.OwnerEmail = &b.Owner, &b.OwnerEmail
	}
	if b.Application != uuid.Nil {
		view.ApplicationID, view.ApplicationName = &b.Application, &b.ApplicationName
	}
	if b.Key != uuid.Nil {
		view.KeyID, view.KeyName = &b.Key, &b.KeyName
	}
	if o := b.Override; o != nil {
		view.Override = &openapi.BudgetOverride{Amount: o.Amount.String(), Until: beijing.Format(o.Until), Reason: o.Reason, By: o.By, Active: now.Before(o.Until)}
	}
	return view
}

func addSpent(view *openapi.Budget, b *budget.Budget, spent budget.Spent, now time.Time) {
	holds := b.Holds(now)
	percent := percentOf(spent.Amount, holds)
	text, left := spent.Amount.String(), decimal.Max(decimal.Zero, holds.Sub(spent.Amount)).String()
	view.Spent, view.Left, view.Percent, view.UnknownCalls = &text, &left, &percent, &spent.Unknown
	switch {
	case !spent.Amount.LessThan(holds):
		view.State = "over"
	case percent >= nearFrom:
		view.State = "near"
	default:
		view.State = "ok"
	}
	if amount, on, ok := budget.Forecast(b, spent.Amount, now); ok {
		view.Forecast = &openapi.BudgetForecast{Amount: amount.StringFixed(2)}
		if on != nil {
			text := on.String()
			view.Forecast.UsedUpOn = &text
		}
	}
}

// percentOf is what part of an amount is spent.
func percentOf(spent, amount decimal.Decimal) float64 {
	return spent.Mul(decimal.NewFromInt(100)).Div(amount).InexactFloat64()
}

// OwnBudgets are what the holder of a key is told of budgets: nothing of capabilities', which administrators alone know.
func (r *BudgetReader) OwnBudgets(ctx context.Context, budgets []budget.Budget, now time.Time) []openapi.OwnBudgetUsage {
	found, views := r.now(ctx, budgets, now), []openapi.OwnBudgetUsage{}
	for i := range budgets {
		b := &budgets[i]
		view := openapi.OwnBudgetUsage{Scope: string(b.Scope), Period: string(b.Period), Amount: b.Holds(now).String(), Currency: b.Currency,
			Action: b.Action, Unknown: b.Unknown, ResetsAt: beijing.Format(b.Period.Of(beijing.DayOf(now)).End.End())}
		if found != nil {
			spent, left := found[i].Amount.String(), decimal.Max(decimal.Zero, b.Holds(now).Sub(found[i].Amount)).String()
			view.Spent, view.Left, view.UnknownCalls = &spent, &left, &found[i].Unknown
		}
		views = append(views, view)
	}
	return views
}

// Uncovered answers listUncovered: a page of the applications that have cost something this month and are held to no budget that
// blocks, of their own or of their owner, what cost most first: by the currency in which most calls are priced.
func (r *Report) Uncovered(ctx context.Context, budgets []budget.Budget, page, size int) (answer openapi.UncoveredPage, err error) {
	covered := map[uuid.UUID]bool{}
	for _, b := range budgets {
		switch {
		case b.Action != budget.Block:
		case b.Scope == budget.ForApplication:
			covered[b.Application] = true
		case b.Scope == budget.ForOwner:
			covered[b.Owner] = true
		}
	}
	days := budget.Month.Of(beijing.DayOf(r.Now()))
	all, _, err := r.Applications.Everyones(ctx)
	if err != nil {
		return answer, err
	}
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return answer, err
	}
	spent := newPricedBy[uuid.UUID](book)
	spans := openapi.Each(book.Spans(days), func(r beijing.Range) beijing.Day { return r.Start })
	err = r.Stats.EveryonesSpent(ctx, days, spans, book.UpstreamModels(), func(row *stats.ModelTokens) { spent.add(row.Application, row) })
	if err != nil {
		return answer, err
	}
	code := mostPriced(spent)
	type candidate struct {
		openapi.Uncovered
		amount decimal.Decimal
	}
	var list []candidate
	for _, a := range all {
		if found := spent.of[a.ID]; found != nil && !covered[a.ID] && !covered[a.OwnerID] {
			one := candidate{Uncovered: openapi.Uncovered{ApplicationID: a.ID, ApplicationName: a.Name, OwnerEmail: a.Email}}
			for _, cost := range found.sum.Costs() {
				if one.Costs = append(one.Costs, costView(cost)); cost.Currency == code {
					one.amount = cost.Amount
				}
			}
			if len(one.Costs) > 0 {
				list = append(list, one)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(b.amount.Cmp(a.amount), cmp.Compare(a.ApplicationName, b.ApplicationName))
	})
	answer.PageFields = openapi.PageOf(page, size, len(list))
	answer.Items = openapi.Each(pageIn(list, page, size), func(c candidate) openapi.Uncovered { return c.Uncovered })
	return answer, nil
}
