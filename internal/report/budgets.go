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
	// Batches is what the batches of a gateway's spool begin with; of Read only.
	Batches func(gateway uuid.UUID) string
}

// spending is what is found of one question.
type spending struct {
	budget.Ask
	book  *pricing.Book
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
	all, days := spendingsOf(asks, book)
	if err := r.addDays(ctx, book, all, days); err != nil {
		return nil, err
	}
	found := make([]budget.Spent, len(all))
	for i := range all {
		found[i] = all[i].result()
	}
	return found, nil
}

// Read answers a question of a gateway: the days before the cut by their rollups, the others by the calls themselves, but for those
// that gateways count. Faults: Unavailable.
func (r *BudgetReader) Read(ctx context.Context, q budget.Question) (found budget.Spent, err error) {
	book, err := r.Prices.Book(ctx)
	if err != nil {
		return found, err
	}
	all, period := spendingsOf([]budget.Ask{q.Ask}, book)
	s := &all[0]
	if q.Cut > period.Start {
		s.end = q.Cut - 1
		if err := r.addDays(ctx, book, all, beijing.Range{Start: period.Start, End: s.end}); err != nil {
			return found, err
		}
	}
	s.end = period.End
	of := stats.CallsOf{Applications: []uuid.UUID{q.Application}, Capability: q.Capability}
	switch q.Scope {
	case budget.ForKey:
		of.Keys = append([]uuid.UUID{q.Key}, q.FormerKeys...)
	case budget.ForCapability:
		of.Applications = nil
	case budget.ForOwner:
		applications := map[uuid.UUID][]*spending{}
		if err := r.addOwners(ctx, map[uuid.UUID][]*spending{q.Owner: {s}}, applications); err != nil {
			return found, err
		}
		of.Applications = slices.Collect(maps.Keys(applications))
	}
	var without []stats.Spool
	for id, since := range q.Counted {
		without = append(without, stats.Spool{Batches: r.Batches(id), Since: since})
	}
	err = r.Stats.UsedBeyond(ctx, of, beijing.Range{Start: q.Cut, End: period.End}, without, func(row *stats.ModelTokens) { s.add(row, chargeOf(book, row)) })
	return s.result(), err
}

// addDays adds what the rollups of a range of days have.
func (r *BudgetReader) addDays(ctx context.Context, book *pricing.Book, all []spending, days beijing.Range) (err error) {
	spans := spansOf(all, days, book)
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
		return err
	}
	take := func(to []*spending, row *stats.ModelTokens) {
		charge := chargeOf(book, row)
		for _, s := range to {
			s.add(row, charge)
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
	return err
}

// spendingsOf gives the days that all questions are about.
func spendingsOf(asks []budget.Ask, book *pricing.Book) (all []spending, days beijing.Range) {
	for i, ask := range asks {
		period := ask.Period.Of(ask.From)
		all = append(all, spending{ask, book, period.End, map[string]*pricing.Sum{}})
		if i == 0 {
			days = period
		}
		days.Start, days.End = min(days.Start, period.Start), max(days.End, period.End)
	}
	return all, days
}

// spansOf gives the first days of spans in which no question or price begins or ends.
func spansOf(all []spending, days beijing.Range, book *pricing.Book) (spans []beijing.Day) {
	for _, s := range all {
		spans = append(spans, s.From, s.end+1)
	}
	for _, span := range book.Spans(days) {
		spans = append(spans, span.Start)
	}
	slices.Sort(spans)
	return slices.Compact(spans)
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
func (s *spending) add(row *stats.ModelTokens, charge pricing.Charge) {
	if row.Day < s.From || row.Day > s.end || row.Calls == 0 && row.Meters == nil {
		return
	}
	sum := s.costs[row.Model]
	if sum == nil {
		sum = s.book.Sum()
		s.costs[row.Model] = sum
	}
	sum.Add(charge)
}

func (s *spending) result() (found budget.Spent) {
	total := s.book.Sum()
	for capability, sum := range s.costs {
		total.AddSum(sum)
		if _, unknown := sum.In(s.Currency); unknown > 0 {
			found.Unpriced = append(found.Unpriced, capability)
		}
	}
	slices.Sort(found.Unpriced)
	found.Amount, found.Unknown = total.In(s.Currency)
	found.Version = s.book.Version()
	return found
}
