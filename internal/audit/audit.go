// Package audit keeps who did what: sign-ins and edits of administrators, and what owners do with their
// applications and Access Keys. An
// entry is written inside the transaction of the deed it tells of: an unrecorded deed does not
// happen, and a deed undone leaves no entry.
package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
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

// Filter says which entries are asked for; the zero value is all. Actor, Action and Target are the beginnings of what
// they name, Target that of an id or, whatever the case, of a name.
type Filter struct {
	Actor, Action, Target string
	From, To              *time.Time // To itself excluded
}

// conditions are of the filter's arguments, which are $1 to $5.
const conditions = `
	WHERE ($1 = '' OR actor LIKE $1) AND ($2 = '' OR action LIKE $2)
	  AND ($3 = '' OR target_id LIKE $3 OR lower(target_name) LIKE lower($3))
	  AND ($4::timestamptz IS NULL OR at >= $4) AND ($5::timestamptz IS NULL OR at < $5)`

// arguments are made into a plan of their own each time: so PostgreSQL drops what is not asked for, and finds the index.
func (f Filter) arguments(more ...any) []any {
	return append([]any{pgx.QueryExecModeExec, beginning(f.Actor), beginning(f.Action), beginning(f.Target), f.From, f.To}, more...)
}

// beginning is the pattern of texts that begin with one; empty for all.
func beginning(text string) string {
	if text == "" {
		return ""
	}
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}

const columns = `SELECT id, at, actor, action, target_type, target_id, target_name, changes FROM audit_log`

func scan(row pgx.CollectableRow) (r Row, err error) {
	err = row.Scan(&r.ID, &r.At, &r.Actor, &r.Action, &r.TargetType, &r.TargetID, &r.TargetName, &r.Changes)
	return r, err
}

// List gives one page of the entries that f asks for, newest first, and how many there are. page counts from 1.
func List(ctx context.Context, pool *pgxpool.Pool, f Filter, page, size int) ([]Row, int, error) {
	var total int
	if err := pool.QueryRow(ctx, `SELECT count(*) FROM audit_log`+conditions, f.arguments()...).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count audit entries: %w", err)
	}
	rows, err := pool.Query(ctx, columns+conditions+` ORDER BY id DESC LIMIT $6 OFFSET $7`, f.arguments(size, int64(page-1)*int64(size))...)
	if err != nil {
		return nil, 0, fmt.Errorf("list audit entries: %w", err)
	}
	entries, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, 0, fmt.Errorf("list audit entries: %w", err)
	}
	return entries, total, nil
}

// Before gives the newest most entries that f asks for of those with a lesser id than before, newest first: the next
// block of a walk through all of them, which holds no connection between its blocks.
func Before(ctx context.Context, pool *pgxpool.Pool, f Filter, before int64, most int) ([]Row, error) {
	rows, err := pool.Query(ctx, columns+conditions+` AND id < $6 ORDER BY id DESC LIMIT $7`, f.arguments(before, most)...)
	if err != nil {
		return nil, fmt.Errorf("walk audit entries: %w", err)
	}
	entries, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("walk audit entries: %w", err)
	}
	return entries, nil
}
