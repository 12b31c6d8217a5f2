package report

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"
	"golang.org/x/sync/errgroup"

	"callgate/internal/alerts"
	"callgate/internal/beijing"
	"callgate/internal/budget"
	"callgate/internal/catalog"
	"callgate/internal/stats"
)

// usesAtATime bounds the questions to Redis that are under way.
const usesAtATime = 16

// alertSource answers for the figures that alerts are evaluated by, from the packages that have them.
type alertSource struct{ r *Report }

// AlertSource is what alerts are evaluated by. It asks Redis for uses of limits, which is an error where there is no LimitsUsage.
func (r *Report) AlertSource() alerts.Source { return alertSource{r} }

func (s alertSource) Standing(ctx context.Context) (found alerts.Standing, err error) {
	if found.Through, err = s.r.Ledger.Through(ctx); err != nil {
		return found, err
	}
	promised, ok, err := s.r.Stats.Promise(ctx, s.r.Ledger.Through)
	if err != nil {
		return found, err
	}
	if ok && promised.Before(found.Through) {
		found.Through = promised
	}
	silent, err := s.r.Ledger.MostSilent(ctx)
	if err == nil && silent != nil {
		found.SpoolID, found.Host, found.SilentFor = silent.ID, silent.Node, silent.For
	}
	return found, err
}

func (s alertSource) Windows(ctx context.Context, of alerts.TargetType, ids []string, from, to time.Time) (map[string]alerts.Window, error) {
	by := map[alerts.TargetType]stats.By{alerts.Application: stats.ByApplication, alerts.Capability: stats.ByModel, alerts.Upstream: stats.ByUpstream}[of]
	found, err := s.r.Stats.Windows(ctx, by, ids, from, to)
	windows := make(map[string]alerts.Window, len(found))
	for id, w := range found {
		windows[id] = alerts.Window(w)
	}
	return windows, err
}

func (s alertSource) LastCalls(ctx context.Context, applications []uuid.UUID) (map[uuid.UUID]time.Time, error) {
	return s.r.Stats.LastCalls(ctx, applications)
}

func (s alertSource) Spent(ctx context.Context, applications []uuid.UUID, days beijing.Range) (map[uuid.UUID]alerts.Spent, error) {
	totals, err := s.r.tokenTotals(ctx, applications, days)
	spent := make(map[uuid.UUID]alerts.Spent, len(totals.of))
	for id, total := range totals.of {
		found := alerts.Spent{Tokens: total.Input.N + total.Output.N, Costs: map[string]alerts.Money{}}
		for _, cost := range total.sum.Costs() {
			found.Unpriced = cost.UnpricedCalls
			if cost.Currency != "" {
				found.Costs[cost.Currency] = alerts.Money{Text: cost.Amount.String(), Amount: cost.Amount.InexactFloat64()}
			}
		}
		spent[id] = found
	}
	return spent, err
}

// Budgets asks for what is spent of all of them at once.
func (s alertSource) Budgets(ctx context.Context, applications []uuid.UUID, at time.Time) (map[uuid.UUID]map[string]alerts.BudgetSpent, error) {
	budgets, err := budget.New(s.r.Pool).OfApplications(ctx, applications)
	if err != nil {
		return nil, err
	}
	asks := make([]budget.Ask, len(budgets))
	for i := range budgets {
		asks[i] = budget.Ask{Budget: &budgets[i], From: budgets[i].Period.Of(beijing.DayOf(at)).Start}
	}
	spent, err := s.r.budgetReader().Spent(ctx, asks)
	if err != nil {
		return nil, err
	}
	found := map[uuid.UUID]map[string]alerts.BudgetSpent{}
	for i := range budgets {
		b, holds := &budgets[i], budgets[i].Holds(at)
		one := alerts.BudgetSpent{
			From: asks[i].From, Spent: spent[i].Amount.String(), Amount: holds.String(), Currency: b.Currency,
			Percent: percentOf(spent[i].Amount, holds), Unknown: spent[i].Unknown,
		}
		_, one.UsedUpOn, _ = budget.Forecast(b, spent[i].Amount, at)
		if found[b.Application] == nil {
			found[b.Application] = map[string]alerts.BudgetSpent{}
		}
		found[b.Application][string(b.Period)] = one
	}
	return found, nil
}

func (s alertSource) Uses(ctx context.Context, applications []uuid.UUID) (map[uuid.UUID]map[string]alerts.Use, error) {
	if s.r.LimitsUsage == nil {
		return nil, errors.New("the counts of limits cannot be asked")
	}
	standings, err := s.r.Limits.Standings(ctx, applications...)
	if err != nil {
		return nil, err
	}
	found := make([]map[string]alerts.Use, len(applications))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(usesAtATime)
	for i, id := range applications {
		group.Go(func() error {
			used, err := s.r.LimitsUsage.Used(ctx, id, standings[id])
			if err != nil {
				return err
			}
			found[i] = map[string]alerts.Use{}
			for at, h := range standings[id].Holding() {
				found[i][h.Name] = alerts.Use{Limit: h.Limit, Used: used[at]}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	uses := make(map[uuid.UUID]map[string]alerts.Use, len(applications))
	for i, id := range applications {
		uses[id] = found[i]
	}
	return uses, nil
}

func (s alertSource) LeftOut(ctx context.Context, of alerts.TargetType, ids []string) (map[string]alerts.LeftOut, error) {
	by := map[alerts.TargetType]catalog.LeftOutBy{
		alerts.Application: catalog.LeftOutByApplication, alerts.Capability: catalog.LeftOutByCapability, alerts.Upstream: catalog.LeftOutByUpstream,
	}[of]
	found, err := s.r.Catalog.LeftOut(ctx, by, ids)
	out := make(map[string]alerts.LeftOut, len(found))
	for id, one := range found {
		out[id] = alerts.LeftOut(one)
	}
	return out, err
}

func (s alertSource) ExpiringKeys(ctx context.Context, applications []uuid.UUID) (map[uuid.UUID]alerts.ExpiringKey, error) {
	rows, err := s.r.Pool.Query(ctx, `
		SELECT DISTINCT ON (application_id) application_id, id, name, expires_at FROM application_keys
		WHERE application_id = ANY($1) AND expires_at > now() AND replaced_at IS NULL ORDER BY application_id, expires_at, id`, applications)
	if err != nil {
		return nil, fmt.Errorf("expiring keys: %w", err)
	}
	found := map[uuid.UUID]alerts.ExpiringKey{}
	var application uuid.UUID
	var key alerts.ExpiringKey
	_, err = pgx.ForEachRow(rows, []any{&application, &key.ID, &key.Name, &key.ExpiresAt}, func() error {
		found[application] = key
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("expiring keys: %w", err)
	}
	return found, nil
}

// alertPast answers for the figures that alerts would have been evaluated by.
type alertPast struct{ alertSource }

// AlertPast is what the past of alerts is told by.
func (r *Report) AlertPast() alerts.Past { return alertPast{alertSource{r}} }

func (s alertPast) Known(ctx context.Context) (from, to time.Time, err error) {
	standing, err := s.Standing(ctx)
	return s.r.Stats.KeptCalls(beijing.Range{}).Start.Start(), standing.Through, err
}

func (s alertPast) Slots(ctx context.Context, application uuid.UUID, from, to time.Time, durations bool, take func(alerts.Slot)) error {
	return s.r.Stats.Slots(ctx, application, from, to, alerts.SlotLength, durations, func(found stats.Slot) { take(alerts.Slot(found)) })
}

func (s alertPast) DaysSpent(ctx context.Context, application uuid.UUID, days beijing.Range) ([]alerts.DaySpent, error) {
	used, err := s.r.tokenUsage(ctx, []uuid.UUID{application}, days)
	if err != nil {
		return nil, err
	}
	var spent []alerts.DaySpent
	for day := range days.Each() {
		total := used.byDay.of[day]
		if total == nil {
			continue
		}
		found := alerts.DaySpent{Day: day, Tokens: total.Input.N + total.Output.N, Costs: map[string]decimal.Decimal{}}
		for _, cost := range total.sum.Costs() {
			found.Costs[cost.Currency] = cost.Amount
		}
		spent = append(spent, found)
	}
	return spent, nil
}
