package access

import (
	"context"
	"fmt"
	"time"
)

const (
	cleanInterval = 5 * time.Minute
	cleanTimeout  = 30 * time.Second
	cleanBatch    = 10_000
)

// clean deletes change rows that no reader can need any more, until ctx is done. Every gateway does
// so; SKIP LOCKED keeps them out of each other's way.
func (r *Resolver) clean(ctx context.Context, interval time.Duration) {
	visible := ""
	for wait(ctx, interval, nil) {
		next, err := r.cleanOnce(ctx, visible)
		if err == nil {
			visible = next
		} else if ctx.Err() == nil {
			r.log.Warn("old access changes are not deleted", "error", err)
		}
	}
}

// cleanOnce deletes the rows older than an hour that were already visible at the previous pass, and
// returns the snapshot for the next one. The hour alone would take the row of a transaction that
// stayed open for longer before any reader could see it.
func (r *Resolver) cleanOnce(ctx context.Context, visible string) (next string, err error) {
	ctx, cancel := context.WithTimeout(ctx, cleanTimeout)
	defer cancel()
	if err := r.pool.QueryRow(ctx, `SELECT pg_current_snapshot()::text`).Scan(&next); err != nil {
		return "", fmt.Errorf("take a snapshot: %w", err)
	}
	for deleted := int64(cleanBatch); visible != "" && deleted == cleanBatch; {
		done, err := r.pool.Exec(ctx, `
			DELETE FROM access_changes WHERE id IN (
				SELECT id FROM access_changes
				WHERE changed_at < now() - interval '1 hour' AND pg_visible_in_snapshot(xid, $1::text::pg_snapshot)
				ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)`, visible, cleanBatch)
		if err != nil {
			return "", fmt.Errorf("delete old access changes: %w", err)
		}
		deleted = done.RowsAffected()
	}
	return next, nil
}
