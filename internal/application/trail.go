package application

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
)

// note records what differs between before and after, if anything does, as done by the owner.
func note(ctx context.Context, tx pgx.Tx, owner uuid.UUID, action string, before, after Application) error {
	var changes audit.Changes
	add := func(field, from, to string) {
		if before.ID == uuid.Nil && to != "" {
			changes = append(changes, audit.Change{Field: field, To: to})
		} else if before.ID != uuid.Nil {
			changes.Add(field, from, to)
		}
	}
	add("name", before.Name, after.Name)
	add("description", before.Description, after.Description)
	add("status", before.OwnerStatus, after.OwnerStatus)
	if !slices.Equal(before.CapabilityIDs, after.CapabilityIDs) {
		change := audit.Change{Field: "capabilityIds", To: after.CapabilityIDs}
		if before.ID != uuid.Nil {
			change.From = before.CapabilityIDs
		}
		changes = append(changes, change)
	}
	if len(changes) == 0 {
		return nil
	}
	return noteAs(ctx, tx, owner, action, after, changes)
}

func noteAs(ctx context.Context, tx pgx.Tx, owner uuid.UUID, action string, a Application, changes audit.Changes) error {
	var actor string
	if err := tx.QueryRow(ctx, `SELECT email FROM users WHERE id = $1`, owner).Scan(&actor); err != nil {
		return fmt.Errorf("owner of an application: %w", err)
	}
	entry := keyEntry(actor, action, a.ID, a.Name)
	entry.Changes = changes
	return audit.Append(ctx, tx, entry)
}
