package pricing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"

	"callgate/internal/audit"
	"callgate/internal/fault"
)

// List gives the prices of a capability, or of all for "": by capability, those of any model, tier and band first, each
// history newest first. An unknown capability has none.
func (s *Store) List(ctx context.Context, capability string) ([]Price, error) {
	prices, err := query(ctx, s.pool, `WHERE $1 = '' OR capability_id = $1
		ORDER BY capability_id, upstream_model, tier, from_band, from_day DESC`, capability)
	if err != nil {
		return nil, fmt.Errorf("list prices: %w", err)
	}
	return prices, nil
}

// Put enters a price, or replaces the one of the same capability, upstream model, tier, band and first day;
// actor, an e-mail address, is recorded. seen, if given, is the precondition of what is replaced; when it does not hold
// the price as it is comes with the Changed fault, and when there is none the fault is NotFound.
func (s *Store) Put(ctx context.Context, actor string, draft Draft, seen ...time.Time) (p Price, err error) {
	if p, err = draft.check(); err != nil {
		return Price{}, err
	}
	err = s.edit(ctx, func(tx pgx.Tx) error {
		before, err := existing(ctx, tx, p)
		if err != nil {
			return err
		}
		if before == nil {
			if len(seen) > 0 {
				return fault.New(fault.NotFound, "the price that was read is not there any more")
			}
			return create(ctx, tx, actor, &p)
		}
		if err := fault.Unchanged(before.UpdatedAt, seen...); err != nil {
			p = *before
			return err
		}
		return replace(ctx, tx, actor, before, &p)
	})
	return p, err
}

// Delete takes a price out of the book; its days are then priced by the one before it, if any. actor is
// recorded, with what the price was. An unknown one is fault.Absent.
func (s *Store) Delete(ctx context.Context, actor string, id uuid.UUID) error {
	return s.edit(ctx, func(tx pgx.Tx) error {
		found, err := query(ctx, tx, `WHERE id = $1`, id)
		switch {
		case err != nil:
			return fmt.Errorf("delete price: %w", err)
		case len(found) == 0:
			return fault.Absent()
		}
		if _, err := tx.Exec(ctx, `DELETE FROM `+found[0].table()+` WHERE id = $1`, id); err != nil {
			return fmt.Errorf("delete price: %w", err)
		}
		entry := entryOf(actor, "price.delete", found[0])
		for _, c := range fieldsOf(found[0]) {
			entry.Changes = append(entry.Changes, audit.Change{Field: c.Field, From: c.To})
		}
		return audit.Append(ctx, tx, entry)
	})
}

// edit runs an edit of the book; edits of it follow one another.
func (s *Store) edit(ctx context.Context, do func(pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT FROM price_book FOR NO KEY UPDATE`); err != nil {
			return fmt.Errorf("lock price book: %w", err)
		}
		return do(tx)
	})
}

// existing gives the price that p would replace, or nil. The capability must be one that there is.
func existing(ctx context.Context, tx pgx.Tx, p Price) (*Price, error) {
	var known int
	err := tx.QueryRow(ctx, `SELECT 1 FROM capabilities WHERE id = $1`, p.CapabilityID).Scan(&known)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, fault.InvalidFields(map[string]string{"capabilityId": "no such capability"})
	case err != nil:
		return nil, fmt.Errorf("capability of a price: %w", err)
	}
	found, err := query(ctx, tx, `WHERE capability_id = $1 AND upstream_model = $2 AND tier = $3 AND from_band = $4 AND from_day = date '1970-01-01' + $5::integer`,
		p.CapabilityID, p.UpstreamModel, p.Tier, p.FromBand, int32(p.From))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// table is where the price stands: apart where the version before must not take it for one of any call.
func (p *Price) table() string {
	if p.Tier == AnyTier && p.FromBand == 0 {
		return "prices"
	}
	return "tier_prices"
}

func create(ctx context.Context, tx pgx.Tx, actor string, p *Price) error {
	p.ID, p.CreatedBy, p.UpdatedBy = uuid.New(), actor, actor
	input, cached, cacheWrite, output, more := p.written()
	err := tx.QueryRow(ctx, `
		INSERT INTO `+p.table()+` (id, capability_id, upstream_model, tier, from_band, from_day, currency, input, cached, cache_write, output, amounts, created_by, updated_by)
		VALUES ($1, $2, $3, $4, $5, date '1970-01-01' + $6::integer, $7, $8, $9, $10, $11, $12, $13, $13) RETURNING created_at, updated_at`,
		p.ID, p.CapabilityID, p.UpstreamModel, p.Tier, p.FromBand, int32(p.From), p.Currency, input, cached, cacheWrite, output, more, actor).
		Scan(&p.CreatedAt, &p.UpdatedAt)
	if err != nil {
		return fmt.Errorf("insert price: %w", err)
	}
	entry := entryOf(actor, "price.create", *p)
	entry.Changes = fieldsOf(*p)
	return audit.Append(ctx, tx, entry)
}

// replace writes what p has in place of before; the same again changes nothing.
func replace(ctx context.Context, tx pgx.Tx, actor string, before, p *Price) error {
	changes := changesOf(before, p)
	p.ID, p.CreatedBy, p.CreatedAt = before.ID, before.CreatedBy, before.CreatedAt
	p.UpdatedBy, p.UpdatedAt = before.UpdatedBy, before.UpdatedAt
	if len(changes) == 0 {
		return nil
	}
	p.UpdatedBy = actor
	input, cached, cacheWrite, output, more := p.written()
	err := tx.QueryRow(ctx, `
		UPDATE `+p.table()+` SET currency = $2, input = $3, cached = $4, cache_write = $5, output = $6, amounts = $7,
		       updated_by = $8, updated_at = clock_timestamp()
		WHERE id = $1 RETURNING updated_at`,
		p.ID, p.Currency, input, cached, cacheWrite, output, more, actor).Scan(&p.UpdatedAt)
	if err != nil {
		return fmt.Errorf("update price: %w", err)
	}
	entry := entryOf(actor, "price.update", *p)
	entry.Changes = changes
	return audit.Append(ctx, tx, entry)
}

// entryOf names a price by what has one price a day, and the day: whoever reads of a correction has to know
// of which.
func entryOf(actor, action string, p Price) audit.Entry {
	name := p.CapabilityID
	if p.UpstreamModel != AnyModel {
		name += " (" + p.UpstreamModel + ")"
	}
	if p.Tier != AnyTier {
		name += " " + p.Tier
	}
	if p.FromBand != 0 {
		name += fmt.Sprintf(" >%d", p.FromBand)
	}
	return audit.Entry{Actor: actor, Action: action, TargetType: "price", TargetID: p.ID.String(), TargetName: name + " " + p.From.String()}
}

// fieldsOf are the fields of a new price as the audit log tells them.
func fieldsOf(p Price) audit.Changes {
	optional := func(amount *decimal.Decimal) any {
		if amount == nil {
			return nil
		}
		return amount.String()
	}
	fields := audit.Changes{
		{Field: "currency", To: p.Currency},
		{Field: "input", To: p.Input.String()},
		{Field: "cached", To: optional(p.Cached)},
		{Field: "cacheWrite", To: optional(p.CacheWrite)},
		{Field: "output", To: p.Output.String()},
	}
	for _, m := range slices.Sorted(maps.Keys(p.Amounts)) {
		fields = append(fields, audit.Change{Field: "amounts." + m.String(), To: p.Amounts[m].String()})
	}
	return fields
}

// changesOf tells in what two prices differ.
func changesOf(before, p *Price) (changes audit.Changes) {
	was := map[string]any{}
	for _, f := range fieldsOf(*before) {
		was[f.Field] = f.To
	}
	for _, f := range fieldsOf(*p) {
		changes.Add(f.Field, was[f.Field], f.To)
		delete(was, f.Field)
	}
	for _, field := range slices.Sorted(maps.Keys(was)) {
		changes.Add(field, was[field], nil)
	}
	return changes
}
