package limits

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

// Ceiling is the most that owners may allow their applications, as an administrator has set it.
type Ceiling struct {
	ID              uuid.UUID
	Scope           Scope
	OwnerID         *uuid.UUID // nil: for all; of an application its owner
	OwnerEmail      *string
	ApplicationID   *uuid.UUID // nil but for ForApplication
	ApplicationName *string
	Limits          Limits
	UpdatedBy       string // e-mail address
	UpdatedAt       time.Time
}

// Draft is a ceiling as an administrator enters it.
type Draft struct {
	Scope       Scope
	Owner       string // ForOwner: e-mail address or id of an account
	Application string // ForApplication: its id
	Limits      Edit   // nil, or not named: no ceiling of this scope
}

// maxTarget bounds what names an account, in characters: e-mail addresses have at most 254.
const maxTarget = 254

// check gives the draft's limits, and trims what names the target.
func (d *Draft) check() (Limits, error) {
	wrong := fault.Fields{}
	d.Owner, d.Application = strings.TrimSpace(d.Owner), strings.TrimSpace(d.Application)
	switch d.Scope {
	case ForAll:
	case ForOwner:
		wrong.Text("owner", d.Owner, 1, maxTarget)
	case ForApplication:
		wrong.Text("application", d.Application, 1, maxTarget)
	default:
		wrong.Add("scope", "must be all, owner or application")
	}
	d.Limits.check(wrong)
	return d.Limits.of(Limits{}), wrong.Err()
}

const selectCeilings = `
	FROM limit_ceilings c
	LEFT JOIN applications a ON a.id = c.application_id
	LEFT JOIN users u ON u.id = coalesce(c.owner_id, a.owner_id) `

func queryCeilings(ctx context.Context, db querier, condition string, args ...any) ([]Ceiling, error) {
	rows, err := db.Query(ctx, `SELECT c.id, c.scope, u.id, u.email, a.id, a.name, `+columnsOf("c")+`, c.updated_by, c.updated_at`+
		selectCeilings+condition, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Ceiling, err error) {
		var columns []int64
		if err = row.Scan(&c.ID, &c.Scope, &c.OwnerID, &c.OwnerEmail, &c.ApplicationID, &c.ApplicationName, &columns, &c.UpdatedBy, &c.UpdatedAt); err == nil {
			c.Limits = limitsOf(columns)
		}
		return c, err
	})
}

// Ceilings gives one page of the ceilings of a scope, of all scopes for "", and how many there are: that for all,
// then owners' by address, then applications' by name. contained, if any, is part of the owner's address or the
// application's name, whatever its case, or the id that the ceiling is for. page counts from 1; one past the end is empty. Faults: Invalid.
func (s *Store) Ceilings(ctx context.Context, scope Scope, contained string, page, size int) ([]Ceiling, int, error) {
	if scope != "" && scope != ForAll && scope != ForOwner && scope != ForApplication {
		return nil, 0, fault.InvalidFields(map[string]string{"scope": "must be all, owner or application"})
	}
	const wanted = `WHERE ($1 = '' OR c.scope = $1) AND num_nonnulls(c.requests_per_minute, c.tokens_per_minute, c.concurrency, c.calls_per_day, c.tokens_per_day) > 0
		AND ($2 = '' OR strpos(lower(u.email), $2) > 0 OR strpos(lower(a.name), $2) > 0 OR c.owner_id::text = $2 OR c.application_id::text = $2)`
	contained = strings.ToLower(contained)
	var total int
	if err := s.pool.QueryRow(ctx, `SELECT count(*) `+selectCeilings+wanted, scope, contained).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count ceilings: %w", err)
	}
	found, err := queryCeilings(ctx, s.pool, wanted+`
		ORDER BY array_position(ARRAY['all', 'owner', 'application'], c.scope), CASE c.scope WHEN 'owner' THEN u.email ELSE lower(a.name) END, c.id
		LIMIT $3 OFFSET $4`, scope, contained, size, int64(page-1)*int64(size))
	if err != nil {
		return nil, 0, fmt.Errorf("list ceilings: %w", err)
	}
	return found, total, nil
}

// PutCeiling sets the ceiling for all, for an owner or for an application in place of the one there was; actor, an
// e-mail address, is recorded. One without a limit is listed no more. seen, if given, is the precondition of what
// is replaced: when it does not hold the ceiling as it is comes with the Changed fault, and when there is none the
// fault is NotFound. An unknown account or application is Invalid.
func (s *Store) PutCeiling(ctx context.Context, actor string, draft Draft, seen ...time.Time) (c Ceiling, err error) {
	limits, err := draft.check()
	if err != nil {
		return Ceiling{}, err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if c, err = targetOf(ctx, tx, draft); err != nil {
			return err
		}
		// After the target, as whoever deletes that takes them: ceilings are edited one after another.
		if _, err := tx.Exec(ctx, `SELECT FROM limits_version FOR NO KEY UPDATE`); err != nil {
			return fmt.Errorf("lock ceilings: %w", err)
		}
		if err := c.read(ctx, tx, seen); err != nil {
			return err
		}
		return c.replace(ctx, tx, actor, limits)
	})
	return c, err
}

// read takes what is kept of the ceiling, if anything, and holds the precondition against it.
func (c *Ceiling) read(ctx context.Context, tx pgx.Tx, seen []time.Time) error {
	kept, err := queryCeilings(ctx, tx, `WHERE c.scope = $1 AND c.owner_id IS NOT DISTINCT FROM $2 AND c.application_id IS NOT DISTINCT FROM $3`,
		c.Scope, c.column(ForOwner, c.OwnerID), c.column(ForApplication, c.ApplicationID))
	switch {
	case err != nil:
		return fmt.Errorf("read ceiling: %w", err)
	case len(kept) > 0:
		*c = kept[0]
		return fault.Unchanged(c.UpdatedAt, seen...)
	case len(seen) > 0:
		return fault.New(fault.NotFound, "the ceiling that was read is not there any more")
	}
	return nil
}

// column is an id where it is a ceiling's own of the scope.
func (c *Ceiling) column(of Scope, id *uuid.UUID) *uuid.UUID {
	if c.Scope != of {
		return nil
	}
	return id
}

// targetOf is the ceiling of a draft before anything is known of it. The account or application is kept from being
// deleted meanwhile.
func targetOf(ctx context.Context, tx pgx.Tx, d Draft) (c Ceiling, err error) {
	c.Scope = d.Scope
	switch d.Scope {
	case ForOwner:
		id, _ := uuid.Parse(d.Owner) // an address is no id, and the nil id nobody's
		err = tx.QueryRow(ctx, `SELECT id, email FROM users WHERE email = lower($1) OR id = $2 FOR KEY SHARE`, d.Owner, id).Scan(&c.OwnerID, &c.OwnerEmail)
		if errors.Is(err, pgx.ErrNoRows) {
			return c, fault.InvalidFields(map[string]string{"owner": "no account has this e-mail address or id"})
		}
	case ForApplication:
		id, _ := uuid.Parse(d.Application)
		err = tx.QueryRow(ctx, `
			SELECT a.id, a.name, u.id, u.email FROM applications a JOIN users u ON u.id = a.owner_id
			WHERE a.id = $1 FOR KEY SHARE OF a`, id).Scan(&c.ApplicationID, &c.ApplicationName, &c.OwnerID, &c.OwnerEmail)
		if errors.Is(err, pgx.ErrNoRows) {
			return c, fault.InvalidFields(map[string]string{"application": "no application has this id"})
		}
	}
	if err != nil {
		return c, fmt.Errorf("target of a ceiling: %w", err)
	}
	return c, nil
}

// replace writes limits in place of the ceiling's; the same again changes nothing but for the first time.
func (c *Ceiling) replace(ctx context.Context, tx pgx.Tx, actor string, limits Limits) error {
	changed := changesOf(c.Limits, limits)
	if len(changed) == 0 && c.ID != uuid.Nil {
		return nil
	}
	if c.ID == uuid.Nil {
		c.ID = uuid.New()
	}
	c.Limits, c.UpdatedBy = limits, actor
	err := tx.QueryRow(ctx, `
		INSERT INTO limit_ceilings (id, scope, owner_id, application_id, updated_by, requests_per_minute, tokens_per_minute, concurrency, calls_per_day, tokens_per_day)
		VALUES ($1, $2, $3, $4, $5, nullif($6::bigint, 0), nullif($7::bigint, 0), nullif($8::bigint, 0), nullif($9::bigint, 0), nullif($10::bigint, 0))
		ON CONFLICT (id) DO UPDATE SET updated_by = excluded.updated_by, updated_at = clock_timestamp(),
			requests_per_minute = excluded.requests_per_minute, tokens_per_minute = excluded.tokens_per_minute,
			concurrency = excluded.concurrency, calls_per_day = excluded.calls_per_day, tokens_per_day = excluded.tokens_per_day
		RETURNING updated_at`,
		c.ID, c.Scope, c.column(ForOwner, c.OwnerID), c.column(ForApplication, c.ApplicationID), actor,
		limits.RequestsPerMinute, limits.TokensPerMinute, limits.Concurrency, limits.CallsPerDay, limits.TokensPerDay).Scan(&c.UpdatedAt)
	if err != nil {
		return fmt.Errorf("write ceiling: %w", err)
	}
	if len(changed) == 0 {
		return nil
	}
	entry := c.entry(actor)
	entry.Changes = changed
	return audit.Append(ctx, tx, entry)
}

// entry names a ceiling by whom it is for.
func (c *Ceiling) entry(actor string) audit.Entry {
	entry := audit.Entry{Actor: actor, Action: "ceiling.update", TargetType: "ceiling", TargetID: string(c.Scope)}
	switch c.Scope {
	case ForOwner:
		entry.TargetID, entry.TargetName = c.OwnerID.String(), *c.OwnerEmail
	case ForApplication:
		entry.TargetID, entry.TargetName = c.ApplicationID.String(), *c.ApplicationName
	}
	return entry
}
