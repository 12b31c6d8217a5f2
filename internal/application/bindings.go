package application

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/fault"
)

const (
	maxBindings = 500 // capabilities of one application
	maxTold     = 5   // ids repeated in an error message
)

// Binding is an application of the owner and whether a certain capability is bound to it.
type Binding struct {
	ID     uuid.UUID
	Name   string
	Bound  bool
	Status string
}

// BoundTo gives all applications of the owner, newest first, each with whether the capability is
// bound to it; an unknown capability is fault.Absent.
func (s *Store) BoundTo(ctx context.Context, owner uuid.UUID, capabilityID string) ([]Binding, error) {
	if _, err := capabilityStatus(ctx, s.pool, capabilityID); err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, `
		SELECT a.id, a.name, EXISTS (SELECT FROM application_capabilities b
			WHERE b.application_id = a.id AND b.capability_id = $2), a.status
		FROM applications a WHERE a.owner_id = $1 ORDER BY a.created_at DESC, a.id DESC`, owner, capabilityID)
	if err != nil {
		return nil, fmt.Errorf("applications of a capability: %w", err)
	}
	bindings, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Binding])
	if err != nil {
		return nil, fmt.Errorf("applications of a capability: %w", err)
	}
	return bindings, nil
}

// BoundCounts gives of how many applications of the owner each capability is; those of none are left out.
func (s *Store) BoundCounts(ctx context.Context, owner uuid.UUID) (map[string]int64, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT b.capability_id, count(*) FROM applications a JOIN application_capabilities b ON b.application_id = a.id
		WHERE a.owner_id = $1 GROUP BY b.capability_id`, owner)
	if err != nil {
		return nil, fmt.Errorf("count bindings: %w", err)
	}
	counts := map[string]int64{}
	var id string
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&id, &n}, func() error { counts[id] = n; return nil }); err != nil {
		return nil, fmt.Errorf("count bindings: %w", err)
	}
	return counts, nil
}

// Bind adds a capability to an application; adding it again changes nothing. An
// unknown capability is fault.Absent, a disabled one is refused unless it is bound already. seen is as
// in edit.
func (s *Store) Bind(ctx context.Context, owner, id uuid.UUID, capabilityID string, seen ...time.Time) (Application, error) {
	return s.edit(ctx, owner, id, "application.bind", seen, func(tx pgx.Tx, _ locked) error {
		status, err := capabilityStatus(ctx, tx, capabilityID)
		if err != nil {
			return err
		}
		bound, err := boundIDs(ctx, tx, id)
		if err != nil {
			return err
		}
		if slices.Contains(bound, capabilityID) {
			return nil
		}
		return addBinding(ctx, tx, id, capabilityID, status, len(bound))
	})
}

func addBinding(ctx context.Context, tx pgx.Tx, id uuid.UUID, capabilityID, status string, bound int) error {
	wrong := fault.Fields{}
	if status != enabled {
		wrong.Add("capabilityId", "this capability is disabled")
	}
	if bound >= maxBindings {
		wrong.Add("capabilityId", "the application has %d capabilities already", maxBindings)
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	if err := insertBindings(ctx, tx, id, []string{capabilityID}); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `UPDATE applications SET updated_at = clock_timestamp() WHERE id = $1`, id)
	if err != nil {
		return fmt.Errorf("bind capability: %w", err)
	}
	return nil
}

// enabled is the state of a capability that may be bound; the table belongs to internal/catalog.
const enabled = "enabled"

func capabilityStatus(ctx context.Context, db querier, id string) (status string, err error) {
	if !fault.Storable(id) {
		return "", fault.Absent()
	}
	err = db.QueryRow(ctx, `SELECT status FROM capabilities WHERE id = $1`, id).Scan(&status)
	return status, absentOr(err, "capability status")
}

// rebind makes wanted, sorted and without duplicates, the complete set of bindings. The caller holds
// the application's row.
func rebind(ctx context.Context, tx pgx.Tx, id uuid.UUID, wanted []string) error {
	bound, err := boundIDs(ctx, tx, id)
	if err != nil {
		return err
	}
	added := slices.DeleteFunc(slices.Clone(wanted), func(c string) bool { return slices.Contains(bound, c) })
	if err := checkBindable(ctx, tx, added); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		DELETE FROM application_capabilities WHERE application_id = $1 AND capability_id <> ALL ($2)`, id, wanted)
	if err != nil {
		return fmt.Errorf("unbind capabilities: %w", err)
	}
	return insertBindings(ctx, tx, id, added)
}

func insertBindings(ctx context.Context, tx pgx.Tx, id uuid.UUID, capabilityIDs []string) error {
	if len(capabilityIDs) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO application_capabilities (application_id, capability_id) SELECT $1, unnest($2::text[])`,
		id, capabilityIDs)
	if err != nil {
		return fmt.Errorf("bind capabilities: %w", err)
	}
	return nil
}

func boundIDs(ctx context.Context, tx pgx.Tx, id uuid.UUID) ([]string, error) {
	rows, err := tx.Query(ctx, `SELECT capability_id FROM application_capabilities WHERE application_id = $1`, id)
	if err != nil {
		return nil, fmt.Errorf("read bindings: %w", err)
	}
	bound, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read bindings: %w", err)
	}
	return bound, nil
}

// checkBindable refuses capabilities that do not exist or are disabled.
func checkBindable(ctx context.Context, tx pgx.Tx, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, `SELECT id, status FROM capabilities WHERE id = ANY ($1)`,
		slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !fault.Storable(id) }))
	if err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	found := map[string]string{}
	var id, status string
	if _, err := pgx.ForEachRow(rows, []any{&id, &status}, func() error { found[id] = status; return nil }); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	var unknown, disabled []string
	for _, id := range ids {
		if status, ok := found[id]; !ok {
			unknown = append(unknown, id)
		} else if status != enabled {
			disabled = append(disabled, id)
		}
	}
	wrong := fault.Fields{}
	if len(unknown) > 0 {
		wrong.Add("capabilityIds", "no such capability: %s", told(unknown))
	}
	if len(disabled) > 0 {
		wrong.Add("capabilityIds", "disabled: %s", told(disabled))
	}
	return wrong.Err()
}

// foldIDs gives ids sorted, each once, never nil.
func foldIDs(ids []string) []string {
	folded := slices.Clone(ids)
	slices.Sort(folded)
	folded = slices.Compact(folded)
	if folded == nil {
		return []string{}
	}
	return folded
}

func told(ids []string) string {
	quoted := make([]string, 0, maxTold+1)
	for _, id := range ids[:min(len(ids), maxTold)] {
		if len(id) > 64 {
			id = strings.ToValidUTF8(id[:64], "") + "…"
		}
		quoted = append(quoted, fmt.Sprintf("%q", id))
	}
	if more := len(ids) - maxTold; more > 0 {
		quoted = append(quoted, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(quoted, ", ")
}
