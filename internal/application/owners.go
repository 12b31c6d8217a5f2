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
