package application

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
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
