package pricing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/fault"
)

// Believed is a capability whose calls cost what its provider says that it charges, where it says so in dollars.
type Believed struct {
	CapabilityID, CreatedBy string
	CreatedAt               time.Time
}

// Believed gives all that there are, by their capabilities.
func (s *Store) Believed(ctx context.Context) ([]Believed, error) {
	found, err := believedIn(ctx, s.pool)
	if err != nil {
		return nil, fmt.Errorf("believed capabilities: %w", err)
	}
	return found, nil
}

func believedIn(ctx context.Context, db querier) ([]Believed, error) {
	rows, err := db.Query(ctx, `SELECT capability_id, created_by, created_at FROM believed_costs ORDER BY capability_id`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Believed])
}

// Believe sets whether the calls of a capability cost what their provider says, those of the past too: so do prices.
// actor, an e-mail address, is recorded where that changes something. Of a capability that there is not the fault is Invalid.
func (s *Store) Believe(ctx context.Context, actor, capability string, believed bool) error {
	return s.edit(ctx, func(tx pgx.Tx) error {
		var name string
		err := tx.QueryRow(ctx, `SELECT name FROM capabilities WHERE id = $1`, capability).Scan(&name)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return fault.InvalidFields(map[string]string{"capabilityId": "no such capability"})
		case err != nil:
			return fmt.Errorf("believe in a cost: %w", err)
		}
		change := audit.Change{Field: "costBelieved", From: "true", To: "false"}
		edit, args := `DELETE FROM believed_costs WHERE capability_id = $1`, []any{capability}
		if believed {
			change.From, change.To = change.To, change.From
			edit, args = `INSERT INTO believed_costs (capability_id, created_by) VALUES ($1, $2) ON CONFLICT DO NOTHING`, append(args, actor)
		}
		done, err := tx.Exec(ctx, edit, args...)
		if err != nil {
			return fmt.Errorf("believe in a cost: %w", err)
		}
		if done.RowsAffected() == 0 {
			return nil
		}
		return audit.Append(ctx, tx, audit.Entry{Actor: actor, Action: "capability.update", TargetType: "capability", TargetID: capability, TargetName: name,
			Changes: audit.Changes{change}})
	})
}
