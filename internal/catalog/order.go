package catalog

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/fault"
)

const maxOrdered = 10_000 // identifiers in one request

// place is where an ordered thing stands.
type place struct {
	ID        string
	Order     int
	UpdatedAt time.Time
}

// reorder gives the rows of $1 the sort orders 1, 2, 3…, each newer than $2: so an order always
// changes the newest updated_at of its list, which is the list's precondition.
const reorder = `
	UPDATE %s t SET sort_order = o.place, updated_at = greatest(clock_timestamp(), $2::timestamptz + interval '1 millisecond')
	FROM unnest($1::text[]) WITH ORDINALITY AS o (id, place)
	WHERE t.id = o.id AND t.sort_order <> o.place`

// OrderGroups gives the groups the sort orders 1, 2, 3… as they are named, in one step; groups not
// named keep theirs. actor is recorded. seen, if given, is the precondition, the newest UpdatedAt of
// the groups; when it does not hold they come as they are with the Changed fault.
func (s *Store) OrderGroups(ctx context.Context, actor string, ids []string, seen ...time.Time) (groups []Group, err error) {
	if err := checkOrder(ids); err != nil {
		return nil, err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		places, err := lockPlaces(ctx, tx, `SELECT id, sort_order, updated_at FROM capability_groups ORDER BY id FOR NO KEY UPDATE`)
		if err != nil {
			return err
		}
		refused := fault.Unchanged(newest(places), seen...)
		if refused == nil {
			entry := audit.Entry{Actor: actor, Action: "group.reorder", TargetType: "group"}
			if err := order(ctx, tx, "capability_groups", places, ids, entry); err != nil {
				return err
			}
		}
		if groups, err = listGroups(ctx, tx); err != nil {
			return err
		}
		return refused
	})
	return groups, err
}

// Order gives the capabilities of one group the sort orders 1, 2, 3… as they are named, in one step;
// those not named keep theirs. It returns the group's capabilities in their order. actor is recorded.
// seen, if given, is the precondition, the newest UpdatedAt of the group's capabilities; when it does
// not hold they come as they are with the Changed fault.
func (s *Store) Order(ctx context.Context, actor, groupID string, ids []string, seen ...time.Time) (ordered []Details, err error) {
	if err := checkOrder(ids); err != nil {
		return nil, err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := checkGroup(ctx, tx, groupID); err != nil {
			return err
		}
		places, err := lockPlaces(ctx, tx, `
			SELECT id, sort_order, updated_at FROM capabilities WHERE group_id = $1 ORDER BY id FOR NO KEY UPDATE`, groupID)
		if err != nil {
			return err
		}
		refused := fault.Unchanged(newest(places), seen...)
		if refused == nil {
			entry := audit.Entry{Actor: actor, Action: "capability.reorder", TargetType: "group", TargetID: groupID}
			if err := order(ctx, tx, "capabilities", places, ids, entry); err != nil {
				return err
			}
		}
		rows, err := tx.Query(ctx, selectDetails+`WHERE c.group_id = $1 `+catalogOrder, groupID)
		if err != nil {
			return fmt.Errorf("ordered capabilities: %w", err)
		}
		if ordered, err = pgx.CollectRows(rows, scanDetails); err != nil {
			return fmt.Errorf("ordered capabilities: %w", err)
		}
		return refused
	})
	return ordered, err
}

// order writes the places of ids, all of which must be among places, and records what changed.
func order(ctx context.Context, tx pgx.Tx, table string, places []place, ids []string, entry audit.Entry) error {
	before, err := inPresentOrder(places, ids)
	if err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, fmt.Sprintf(reorder, table), ids, newest(places))
	if err != nil {
		return fmt.Errorf("order %s: %w", table, err)
	}
	if tag.RowsAffected() == 0 {
		return nil
	}
	entry.Changes = audit.Changes{{Field: "order", From: before, To: ids}}
	return audit.Append(ctx, tx, entry)
}

func checkOrder(ids []string) error {
	wrong := fault.Fields{}
	switch {
	case len(ids) == 0:
		wrong.Add("ids", "is required")
		return wrong.Err()
	case len(ids) > maxOrdered:
		wrong.Add("ids", "must name at most %d", maxOrdered)
		return wrong.Err()
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

// lockPlaces locks the rows of a list, which query must give in the order of their identifiers so
// that two requests cannot deadlock.
func lockPlaces(ctx context.Context, tx pgx.Tx, query string, args ...any) ([]place, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("lock order: %w", err)
	}
	places, err := pgx.CollectRows(rows, pgx.RowToStructByPos[place])
	if err != nil {
		return nil, fmt.Errorf("lock order: %w", err)
	}
	return places, nil
}

func newest(places []place) (at time.Time) {
	for _, p := range places {
		if p.UpdatedAt.After(at) {
			at = p.UpdatedAt
		}
	}
	return at
}

// inPresentOrder gives ids in the order in which they stand; one that is not among places is refused.
func inPresentOrder(places []place, ids []string) ([]string, error) {
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	named := slices.DeleteFunc(slices.Clone(places), func(p place) bool { return !wanted[p.ID] })
	if len(named) < len(ids) {
		return nil, fault.InvalidFields(map[string]string{"ids": "names one that does not exist"})
	}
	slices.SortStableFunc(named, func(a, b place) int { return a.Order - b.Order })
	before := make([]string, len(named))
	for i, p := range named {
		before[i] = p.ID
	}
	return before, nil
}
