package application

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/fault"
)

// maxOwner bounds how an account is named, in characters: an e-mail address has no more.
const maxOwner = 254

// Move is to whom an administrator moves an application.
type Move struct {
	Owner  string // e-mail address or id of an account
	Reason string // empty, or up to 500 characters, for both owners to read
}

// Moved tells of a move that was saved.
type Moved struct {
	ID       uuid.UUID
	Name     string
	From, To string   // e-mail addresses of its owners
	Reason   string   // may be empty
	Alerts   []string // names of the alerts of the former owner, which ended
}

// OnMove has tell called after every move that was saved. It is set before the store is used.
func (s *Store) OnMove(tell func(context.Context, Moved)) { s.moved = tell }

func (m *Move) check() error {
	wrong := fault.Fields{}
	m.Owner, m.Reason = strings.TrimSpace(m.Owner), strings.TrimSpace(m.Reason)
	wrong.Text("owner", m.Owner, 1, maxOwner)
	if m.Reason != "" {
		wrong.Name("reason", m.Reason, 1, maxReason)
	}
	return wrong.Err()
}

// Move gives an application to another owner for an administrator. Its keys, bindings, limits and figures stay its own; the
// alerts of the former owner end, because they go to addresses of theirs. To the owner it has already it changes nothing.
// seen is as in edit. Faults: Invalid, NotFound, Conflict when the new owner has all applications there may be, Changed
// with the entry as it is.
func (s *Store) Move(ctx context.Context, administrator string, id uuid.UUID, m Move, seen ...time.Time) (e Entry, err error) {
	if err := m.check(); err != nil {
		return Entry{}, err
	}
	var done *Moved
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		held, err := lockWhere(ctx, tx, `a.id = $1`, id)
		if err != nil {
			return err
		}
		if e, err = entry(ctx, tx, id); err != nil {
			return err
		}
		if refused := fault.Unchanged(held.updatedAt, seen...); refused != nil {
			return refused
		}
		owner, email, err := findAccount(ctx, tx, m.Owner)
		if err != nil || owner == e.OwnerID {
			return err
		}
		if done, err = s.move(ctx, tx, administrator, e, owner, email, m.Reason); err != nil {
			return err
		}
		e, err = entry(ctx, tx, id)
		return err
	})
	if err == nil && done != nil && s.moved != nil {
		s.moved(ctx, *done)
	}
	return e, err
}

// Account gives the account with an e-mail address or id. Faults: Invalid, of the field owner.
func (s *Store) Account(ctx context.Context, named string) (owner uuid.UUID, err error) {
	owner, _, err = findAccount(ctx, s.pool, strings.TrimSpace(named))
	return owner, err
}

// findAccount finds an account by its address or id.
func findAccount(ctx context.Context, db querier, named string) (owner uuid.UUID, email string, err error) {
	id, _ := uuid.Parse(named) // an address is no id, and the nil id nobody's
	err = db.QueryRow(ctx, `SELECT id, email FROM users WHERE email = lower($1) OR id = $2`, named, id).Scan(&owner, &email)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		err = fault.InvalidFields(map[string]string{"owner": "no account has this e-mail address or id"})
	case err != nil:
		err = fmt.Errorf("account of an owner: %w", err)
	}
	return owner, email, err
}

// move moves an application that is held, and notes it.
func (s *Store) move(ctx context.Context, tx pgx.Tx, administrator string, e Entry, owner uuid.UUID, email, reason string) (*Moved, error) {
	n, full, err := s.full(ctx, tx, owner)
	if err != nil {
		return nil, err
	}
	if full {
		return nil, fault.New(fault.Conflict, "%s has %d applications and may have no more; one of them has to be deleted first, or the limit raised (MAX_APPLICATIONS_PER_ACCOUNT)", email, n)
	}
	rows, err := tx.Query(ctx, `SELECT name FROM alert_rules WHERE application_id = $1 AND owner_id = $2 ORDER BY lower(name), id`, e.ID, e.OwnerID)
	if err != nil {
		return nil, fmt.Errorf("alerts of the former owner: %w", err)
	}
	alerts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("alerts of the former owner: %w", err)
	}
	if _, err := tx.Exec(ctx, `UPDATE applications SET owner_id = $2, updated_at = clock_timestamp() WHERE id = $1`, e.ID, owner); err != nil {
		return nil, fmt.Errorf("move application: %w", err)
	}
	noted := keyEntry(administrator, "application.move", e.ID, e.Name)
	noted.Changes.Add("owner", e.Email, email)
	noted.Changes.Add("reason", nil, orNil(reason))
	if len(alerts) > 0 {
		noted.Changes.Add("alertsEnded", nil, alerts)
	}
	return &Moved{ID: e.ID, Name: e.Name, From: e.Email, To: email, Reason: reason, Alerts: alerts}, audit.Append(ctx, tx, noted)
}
