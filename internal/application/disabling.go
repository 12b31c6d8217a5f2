package application

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/fault"
)

// maxReason bounds why an administrator disables an application, in characters.
const maxReason = 500

// disablingColumns are what disabling reads of an application a.
const disablingColumns = `a.administrator_disabled_at, a.administrator_disabled_by, a.administrator_reason, coalesce(a.owner_status, a.status)`

// disabling is a Disabling as it is kept: all NULL, or none.
type disabling struct {
	at         *time.Time
	by, reason *string
}

// into are the places of disablingColumns.
func (d *disabling) into(ownerStatus *string) []any {
	return []any{&d.at, &d.by, &d.reason, ownerStatus}
}

func (d *disabling) told() *Disabling {
	if d.at == nil {
		return nil
	}
	return &Disabling{Reason: *d.reason, By: *d.by, At: *d.at}
}

// Judgement is what an administrator wants of an application. Reason is required to disable it, and of no account
// otherwise.
type Judgement struct {
	Status string // Active or Disabled
	Reason string // 1 to 500 characters
	// EndRunning ends the calls that run when it is disabled; without it they go on to their end.
	EndRunning bool
}

func (j *Judgement) check() error {
	wrong := fault.Fields{}
	switch j.Status {
	case Active:
	case Disabled:
		j.Reason = strings.TrimSpace(j.Reason)
		wrong.Name("reason", j.Reason, 1, maxReason)
	default:
		wrong.Add("status", "must be active or disabled")
	}
	return wrong.Err()
}

// Judge disables an application for an administrator, whatever its owner wants, or takes that back: then its status is
// what its owner wants. Another reason replaces the one before, and it stays disabled since then; what is so already
// changes nothing. seen is as in edit. Faults: Invalid, NotFound, Changed with the entry as it is.
func (s *Store) Judge(ctx context.Context, administrator string, id uuid.UUID, j Judgement, seen ...time.Time) (e Entry, err error) {
	if err := j.check(); err != nil {
		return Entry{}, err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		held, err := lockWhere(ctx, tx, `a.id = $1`, id)
		if err != nil {
			return err
		}
		if refused := fault.Unchanged(held.updatedAt, seen...); refused != nil {
			if e, err = entry(ctx, tx, id); err != nil {
				return err
			}
			return refused
		}
		if err := held.judge(ctx, tx, administrator, id, j); err != nil {
			return err
		}
		e, err = entry(ctx, tx, id)
		return err
	})
	return e, err
}

// judge does what is wanted of an application that is held, and notes it where something changes.
func (l locked) judge(ctx context.Context, tx pgx.Tx, administrator string, id uuid.UUID, j Judgement) error {
	before, after := "", ""
	if l.disabling != nil {
		before = l.disabling.Reason
	}
	change := `UPDATE applications SET status = owner_status, owner_status = NULL, administrator_disabled_at = NULL, administrator_disabled_by = NULL,
		administrator_reason = NULL, updated_at = clock_timestamp() WHERE id = $1`
	arguments := []any{id}
	status := l.ownerStatus
	if j.Status == Disabled {
		after, status = j.Reason, Disabled
		change = `UPDATE applications SET owner_status = $2, status = 'disabled', administrator_disabled_at = coalesce(administrator_disabled_at, clock_timestamp()),
			administrator_disabled_by = $3, administrator_reason = $4, updated_at = clock_timestamp() WHERE id = $1`
		arguments = []any{id, l.ownerStatus, administrator, j.Reason}
	}
	ends := j.EndRunning && j.Status == Disabled
	if before == after && !ends {
		return nil
	}
	if _, err := tx.Exec(ctx, change, arguments...); err != nil {
		return fmt.Errorf("set application status for an administrator: %w", err)
	}
	noted := keyEntry(administrator, "application.set_status", id, l.name)
	noted.Changes.Add("status", l.status, status)
	noted.Changes.Add("administratorReason", orNil(before), orNil(after))
	if ends {
		if _, err := tx.Exec(ctx, `INSERT INTO access_changes (application_id, version, ends_calls) SELECT id, version, true FROM applications WHERE id = $1`, id); err != nil {
			return fmt.Errorf("end the application's calls: %w", err)
		}
		noted.Changes.Add("endRunning", nil, true)
	}
	return audit.Append(ctx, tx, noted)
}

// orNil is a text, or nil for none.
func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}
