// Package application keeps applications, their Access Keys and their bindings to capabilities.
// The hard decision is where ownership is checked: inside every statement, so that
// no path can forget it, and somebody else's application cannot be told from an absent one. Whatever
// changes an application locks its row first: edits of one application happen one after another, and
// the versions that internal/access compares grow in commit order.
package application

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/fault"
	"callgate/internal/secret"
)

// The states of an application.
const (
	Active   = "active"
	Disabled = "disabled"
)

// Store keeps applications in PostgreSQL.
type Store struct {
	pool   *pgxpool.Pool
	ring   *secret.Keyring
	pepper secret.Pepper
	moved  func(context.Context, Moved) // nil: nobody is told

	MaxPerOwner int // applications one account may have; 0: any number. Set before use.
}

// New returns a store that seals Access Keys with ring and looks them up under pepper.
func New(pool *pgxpool.Pool, ring *secret.Keyring, pepper secret.Pepper) *Store {
	return &Store{pool: pool, ring: ring, pepper: pepper}
}

// Application is an application without its Access Key.
type Application struct {
	ID              uuid.UUID
	Name            string
	Description     string
	Status          string   // Active, or Disabled by its owner or an administrator
	CapabilityIDs   []string // sorted, never nil; disabled capabilities included
	MaskedAccessKey string
	Disabling       *Disabling // nil: no administrator has disabled it
	OwnerStatus     string     // Active or Disabled, as its owner wants it; it is Status where Disabling is nil
	CreatedAt       time.Time
	UpdatedAt       time.Time
}

// Disabling is that an administrator has disabled an application. Only an administrator can take it back.
type Disabling struct {
	Reason string // 1 to 500 characters, for its owner to read
	By     string // e-mail address of the administrator who gave the reason; not for its owner
	At     time.Time
}

// Brief is what a list of statistics needs of an application.
type Brief struct {
	ID              uuid.UUID
	Name            string
	Status          string
	MaskedAccessKey string
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

const selectApplication = `
	SELECT a.id, a.name, a.description, a.status, k.mask, a.created_at, a.updated_at, ` + disablingColumns + `,
	       ARRAY(SELECT b.capability_id FROM application_capabilities b
	             WHERE b.application_id = a.id ORDER BY b.capability_id)
	FROM applications a JOIN access_keys k ON k.application_id = a.id
	WHERE a.owner_id = $1`

func scanApplication(row pgx.CollectableRow) (a Application, err error) {
	var by disabling
	err = row.Scan(append(append([]any{&a.ID, &a.Name, &a.Description, &a.Status, &a.MaskedAccessKey, &a.CreatedAt, &a.UpdatedAt},
		by.into(&a.OwnerStatus)...), &a.CapabilityIDs)...)
	a.Disabling = by.told()
	return a, err
}

// List gives one page of the owner's applications, newest first, and how many there are. page counts
// from 1; one past the end is empty.
func (s *Store) List(ctx context.Context, owner uuid.UUID, page, size int) ([]Application, int, error) {
	var total int
	err := s.pool.QueryRow(ctx, `SELECT count(*) FROM applications WHERE owner_id = $1`, owner).Scan(&total)
	if err != nil {
		return nil, 0, fmt.Errorf("count applications: %w", err)
	}
	rows, err := s.pool.Query(ctx, selectApplication+`
		ORDER BY a.created_at DESC, a.id DESC LIMIT $2 OFFSET $3`, owner, size, int64(page-1)*int64(size))
	if err != nil {
		return nil, 0, fmt.Errorf("list applications: %w", err)
	}
	list, err := pgx.CollectRows(rows, scanApplication)
	if err != nil {
		return nil, 0, fmt.Errorf("list applications: %w", err)
	}
	return list, total, nil
}

// All gives every application of the owner, newest first, in the order of List.
func (s *Store) All(ctx context.Context, owner uuid.UUID) ([]Brief, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT a.id, a.name, a.status, k.mask
		FROM applications a JOIN access_keys k ON k.application_id = a.id
		WHERE a.owner_id = $1 ORDER BY a.created_at DESC, a.id DESC`, owner)
	if err != nil {
		return nil, fmt.Errorf("all applications: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Brief])
	if err != nil {
		return nil, fmt.Errorf("all applications: %w", err)
	}
	return all, nil
}

// Some gives those of the owner's applications that ids names, in that order; others are left out.
func (s *Store) Some(ctx context.Context, owner uuid.UUID, ids []uuid.UUID) ([]Application, error) {
	rows, err := s.pool.Query(ctx, selectApplication+` AND a.id = ANY($2) ORDER BY array_position($2, a.id)`, owner, ids)
	if err != nil {
		return nil, fmt.Errorf("some applications: %w", err)
	}
	some, err := pgx.CollectRows(rows, scanApplication)
	if err != nil {
		return nil, fmt.Errorf("some applications: %w", err)
	}
	return some, nil
}

// Get gives one application; somebody else's is fault.Absent.
func (s *Store) Get(ctx context.Context, owner, id uuid.UUID) (Application, error) {
	return get(ctx, s.pool, owner, id)
}

func get(ctx context.Context, db querier, owner, id uuid.UUID) (Application, error) {
	rows, err := db.Query(ctx, selectApplication+` AND a.id = $2`, owner, id)
	if err != nil {
		return Application{}, fmt.Errorf("get application: %w", err)
	}
	a, err := pgx.CollectExactlyOneRow(rows, scanApplication)
	return a, absentOr(err, "get application")
}

// locked is an application whose row the transaction holds, so that edits of one application queue up.
type locked struct {
	name, status string
	ownerStatus  string
	disabling    *Disabling
	updatedAt    time.Time
}

func lock(ctx context.Context, tx pgx.Tx, owner, id uuid.UUID) (l locked, err error) {
	return lockWhere(ctx, tx, `a.owner_id = $1 AND a.id = $2`, owner, id)
}

func lockWhere(ctx context.Context, tx pgx.Tx, condition string, arguments ...any) (l locked, err error) {
	var by disabling
	err = tx.QueryRow(ctx, `
		SELECT a.name, a.status, a.updated_at, `+disablingColumns+` FROM applications a WHERE `+condition+` FOR UPDATE`,
		arguments...).Scan(append([]any{&l.name, &l.status, &l.updatedAt}, by.into(&l.ownerStatus)...)...)
	l.disabling = by.told()
	return l, absentOr(err, "lock application")
}

func absentOr(err error, doing string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return fault.Absent()
	}
	return fmt.Errorf("%s: %w", doing, err)
}
