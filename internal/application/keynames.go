package application

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// KeyNames gives what keys of an owner's applications are called, behind their applications' names, by their ids. What is no id of
// such a key is left out.
func (s *Store) KeyNames(ctx context.Context, owner uuid.UUID, keys []string) (map[string]string, error) {
	rows, err := s.pool.Query(ctx, `SELECT k.id::text, a.name, k.name FROM access_keys k JOIN applications a ON a.id = k.application_id
		WHERE a.owner_id = $1 AND k.id::text = ANY($2)`, owner, keys)
	if err != nil {
		return nil, fmt.Errorf("names of keys: %w", err)
	}
	names := map[string]string{}
	var id, application, name string
	_, err = pgx.ForEachRow(rows, []any{&id, &application, &name}, func() error {
		names[id] = application + " · " + name
		return nil
	})
	return names, err
}
