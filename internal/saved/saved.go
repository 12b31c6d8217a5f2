// Package saved keeps the views that developers save: a page of the console with its query, under a name of their own.
package saved

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/fault"
)

const (
	mostViews = 100  // of an owner
	mostName  = 64   // characters
	mostQuery = 4096 // bytes
)

// Pages are those whose queries can be saved.
var Pages = []string{"calls", "explore"}

// View is a page with its query.
type View struct {
	ID        uuid.UUID
	Page      string
	Name      string
	Query     string // of the page's URL, without the question mark
	CreatedAt time.Time
}

// Draft is a view to be saved. Two of one page are not named alike, whatever their case.
type Draft struct{ Page, Name, Query string }

func (d *Draft) check() error {
	wrong := fault.Fields{}
	if !slices.Contains(Pages, d.Page) {
		wrong.Add("page", "must be one of %s", strings.Join(Pages, ", "))
	}
	d.Name = strings.TrimSpace(d.Name)
	wrong.Name("name", d.Name, 1, mostName)
	if _, err := url.ParseQuery(d.Query); err != nil || len(d.Query) > mostQuery || strings.HasPrefix(d.Query, "?") {
		wrong.Add("query", "must be the query of a URL, of at most %d bytes, without its question mark", mostQuery)
	}
	return wrong.Err()
}

// Store keeps views in PostgreSQL.
type Store struct{ pool *pgxpool.Pool }

// New returns a store on pool.
func New(pool *pgxpool.Pool) *Store { return &Store{pool} }

// Of gives an owner's views, those of a page together, by name.
func (s *Store) Of(ctx context.Context, owner uuid.UUID) ([]View, error) {
	rows, err := s.pool.Query(ctx, `SELECT id, page, name, query, created_at FROM saved_views WHERE owner_id = $1 ORDER BY page, lower(name)`, owner)
	if err != nil {
		return nil, fmt.Errorf("read saved views: %w", err)
	}
	views, err := pgx.CollectRows(rows, pgx.RowToStructByPos[View])
	if err != nil {
		return nil, fmt.Errorf("read saved views: %w", err)
	}
	return views, nil
}

// Save keeps a view. Faults: Invalid; Conflict where the name is taken or there are a hundred already.
func (s *Store) Save(ctx context.Context, owner uuid.UUID, d Draft) (v View, err error) {
	if err := d.check(); err != nil {
		return View{}, err
	}
	v = View{ID: uuid.Must(uuid.NewV7()), Page: d.Page, Name: d.Name, Query: d.Query}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('saved views of ' || $1, 0))`, owner.String()); err != nil {
			return fmt.Errorf("take turns: %w", err)
		}
		var held int
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM saved_views WHERE owner_id = $1`, owner).Scan(&held); err != nil {
			return fmt.Errorf("count saved views: %w", err)
		}
		if held >= mostViews {
			return fault.New(fault.Conflict, "there are %d saved views already: delete one that is not needed", mostViews)
		}
		err := tx.QueryRow(ctx, `
			INSERT INTO saved_views (id, owner_id, page, name, query) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT DO NOTHING RETURNING created_at`, v.ID, owner, v.Page, v.Name, v.Query).Scan(&v.CreatedAt)
		if errors.Is(err, pgx.ErrNoRows) {
			return fault.New(fault.Conflict, "a saved view of this page has this name already: choose another, or delete that one")
		}
		if err != nil {
			return fmt.Errorf("save a view: %w", err)
		}
		return nil
	})
	return v, err
}

// Delete removes a view. Faults: NotFound, of another owner's too.
func (s *Store) Delete(ctx context.Context, owner, id uuid.UUID) error {
	gone, err := s.pool.Exec(ctx, `DELETE FROM saved_views WHERE owner_id = $1 AND id = $2`, owner, id)
	if err != nil {
		return fmt.Errorf("delete a saved view: %w", err)
	}
	if gone.RowsAffected() == 0 {
		return fault.Absent()
	}
	return nil
}
