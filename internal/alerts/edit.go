package alerts

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/fault"
)

// Update edits a rule; who is recorded. seen, if given, is the precondition: when it does not hold the rule as it is comes
// with the Changed fault. Its state stays, and is judged by the new thresholds from the next evaluation on.
func (s *Store) Update(ctx context.Context, who Who, id uuid.UUID, e Edit, seen ...time.Time) (r Rule, err error) {
	wrong := fault.Fields{}
	var channels []channelEdit
	if e.Channels != nil {
		channels = s.checkChannels(who, *e.Channels, wrong)
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if r, err = one(ctx, tx, who, id, `FOR NO KEY UPDATE OF r`); err != nil {
			return err
		}
		if err := fault.Unchanged(r.UpdatedAt, seen...); err != nil {
			return err
		}
		after := r
		e.apply(&after, time.Now(), wrong)
		if err := wrong.Err(); err != nil {
			return err
		}
		if e.Channels == nil && len(differences(r, after)) == 0 {
			return nil
		}
		if e.Channels != nil {
			if err := s.saveChannels(ctx, tx, id, r.Channels, channels); err != nil {
				return err
			}
		}
		before := r
		if err := save(ctx, tx, &after); err != nil {
			return err
		}
		if after.Enabled && !before.Enabled && after.Kind == DayClosed {
			if err := forgetDays(ctx, tx, id); err != nil {
				return err
			}
		}
		if r, err = one(ctx, tx, who, id, ""); err != nil {
			return err
		}
		return s.noteUpdate(ctx, tx, who, before, r, e)
	})
	return r, err
}

func save(ctx context.Context, tx pgx.Tx, r *Rule) error {
	_, err := tx.Exec(ctx, `
		UPDATE alert_rules SET name = $2, threshold = $3, resolve_threshold = $4, window_minutes = nullif($5, 0), min_calls = nullif($6::bigint, 0),
			enabled = $7 AND kind NOT IN ('upstreamLeftOut', 'budget'), watched = $7 AND kind IN ('upstreamLeftOut', 'budget'), silenced_until = $8, updated_at = clock_timestamp() WHERE id = $1`,
		r.ID, r.Name, r.Threshold, r.ResolveThreshold, r.WindowMinutes, r.MinCalls, r.Enabled, r.SilencedUntil)
	if err == nil { // what spoke against the state did so by other thresholds
		_, err = tx.Exec(ctx, `UPDATE alert_states SET streak = 0 WHERE rule_id = $1`, r.ID)
	}
	if err != nil {
		return fmt.Errorf("update alert: %w", err)
	}
	return nil
}

// noteUpdate records an edit; that a URL or secret was given is told, never what it is.
func (s *Store) noteUpdate(ctx context.Context, tx pgx.Tx, who Who, before, after Rule, e Edit) error {
	changes := differences(before, after)
	if e.Channels != nil {
		for _, d := range *e.Channels {
			if d.ID != nil && (d.URL != nil || d.Secret != nil) {
				changes = append(changes, audit.Change{Field: "channelAddress", To: audit.Secret})
				break
			}
		}
	}
	if len(changes) == 0 {
		return nil
	}
	return record(ctx, tx, who, "alert.update", after, changes)
}

// Delete removes a rule with all that was sent of it, and what is still to be; who is recorded.
func (s *Store) Delete(ctx context.Context, who Who, id uuid.UUID) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		r, err := one(ctx, tx, who, id, `FOR UPDATE OF r`)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM alert_rules WHERE id = $1`, id); err != nil {
			return fmt.Errorf("delete alert: %w", err)
		}
		return record(ctx, tx, who, "alert.delete", r, nil)
	})
}
