package application

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/fault"
)

// Owners gives every user who owns an application, for work that goes through all accounts.
func (s *Store) Owners(ctx context.Context) ([]uuid.UUID, error) {
	rows, err := s.pool.Query(ctx, `SELECT DISTINCT owner_id FROM applications ORDER BY owner_id`)
	if err != nil {
		return nil, fmt.Errorf("owners of applications: %w", err)
	}
	owners, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("owners of applications: %w", err)
	}
	return owners, nil
}

// Owner gives the account with an e-mail address, for work on that account alone. Faults: NotFound.
func (s *Store) Owner(ctx context.Context, email string) (id uuid.UUID, err error) {
	err = s.pool.QueryRow(ctx, `SELECT id FROM users WHERE email = lower($1)`, email).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return id, fault.New(fault.NotFound, "no account has the e-mail address %q", email)
	}
	if err != nil {
		return id, fmt.Errorf("account of an e-mail address: %w", err)
	}
	return id, nil
}

// Owned is an application and whose it is.
type Owned struct {
	ID      uuid.UUID
	Name    string
	Status  string
	OwnerID uuid.UUID
	Email   string // of its owner
}

// Everyones gives all applications of all owners, newest first, for administrators alone; and the ids of deleted ones
// whose rows may not all be swept from the ledger yet. An application is in one of the two.
func (s *Store) Everyones(ctx context.Context) (all []Owned, deleted []uuid.UUID, err error) {
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT a.id, a.name, a.status, u.id, u.email
			FROM applications a JOIN users u ON u.id = a.owner_id ORDER BY a.created_at DESC, a.id DESC`)
		if err != nil {
			return err
		}
		if all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Owned]); err != nil {
			return err
		}
		if rows, err = tx.Query(ctx, `SELECT id FROM deleted_applications WHERE purged_at IS NULL`); err != nil {
			return err
		}
		deleted, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("applications of everyone: %w", err)
	}
	return all, deleted, nil
}
