// Package audit keeps who did what: sign-ins and edits of administrators, and what owners do with their
// applications and Access Keys. An
// entry is written inside the transaction of the deed it tells of: an unrecorded deed does not
// happen, and a deed undone leaves no entry.
package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Secret stands for the value of a key in a change: that it changed is told, never what it is.
const Secret = "(changed)"

// Entry is one deed. It must never hold a key.
type Entry struct {
	Actor      string // e-mail address
	Action     string // noun.verb, e.g. capability.update
	TargetType string
	TargetID   string
	TargetName string
	Changes    Changes
}

// Change is one field before and after; From is nil for something new.
type Change struct {
	Field string `json:"field"`
	From  any    `json:"from"`
	To    any    `json:"to"`
}

// Changes are the fields that a deed changed.
type Changes []Change

// Add notes a field whose value differs; from and to must be comparable.
func (c *Changes) Add(field string, from, to any) {
	if from != to {
		*c = append(*c, Change{field, from, to})
	}
}

// Row is an entry as it was kept.
type Row struct {
	ID int64
	At time.Time
	Entry
}

// Append records e inside tx.
func Append(ctx context.Context, tx pgx.Tx, e Entry) error {
	if e.Changes == nil {
		e.Changes = Changes{}
	}
	changes, err := json.Marshal(e.Changes)
	if err != nil {
		return fmt.Errorf("audit %s: %w", e.Action, err)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO audit_log (actor, action, target_type, target_id, target_name, changes)
		VALUES ($1, $2, $3, $4, $5, $6)`,
		e.Actor, e.Action, e.TargetType, e.TargetID, e.TargetName, changes)
	if err != nil {
		return fmt.Errorf("audit %s: %w", e.Action, err)
	}
	return nil
}

// List gives one page of entries, newest first, and how many there are. page counts from 1.
func List(ctx context.Context, pool *pgxpool.Pool, page, size int) ([]Row, int, error) {
	var total int
	if err := pool.QueryRow(ctx, `SELECT count(*) FROM audit_log`).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count audit entries: %w", err)
	}
	rows, err := pool.Query(ctx, `
		SELECT id, at, actor, action, target_type, target_id, target_name, changes
		FROM audit_log ORDER BY id DESC LIMIT $1 OFFSET $2`, size, int64(page-1)*int64(size))
	if err != nil {
		return nil, 0, fmt.Errorf("list audit entries: %w", err)
	}
	entries, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Row, err error) {
		err = row.Scan(&r.ID, &r.At, &r.Actor, &r.Action, &r.TargetType, &r.TargetID, &r.TargetName, &r.Changes)
		return r, err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list audit entries: %w", err)
	}
	return entries, total, nil
}
