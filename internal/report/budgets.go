package report

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/beijing"
	"callgate/internal/budget"
	"callgate/internal/pricing"
	"callgate/internal/stats"
)

// BudgetReader finds out what is spent of budgets: the costs that the statistics show of the same calls.
type BudgetReader struct {
	Stats  *stats.Reader
	Prices *pricing.Store
	Pool   *pgxpool.Pool // of the applications of owners
}

// spending is what is found of one question.
type spending struct {
	budget.Ask
	end   beijing.Day
	costs map[string]*pricing.Sum // by capability
}

// Spent answers questions in their order. All are answered by one book. An owner's are all applications that are theirs now, and
// those that they deleted while the ledger has them. Faults: Unavailable.
func (r *BudgetReader) Spent(ctx context.Context, asks []budget.Ask) ([]budget.Spent, error) {
	book, err := r.Prices.Book(ctx)
	if err != nil || len(asks) == 0 {
		return nil, err
	}
	all, days, spans := spendingsOf(asks, book)
	applications, keys, capabilities := map[uuid.UUID][]*spending{}, map[uuid.UUID][]*spending{}, map[string][]*spending{}
	owners := map[uuid.UUID][]*spending{}
	var keysOf []uuid.UUID // their applications
	for i := range all {
		switch s := &all[i]; s.Scope {
		case budget.ForApplication:
			applications[s.Application] = append(applications[s.Application], s)
		case budget.ForOwner:
			owners[s.Owner] = append(owners[s.Owner], s)
		case budget.ForCapability:
			capabilities[s.Capability] = append(capabilities[s.Capability], s)
		case budget.ForKey:
			for _, key := range append([]uuid.UUID{s.Key}, s.FormerKeys...) {
				keys[key] = append(keys[key], s)
			}
			keysOf = append(keysOf, s.Application)
		}
	}
	if err := r.addOwners(ctx, owners, applications); err != nil {
		return nil, err
	}
	take := func(to []*spending, row *stats.ModelTokens) {
		charge := chargeOf(book, row)
		for _, s := range to {
			s.add(book, row, charge)
		}
	}
	named := book.UpstreamModels()
	if len(applications) > 0 {
		err = r.Stats.SpanTokens(ctx, slices.Collect(maps.Keys(applications)), days, spans, named, func(row *stats.ModelTokens) { take(applications[row.Application], row) })
	}
	if err == nil && len(keys) > 0 {
		err = r.Stats.KeyTokens(ctx, keysOf, slices.Collect(maps.Keys(keys)), days, spans, named, func(u *stats.KeyUsage) {
			take(keys[u.Key], &stats.ModelTokens{Day: u.Day, Model: u.Model, UpstreamModel: u.UpstreamModel, Calls: u.Calls, Metered: u.Metered})
		})
	}
	for capability, of := range capabilities {
		if err == nil {
			err = r.Stats.EveryonesTokens(ctx, stats.Everyone{}, days, &capability, named, func(row *stats.ModelTokens) { take(of, row) })
		}
	}
	if err != nil {
		return nil, err
	}
	found := make([]budget.Spent, len(all))
	for i := range all {
		found[i] = all[i].result(book)
	}
	return found, nil
}

// spendingsOf gives the days that all questions are about, and the first days of spans in which no question or price begins or ends.
func spendingsOf(asks []budget.Ask, book *pricing.Book) (all []spending, days beijing.Range, spans []beijing.Day) {
	for i, ask := range asks {
		period := ask.Period.Of(ask.From)
		all = append(all, spending{ask, period.End, map[string]*pricing.Sum{}})
		if i == 0 {
			days = period
		}
		days.Start, days.End = min(days.Start, period.Start), max(days.End, period.End)
		spans = append(spans, period.Start, period.End+1)
	}
	for _, span := range book.Spans(days) {
		spans = append(spans, span.Start)
	}
	slices.Sort(spans)
	return all, days, slices.Compact(spans)
}

func (r *BudgetReader) addOwners(ctx context.Context, owners, applications map[uuid.UUID][]*spending) error {
	if len(owners) == 0 {
		return nil
	}
	rows, err := r.Pool.Query(ctx, `SELECT id, owner_id FROM applications WHERE owner_id = ANY($1)
		UNION ALL SELECT id, owner_id FROM deleted_applications WHERE owner_id = ANY($1) AND purged_at IS NULL`, slices.Collect(maps.Keys(owners)))
	if err != nil {
		return fmt.Errorf("applications of owners: %w", err)
	}
	var application, owner uuid.UUID
	_, err = pgx.ForEachRow(rows, []any{&application, &owner}, func() error {
		applications[application] = append(applications[application], owners[owner]...)
		return nil
	})
	if err != nil {
		return fmt.Errorf("applications of owners: %w", err)
	}
	return nil
}

// add takes in a row that is of the question's days.
func (s *spending) add(book *pricing.Book, row *stats.ModelTokens, charge pricing.Charge) {
	if row.Day < s.From || row.Day > s.end || row.Calls == 0 && row.Meters == nil {
		return
	}
	sum := s.costs[row.Model]
	if sum == nil {
		sum = book.Sum()
		s.costs[row.Model] = sum
	}
	sum.Add(charge)
}

func (s *spending) result(book *pricing.Book) (found budget.Spent) {
	total := book.Sum()
	for capability, sum := range s.costs {
		total.AddSum(sum)
		if _, unknown := sum.In(s.Currency); unknown > 0 {
			found.Unpriced = append(found.Unpriced, capability)
		}
	}
	slices.Sort(found.Unpriced)
	found.Amount, found.Unknown = total.In(s.Currency)
	return found
}
