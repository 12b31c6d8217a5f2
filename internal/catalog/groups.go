package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/fault"
)

// GroupSettings are the fields of a group that an administrator sets; a nil one stays as it is. On
// creation the name is required, an absent ID is made up and an absent sort order is 0.
type GroupSettings struct {
	ID        *string
	Name      *string
	SortOrder *int64
}

func (s *GroupSettings) check() fault.Fields {
	wrong := fault.Fields{}
	trim(s.Name)
	checkName(wrong, s.Name)
	checkSortOrder(wrong, s.SortOrder)
	return wrong
}

const groupColumns = `id, name, sort_order, updated_at`

// Groups gives all groups by sort order.
func (s *Store) Groups(ctx context.Context) ([]Group, error) {
	return listGroups(ctx, s.pool)
}

func listGroups(ctx context.Context, db querier) ([]Group, error) {
	rows, err := db.Query(ctx, `SELECT `+groupColumns+` FROM capability_groups ORDER BY sort_order, id`)
	if err != nil {
		return nil, fmt.Errorf("groups: %w", err)
	}
	groups, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Group])
	if err != nil {
		return nil, fmt.Errorf("groups: %w", err)
	}
	return groups, nil
}

// Group gives one group; an unknown one is fault.Absent.
func (s *Store) Group(ctx context.Context, id string) (Group, error) {
	return getGroup(ctx, s.pool, id, "")
}

func getGroup(ctx context.Context, db querier, id, lock string) (Group, error) {
	if !identifier.MatchString(id) {
		return Group{}, fault.Absent()
	}
	rows, err := db.Query(ctx, `SELECT `+groupColumns+` FROM capability_groups WHERE id = $1 `+lock, id)
	if err != nil {
		return Group{}, fmt.Errorf("group: %w", err)
	}
	g, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Group])
	return g, absentOr(err, "group")
}

// CreateGroup makes a group; a taken identifier is a Conflict. actor, an e-mail address, is recorded.
func (s *Store) CreateGroup(ctx context.Context, actor string, settings GroupSettings) (Group, error) {
	wrong := settings.check()
	if settings.ID == nil {
		made := uuid.NewString()
		settings.ID = &made
	}
	checkIdentifier(wrong, "id", *settings.ID)
	if settings.Name == nil {
		wrong.Add("name", "is required")
	}
	if err := wrong.Err(); err != nil {
		return Group{}, err
	}
	g := Group{ID: *settings.ID}
	settings.apply(&g)
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `
			INSERT INTO capability_groups (id, name, sort_order) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
			RETURNING updated_at`,
			g.ID, g.Name, g.SortOrder).Scan(&g.UpdatedAt)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return taken(g.ID)
		case err != nil:
			return fmt.Errorf("insert group: %w", err)
		}
		entry := groupEntry(actor, "group.create", g)
		entry.Changes = audit.Changes{{Field: "name", To: g.Name}, {Field: "sortOrder", To: g.SortOrder}}
		return audit.Append(ctx, tx, entry)
	})
	return g, err
}

// UpdateGroup edits a group; its identifier cannot change. actor is recorded. seen, if given, is the
// precondition; when it does not hold the group as it is comes with the Changed fault.
func (s *Store) UpdateGroup(ctx context.Context, actor, id string, settings GroupSettings, seen ...time.Time) (g Group, err error) {
	wrong := settings.check()
	checkImmutable(wrong, settings.ID, id)
	if err := wrong.Err(); err != nil {
		return Group{}, err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		before, err := getGroup(ctx, tx, id, `FOR NO KEY UPDATE`)
		if err != nil {
			return err
		}
		g = before
		if err := fault.Unchanged(g.UpdatedAt, seen...); err != nil {
			return err
		}
		settings.apply(&g)
		var changes audit.Changes
		changes.Add("name", before.Name, g.Name)
		changes.Add("sortOrder", before.SortOrder, g.SortOrder)
		if len(changes) == 0 {
			return nil
		}
		err = tx.QueryRow(ctx, `
			UPDATE capability_groups SET name = $2, sort_order = $3, updated_at = clock_timestamp() WHERE id = $1
			RETURNING updated_at`,
			g.ID, g.Name, g.SortOrder).Scan(&g.UpdatedAt)
		if err != nil {
			return fmt.Errorf("update group: %w", err)
		}
		entry := groupEntry(actor, "group.update", g)
		entry.Changes = changes
		return audit.Append(ctx, tx, entry)
	})
	return g, err
}

func (s GroupSettings) apply(g *Group) {
	set(&g.Name, s.Name)
	set(&g.SortOrder, s.SortOrder)
}

func groupEntry(actor, action string, g Group) audit.Entry {
	return audit.Entry{Actor: actor, Action: action, TargetType: "group", TargetID: g.ID, TargetName: g.Name}
}

func taken(id string) error {
	return fault.New(fault.Conflict, "the identifier %q is taken", id)
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

func trim(text *string) {
	if text != nil {
		*text = strings.TrimSpace(*text)
	}
}
