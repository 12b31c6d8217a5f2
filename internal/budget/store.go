package budget

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"

	"callgate/internal/audit"
	"callgate/internal/fault"
)

// Store keeps budgets in PostgreSQL.
type Store struct {
	pool *pgxpool.Pool
}

// New returns a store on pool.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

const selectBudgets = `
	SELECT b.id, b.scope, b.application_id, b.key_id, b.former_keys, coalesce(b.owner_id, a.owner_id), b.capability_id,
	       b.period, b.amount, b.currency, b.action, b.unknown, b.thresholds,
	       b.override_amount, b.override_until, b.override_reason, b.override_by, b.updated_by, b.updated_at,
	       coalesce(a.name, ''), coalesce(CASE WHEN k.first AND k.name = 'default' THEN '' ELSE k.name END, ''), coalesce(u.email, ''), coalesce(c.name, '')
	FROM budgets b
	LEFT JOIN applications a ON a.id = b.application_id
	LEFT JOIN application_keys k ON k.id = b.key_id
	LEFT JOIN users u ON u.id = coalesce(b.owner_id, a.owner_id)
	LEFT JOIN capabilities c ON c.id = b.capability_id `

const inOrder = ` ORDER BY array_position(ARRAY['owner', 'capability', 'application', 'key'], b.scope), lower(coalesce(a.name, c.name, u.email)), b.application_id,
	lower(k.name), b.key_id, array_position(ARRAY['day', 'week', 'month'], b.period)`

// query reads the budgets that a condition leaves. Of an application and a key the owner is in Owner, too.
func query(ctx context.Context, db querier, condition string, args ...any) ([]Budget, error) {
	rows, err := db.Query(ctx, selectBudgets+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("read budgets: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (b Budget, err error) {
		var application, key, owner *uuid.UUID
		var capability, reason, by *string
		var until *time.Time
		var override decimal.NullDecimal
		err = row.Scan(&b.ID, &b.Scope, &application, &key, &b.FormerKeys, &owner, &capability, &b.Period, &b.Amount, &b.Currency, &b.Action, &b.Unknown,
			&b.Thresholds, &override, &until, &reason, &by, &b.UpdatedBy, &b.UpdatedAt, &b.ApplicationName, &b.KeyName, &b.OwnerEmail, &b.CapabilityName)
		b.Application, b.Key, b.Owner, b.Capability = orZero(application), orZero(key), orZero(owner), orZero(capability)
		if until != nil {
			b.Override = &Override{Amount: override.Decimal, Until: *until, Reason: *reason, By: *by}
		}
		return b, err
	})
	if err != nil {
		return nil, fmt.Errorf("read budgets: %w", err)
	}
	return found, nil
}

func orZero[T any](p *T) (zero T) {
	if p == nil {
		return zero
	}
	return *p
}

// Of gives the budgets of an application, those of its keys too.
func (s *Store) Of(ctx context.Context, application uuid.UUID) ([]Budget, error) {
	return query(ctx, s.pool, `WHERE b.application_id = $1`+inOrder, application)
}

// OfApplications gives the budgets of applications, not those of their keys.
func (s *Store) OfApplications(ctx context.Context, applications []uuid.UUID) ([]Budget, error) {
	return query(ctx, s.pool, `WHERE b.application_id = ANY($1) AND b.key_id IS NULL`+inOrder, applications)
}

// Own gives the budgets of an owner's applications and their keys.
func (s *Store) Own(ctx context.Context, owner uuid.UUID) ([]Budget, error) {
	return query(ctx, s.pool, `WHERE a.owner_id = $1`+inOrder, owner)
}

// All gives every budget of a scope, of all scopes for "". contained, if any, is part of the name of an application, a key or a
// capability or of the owner's address, whatever its case. Faults: Invalid.
func (s *Store) All(ctx context.Context, scope Scope, contained string) ([]Budget, error) {
	switch scope {
	case "", ForApplication, ForKey, ForOwner, ForCapability:
	default:
		return nil, fault.InvalidFields(map[string]string{"scope": "must be application, key, owner or capability"})
	}
	return query(ctx, s.pool, `WHERE ($1 = '' OR b.scope = $1)
		AND ($2 = '' OR strpos(lower(concat_ws(' ', a.name, k.name, c.name, c.id, u.email)), $2) > 0)`+inOrder, scope, strings.ToLower(contained))
}

const ofSubject = `WHERE b.scope = $1 AND b.application_id IS NOT DISTINCT FROM $2 AND b.key_id IS NOT DISTINCT FROM $3
	AND b.owner_id IS NOT DISTINCT FROM $4 AND b.capability_id IS NOT DISTINCT FROM $5`

// OfSubject gives the budgets of one subject.
func (s *Store) OfSubject(ctx context.Context, of Subject) ([]Budget, error) {
	return query(ctx, s.pool, ofSubject+inOrder, of.columns()...)
}

// Held gives the budgets that hold for a caller, whatever they do, but for those of capabilities.
func (s *Store) Held(ctx context.Context, by Caller) ([]Budget, error) {
	return query(ctx, s.pool, `WHERE b.application_id = $1 AND (b.key_id IS NULL OR b.key_id = $2 OR $2 = ANY(b.former_keys)) OR b.owner_id = $3`+inOrder,
		by.Application, by.Key, by.Owner)
}

// Who asks: the owner of an application, or an administrator.
type Who struct {
	Owner uuid.UUID // uuid.Nil: an administrator
	Email string
}

// Replace sets all budgets of a subject in place of those there were: a budget goes on under its id where one of the same
// period was there. Of an application or one of its keys seen, if given, is the application's updatedAt, which this changes; of an
// owner or a capability the latest updatedAt of its budgets. Faults: Invalid with every wrong field; Changed; Absent for somebody
// else's application.
func (s *Store) Replace(ctx context.Context, who Who, of Subject, drafts []Draft, seen ...time.Time) error {
	budgets, err := check(drafts)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		entry := audit.Entry{Actor: who.Email, Action: "budget.update"}
		if err := lock(ctx, tx, who, of, &entry, seen); err != nil {
			return err
		}
		before, err := query(ctx, tx, ofSubject, of.columns()...)
		if err != nil {
			return err
		}
		for _, period := range Periods {
			if err := put(ctx, tx, who, of, in(before, period), in(budgets, period), &entry.Changes); err != nil {
				return err
			}
		}
		if len(entry.Changes) == 0 {
			return nil
		}
		if of.Application != uuid.Nil {
			if _, err := tx.Exec(ctx, `UPDATE applications SET updated_at = clock_timestamp() WHERE id = $1`, of.Application); err != nil {
				return fmt.Errorf("note an edit of budgets: %w", err)
			}
		}
		return audit.Append(ctx, tx, entry)
	})
}

func (s *Subject) columns() []any {
	null := func(id uuid.UUID) *uuid.UUID {
		if id == uuid.Nil {
			return nil
		}
		return &id
	}
	owner := null(s.Owner)
	if s.Scope != ForOwner {
		owner = nil
	}
	var capability *string
	if s.Capability != "" {
		capability = &s.Capability
	}
	return []any{s.Scope, null(s.Application), null(s.Key), owner, capability}
}

func in(budgets []Budget, period Period) *Budget {
	for i := range budgets {
		if budgets[i].Period == period {
			return &budgets[i]
		}
	}
	return nil
}

// lock holds the row that edits of a subject's budgets queue up at, holds the precondition against it, and names the subject in
// the entry.
func lock(ctx context.Context, tx pgx.Tx, who Who, of Subject, entry *audit.Entry, seen []time.Time) (err error) {
	entry.TargetType = string(of.Scope)
	var updatedAt time.Time
	switch of.Scope {
	case ForApplication, ForKey:
		entry.TargetID = of.Application.String()
		err = tx.QueryRow(ctx, `SELECT a.name, a.updated_at FROM applications a WHERE a.owner_id = $1 AND a.id = $2
			AND ($3::uuid = $4::uuid OR EXISTS (SELECT FROM application_keys k WHERE k.id = $3 AND k.application_id = a.id)) FOR UPDATE OF a`,
			who.Owner, of.Application, of.Key, uuid.Nil).Scan(&entry.TargetName, &updatedAt)
		if of.Scope == ForKey {
			entry.TargetID = of.Key.String()
		}
	case ForOwner:
		entry.TargetType, entry.TargetID = "account", of.Owner.String()
		err = tx.QueryRow(ctx, `SELECT email FROM users WHERE id = $1 FOR UPDATE`, of.Owner).Scan(&entry.TargetName)
	default:
		entry.TargetID = of.Capability
		err = tx.QueryRow(ctx, `SELECT name FROM capabilities WHERE id = $1 FOR UPDATE`, of.Capability).Scan(&entry.TargetName)
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows) && of.Scope == ForCapability:
		return fault.InvalidFields(map[string]string{"capabilityId": "no such capability"})
	case errors.Is(err, pgx.ErrNoRows):
		return fault.Absent()
	case err != nil:
		return fmt.Errorf("lock for an edit of budgets: %w", err)
	}
	if of.Application == uuid.Nil { // asked once the lock is held
		err := tx.QueryRow(ctx, `SELECT coalesce(max(updated_at), to_timestamp(0)) FROM budgets WHERE owner_id = $1 OR capability_id = $2`, of.columns()[3:]...).Scan(&updatedAt)
		if err != nil {
			return fmt.Errorf("last edit of budgets: %w", err)
		}
	}
	return fault.Unchanged(updatedAt, seen...)
}

// put makes the budget of a period what it is to be, and notes what that changes.
func put(ctx context.Context, tx pgx.Tx, who Who, of Subject, before, after *Budget, changed *audit.Changes) error {
	switch {
	case before == nil && after == nil:
		return nil
	case after == nil:
		*changed = append(*changed, audit.Change{Field: string(before.Period), From: before.text(), To: nil})
		if _, err := tx.Exec(ctx, `DELETE FROM budgets WHERE id = $1`, before.ID); err != nil {
			return fmt.Errorf("delete a budget: %w", err)
		}
		return nil
	case before == nil:
		*changed = append(*changed, audit.Change{Field: string(after.Period), From: nil, To: after.text()})
		_, err := tx.Exec(ctx, `
			INSERT INTO budgets (scope, application_id, key_id, owner_id, capability_id, id, period, amount, currency, action, unknown, thresholds, updated_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
			append(of.columns(), uuid.New(), after.Period, after.Amount, after.Currency, after.Action, after.Unknown, after.Thresholds, who.Email)...)
		if err != nil {
			return fmt.Errorf("write a budget: %w", err)
		}
		return nil
	case before.text() == after.text():
		return nil
	}
	*changed = append(*changed, audit.Change{Field: string(after.Period), From: before.text(), To: after.text()})
	if !before.Amount.Equal(after.Amount) || before.Currency != after.Currency { // what was told of another amount says nothing of this one
		if _, err := tx.Exec(ctx, `DELETE FROM budget_notices WHERE budget_id = $1`, before.ID); err != nil {
			return fmt.Errorf("forget what was told of a budget: %w", err)
		}
	}
	_, err := tx.Exec(ctx, `
		UPDATE budgets SET amount = $2, currency = $3, action = $4, unknown = $5, thresholds = $6, updated_by = $7, updated_at = clock_timestamp() WHERE id = $1`,
		before.ID, after.Amount, after.Currency, after.Action, after.Unknown, after.Thresholds, who.Email)
	if err != nil {
		return fmt.Errorf("write a budget: %w", err)
	}
	return nil
}

// text is all that an edit sets of a budget, for the audit trail.
func (b *Budget) text() string {
	text := fmt.Sprintf("%s %s, %s", b.Amount, b.Currency, b.Action)
	if b.Unknown == Block {
		text += ", unknown cost: block"
	}
	if len(b.Thresholds) > 0 {
		text += fmt.Sprintf(", told at %d %%", b.Thresholds)
	}
	return text
}

// SetOverride has another amount hold for a budget until a time, or, without a draft, no longer. application is that of the
// budget, or of the key, where an owner asks. Faults: Invalid; Absent for a budget that is not theirs.
func (s *Store) SetOverride(ctx context.Context, who Who, application, id uuid.UUID, draft *OverrideDraft) (b Budget, err error) {
	var o *Override
	if draft != nil {
		if o, err = draft.check(who.Email, time.Now()); err != nil {
			return b, err
		}
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		found, err := query(ctx, tx, `WHERE b.id = $1 AND ($2::uuid = $4::uuid OR a.owner_id = $2 AND a.id = $3) FOR UPDATE OF b`, id, who.Owner, application, uuid.Nil)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fault.Absent()
		}
		b = found[0]
		change := audit.Change{Field: string(b.Period) + " override", From: b.Override.text(b.Currency), To: o.text(b.Currency)}
		if change.From == change.To {
			return nil
		}
		var columns [4]any
		if o != nil {
			columns = [...]any{o.Amount, o.Until, o.Reason, o.By}
		}
		b.Override = o
		err = tx.QueryRow(ctx, `UPDATE budgets SET override_amount = $2, override_until = $3, override_reason = $4, override_by = $5, updated_at = clock_timestamp()
			WHERE id = $1 RETURNING updated_at`, id, columns[0], columns[1], columns[2], columns[3]).Scan(&b.UpdatedAt)
		if err != nil {
			return fmt.Errorf("override a budget: %w", err)
		}
		entry := audit.Entry{Actor: who.Email, Action: "budget.override", Changes: audit.Changes{change}}
		entry.TargetType, entry.TargetID, entry.TargetName = b.target()
		return audit.Append(ctx, tx, entry)
	})
	return b, err
}

// target is what the audit trail names a budget by.
func (b *Budget) target() (kind, id, name string) {
	switch b.Scope {
	case ForKey:
		return "key", b.Key.String(), b.ApplicationName
	case ForOwner:
		return "account", b.Owner.String(), b.OwnerEmail
	case ForCapability:
		return "capability", b.Capability, b.CapabilityName
	}
	return "application", b.Application.String(), b.ApplicationName
}

func (o *Override) text(currency string) any {
	if o == nil {
		return nil
	}
	return fmt.Sprintf("%s %s until %s: %s", o.Amount, currency, o.Until.UTC().Format(time.RFC3339), o.Reason)
}
