package application

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/fault"
)

// Bounds of an application's texts, in characters.
const (
	maxName        = 64
	maxDescription = 1024
)

// Draft is a new application; the name is required.
type Draft struct {
	Name          string
	Description   string
	CapabilityIDs []string
}

// Patch is an edit; a nil field stays as it is. CapabilityIDs is the complete set.
type Patch struct {
	Name          *string
	CapabilityIDs *[]string
	Description   *string
}

func (p *Patch) check() error {
	wrong := fault.Fields{}
	if p.Name != nil {
		*p.Name = strings.TrimSpace(*p.Name)
		wrong.Name("name", *p.Name, 1, maxName)
	}
	if p.Description != nil {
		wrong.Text("description", *p.Description, 0, maxDescription)
	}
	switch {
	case p.CapabilityIDs == nil:
	case len(*p.CapabilityIDs) > maxBindings:
		wrong.Add("capabilityIds", "must name at most %d capabilities", maxBindings)
	default:
		*p.CapabilityIDs = foldIDs(*p.CapabilityIDs)
	}
	return wrong.Err()
}

// Create makes an application with its Access Key, which is returned in full.
func (s *Store) Create(ctx context.Context, owner uuid.UUID, d Draft) (a Application, key string, err error) {
	p := Patch{Name: &d.Name, Description: &d.Description, CapabilityIDs: &d.CapabilityIDs}
	if err := p.check(); err != nil {
		return Application{}, "", err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return Application{}, "", fmt.Errorf("new application id: %w", err)
	}
	key = s.pepper.Mint()
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := s.room(ctx, tx, owner); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO applications (id, owner_id, name, description) VALUES ($1, $2, $3, $4)`,
			id, owner, d.Name, d.Description)
		if err != nil {
			return fmt.Errorf("insert application: %w", err)
		}
		if err := s.insertKey(ctx, tx, id, key); err != nil {
			return err
		}
		if err := rebind(ctx, tx, id, d.CapabilityIDs); err != nil {
			return err
		}
		if a, err = get(ctx, tx, owner, id); err != nil {
			return err
		}
		return note(ctx, tx, owner, "application.create", Application{}, a)
	})
	if err != nil {
		return Application{}, "", err
	}
	return a, key, nil
}

// room refuses one more application to an owner who has all there may be.
func (s *Store) room(ctx context.Context, tx pgx.Tx, owner uuid.UUID) error {
	n, full, err := s.full(ctx, tx, owner)
	if err == nil && full {
		err = fault.New(fault.Conflict, "the account has %d applications and may have no more; delete one that is not needed, or ask whoever runs this installation to raise the limit", n)
	}
	return err
}

// full tells whether an owner has all applications there may be, and how many. The owner's row is locked, so
// that two at once do not both take the last place.
func (s *Store) full(ctx context.Context, tx pgx.Tx, owner uuid.UUID) (n int, full bool, err error) {
	if s.MaxPerOwner <= 0 {
		return 0, false, nil
	}
	if _, err := tx.Exec(ctx, `SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE`, owner); err != nil {
		return 0, false, fmt.Errorf("lock owner: %w", err)
	}
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM applications WHERE owner_id = $1`, owner).Scan(&n); err != nil {
		return 0, false, fmt.Errorf("count applications: %w", err)
	}
	return n, n >= s.MaxPerOwner, nil
}

// edit changes an application whose row is locked and gives it as it is then. seen, if given, is the
// precondition; when it does not hold the application as it is comes with the Changed fault. What
// changed is in the audit trail under action.
func (s *Store) edit(ctx context.Context, owner, id uuid.UUID, action string, seen []time.Time, change func(pgx.Tx, locked) error) (a Application, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		held, err := lock(ctx, tx, owner, id)
		if err != nil {
			return err
		}
		before, err := get(ctx, tx, owner, id)
		if err != nil {
			return err
		}
		if refused := fault.Unchanged(held.updatedAt, seen...); refused != nil {
			a = before
			return refused
		}
		if err := change(tx, held); err != nil {
			return err
		}
		if a, err = get(ctx, tx, owner, id); err != nil {
			return err
		}
		return note(ctx, tx, owner, action, before, a)
	})
	return a, err
}

// Update edits an application; seen is as in edit.
func (s *Store) Update(ctx context.Context, owner, id uuid.UUID, p Patch, seen ...time.Time) (Application, error) {
	if err := p.check(); err != nil {
		return Application{}, err
	}
	return s.edit(ctx, owner, id, "application.update", seen, func(tx pgx.Tx, _ locked) error {
		if p.CapabilityIDs != nil {
			if err := rebind(ctx, tx, id, *p.CapabilityIDs); err != nil {
				return err
			}
		}
		if p != (Patch{}) {
			_, err := tx.Exec(ctx, `
				UPDATE applications
				SET name = coalesce($2, name), description = coalesce($3, description), updated_at = clock_timestamp()
				WHERE id = $1`, id, p.Name, p.Description)
			if err != nil {
				return fmt.Errorf("update application: %w", err)
			}
		}
		return nil
	})
}

// SetStatus switches an application on or off for its owner; setting the state it has changes nothing. seen is as in
// edit. While an administrator has disabled it, Active is a Conflict, and Disabled keeps it off when the administrator
// takes that back.
func (s *Store) SetStatus(ctx context.Context, owner, id uuid.UUID, status string, seen ...time.Time) (Application, error) {
	if status != Active && status != Disabled {
		return Application{}, fault.InvalidFields(map[string]string{"status": "must be active or disabled"})
	}
	return s.edit(ctx, owner, id, "application.set_status", seen, func(tx pgx.Tx, held locked) error {
		column := "status"
		if held.disabling != nil {
			if status == Active {
				return fault.New(fault.Conflict, "an administrator has disabled this application and only an administrator can enable it; the reason is: %s", held.disabling.Reason)
			}
			column = "owner_status"
		}
		if held.ownerStatus != status {
			_, err := tx.Exec(ctx, `UPDATE applications SET `+column+` = $2, updated_at = clock_timestamp() WHERE id = $1`, id, status)
			if err != nil {
				return fmt.Errorf("set application status: %w", err)
			}
		}
		return nil
	})
}

// Delete removes an application with its key and bindings. The id is never used again.
func (s *Store) Delete(ctx context.Context, owner, id uuid.UUID) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		gone := Application{ID: id}
		err := tx.QueryRow(ctx, `DELETE FROM applications WHERE owner_id = $1 AND id = $2 RETURNING name`, owner, id).Scan(&gone.Name)
		if err != nil {
			return absentOr(err, "delete application")
		}
		return noteAs(ctx, tx, owner, "application.delete", gone, nil)
	})
}
