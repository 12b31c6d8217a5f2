package limits

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/fault"
)

// Edit changes limits by the names of the contract: nil removes one, and what is not named stays.
type Edit map[string]*int64

// check notes every limit that is not from 1 to Most.
func (e Edit) check(wrong fault.Fields) {
	for _, name := range limitNames {
		if limit := e[name]; limit != nil && (*limit < 1 || *limit > Most) {
			wrong.Add(name, "must be an integer from 1 to %d", Most)
		}
	}
}

// of gives limits with what the edit makes of them.
func (e Edit) of(limits Limits) Limits {
	for i, value := range limits.values() {
		switch limit, named := e[limitNames[i]]; {
		case !named:
		case limit == nil:
			*value = 0
		default:
			*value = *limit
		}
	}
	return limits
}

// above notes every limit of the edit that its ceiling does not allow.
func (e Edit) above(wrong fault.Fields, standing Standing) {
	for i, ceiling := range standing.Ceilings.values() {
		limit := e[limitNames[i]]
		if limit == nil || *ceiling == 0 || *limit <= *ceiling {
			continue
		}
		switch standing.scopes[i] {
		case ForApplication:
			wrong.Add(limitNames[i], "must be at most %d, the ceiling that an administrator has set for this application", *ceiling)
		case ForOwner:
			wrong.Add(limitNames[i], "must be at most %d, the ceiling that an administrator has set for your account", *ceiling)
		default:
			wrong.Add(limitNames[i], "must be at most %d, the ceiling that an administrator has set for all applications", *ceiling)
		}
	}
}

// Set changes the limits of the owner's application; the owner is in the audit trail. seen, if given, is the
// precondition: the application's updatedAt. Faults: Invalid with every wrong field, also for a limit above its
// ceiling; Changed; Absent for somebody else's application.
func (s *Store) Set(ctx context.Context, owner, application uuid.UUID, edit Edit, seen ...time.Time) error {
	wrong := fault.Fields{}
	if edit.check(wrong); wrong.Err() != nil {
		return wrong.Err()
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		entry := audit.Entry{Action: "application.set_limits", TargetType: "application", TargetID: application.String()}
		if err := lockApplication(ctx, tx, owner, application, &entry, seen); err != nil {
			return err
		}
		found, err := standings(ctx, tx, []uuid.UUID{application})
		if err != nil {
			return err
		}
		if edit.above(wrong, found[application]); wrong.Err() != nil {
			return wrong.Err()
		}
		before := found[application].Own
		after := edit.of(before)
		if after == before {
			return nil
		}
		if err := writeLimits(ctx, tx, application, after, entry.Actor); err != nil {
			return err
		}
		entry.Changes = changesOf(before, after)
		return audit.Append(ctx, tx, entry)
	})
}

// lockApplication holds the row of the owner's application, so that edits of it queue up, holds the precondition
// against it, and names owner and application in the entry.
func lockApplication(ctx context.Context, tx pgx.Tx, owner, application uuid.UUID, entry *audit.Entry, seen []time.Time) error {
	var updatedAt time.Time
	err := tx.QueryRow(ctx, `
		SELECT a.name, a.updated_at, u.email FROM applications a JOIN users u ON u.id = a.owner_id
		WHERE a.owner_id = $1 AND a.id = $2 FOR UPDATE OF a`, owner, application).Scan(&entry.TargetName, &updatedAt, &entry.Actor)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fault.Absent()
	case err != nil:
		return fmt.Errorf("lock application: %w", err)
	}
	return fault.Unchanged(updatedAt, seen...)
}

func writeLimits(ctx context.Context, tx pgx.Tx, application uuid.UUID, l Limits, actor string) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO application_limits (application_id, updated_by, requests_per_minute, tokens_per_minute, concurrency, calls_per_day, tokens_per_day)
		VALUES ($1, $2, nullif($3::bigint, 0), nullif($4::bigint, 0), nullif($5::bigint, 0), nullif($6::bigint, 0), nullif($7::bigint, 0))
		ON CONFLICT (application_id) DO UPDATE SET updated_by = excluded.updated_by, updated_at = clock_timestamp(),
			requests_per_minute = excluded.requests_per_minute, tokens_per_minute = excluded.tokens_per_minute,
			concurrency = excluded.concurrency, calls_per_day = excluded.calls_per_day, tokens_per_day = excluded.tokens_per_day`,
		application, actor, l.RequestsPerMinute, l.TokensPerMinute, l.Concurrency, l.CallsPerDay, l.TokensPerDay)
	if err != nil {
		return fmt.Errorf("write limits: %w", err)
	}
	return nil
}

// changes tells what differs, with nil for no limit.
func changesOf(before, after Limits) (changed audit.Changes) {
	told := func(limit int64) any {
		if limit == 0 {
			return nil
		}
		return limit
	}
	was, is := before.values(), after.values()
	for i, name := range limitNames {
		changed.Add(name, told(*was[i]), told(*is[i]))
	}
	return changed
}
