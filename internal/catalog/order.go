package catalog

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/fault"
)

const maxOrdered = 10_000 // identifiers in one request

// OrderGroups gives the groups the sort orders 1, 2, 3… as they are named, in one step; groups not
// named keep theirs. actor is recorded.
func (s *Store) OrderGroups(ctx context.Context, actor string, ids []string) ([]Group, error) {
	if err := checkOrder(ids); err != nil {
		return nil, err
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		before, err := lockOrder(ctx, tx, `
			SELECT id, sort_order FROM capability_groups WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE`, ids)
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `
			UPDATE capability_groups g SET sort_order = o.place, updated_at = clock_timestamp()
			FROM unnest($1::text[]) WITH ORDINALITY AS o (id, place)
			WHERE g.id = o.id AND g.sort_order <> o.place`, ids)
		if err != nil {
			return fmt.Errorf("order groups: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return nil
		}
		return audit.Append(ctx, tx, audit.Entry{Actor: actor, Action: "group.reorder", TargetType: "group",
			Changes: audit.Changes{{Field: "order", From: before, To: ids}}})
	})
	if err != nil {
		return nil, err
	}
	return s.Groups(ctx)
}

// Order gives the capabilities of one group the sort orders 1, 2, 3… as they are named, in one step;
// those not named keep theirs. It returns the group's capabilities in their order. actor is recorded.
func (s *Store) Order(ctx context.Context, actor, groupID string, ids []string) ([]Details, error) {
	if err := checkOrder(ids); err != nil {
		return nil, err
	}
	var ordered []Details
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := checkGroup(ctx, tx, groupID); err != nil {
			return err
		}
		before, err := lockOrder(ctx, tx, `
			SELECT id, sort_order FROM capabilities WHERE id = ANY ($1) AND group_id = $2
			ORDER BY id FOR NO KEY UPDATE`, ids, groupID)
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `
			UPDATE capabilities c SET sort_order = o.place, updated_at = clock_timestamp()
			FROM unnest($1::text[]) WITH ORDINALITY AS o (id, place)
			WHERE c.id = o.id AND c.sort_order <> o.place`, ids)
		if err != nil {
			return fmt.Errorf("order capabilities: %w", err)
		}
		if tag.RowsAffected() > 0 {
			err := audit.Append(ctx, tx, audit.Entry{Actor: actor, Action: "capability.reorder", TargetType: "group",
				TargetID: groupID, Changes: audit.Changes{{Field: "order", From: before, To: ids}}})
			if err != nil {
				return err
			}
		}
		rows, err := tx.Query(ctx, selectDetails+`WHERE c.group_id = $1 `+catalogOrder, groupID)
		if err != nil {
			return fmt.Errorf("ordered capabilities: %w", err)
		}
		ordered, err = pgx.CollectRows(rows, scanDetails)
		return err
	})
	return ordered, err
}

func checkOrder(ids []string) error {
	wrong := fault.Fields{}
	switch {
	case len(ids) == 0:
		wrong.Add("ids", "is required")
	case len(ids) > maxOrdered:
		wrong.Add("ids", "must name at most %d", maxOrdered)
	}
	sorted := slices.Sorted(slices.Values(ids))
	if len(slices.Compact(sorted)) < len(ids) {
		wrong.Add("ids", "must name each only once")
	}
	if slices.ContainsFunc(ids, func(id string) bool { return !identifier.MatchString(id) }) {
		wrong.Add("ids", "names one that does not exist")
	}
	return wrong.Err()
}

// lockOrder locks the named rows, in the order of their identifiers so that two requests cannot
// deadlock, and gives the identifiers in their present order.
func lockOrder(ctx context.Context, tx pgx.Tx, query string, ids []string, more ...any) ([]string, error) {
	type place struct {
		ID    string
		Order int
	}
	rows, err := tx.Query(ctx, query, append([]any{ids}, more...)...)
	if err != nil {
		return nil, fmt.Errorf("lock order: %w", err)
	}
	places, err := pgx.CollectRows(rows, pgx.RowToStructByPos[place])
	if err != nil {
		return nil, fmt.Errorf("lock order: %w", err)
	}
	if len(places) < len(ids) {
		return nil, fault.InvalidFields(map[string]string{"ids": "names one that does not exist"})
	}
	slices.SortStableFunc(places, func(a, b place) int { return a.Order - b.Order })
	before := make([]string, len(places))
	for i, p := range places {
		before[i] = p.ID
	}
	return before, nil
}
