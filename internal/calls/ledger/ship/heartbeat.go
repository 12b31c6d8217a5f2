package ship

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/spool"
)

// queueHeartbeat tells who this process is, that it lives, and what its spool and the adopted ones hold. It goes
// with the report of how far they are through, so that the two agree.
func (r *reporter) queueHeartbeat(batch *pgx.Batch, pending spool.Pending, last bool) {
	for id, held := range r.spool.Held() {
		oldest := oldestAt(pending.Per[id])
		if id != r.spool.ID() {
			batch.Queue(`UPDATE gateways SET oldest_at = $2, held_bytes = $3 WHERE spool_id = $1`, id, oldest, held.Bytes)
			continue
		}
		queueReturn(batch, id)
		batch.Queue(`
			INSERT INTO gateways (spool_id, host, role, version, started_at, oldest_at, held_bytes, held_calls, ended_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, CASE WHEN $9 THEN now() END)
			ON CONFLICT (spool_id) DO UPDATE SET seen_at = now(), oldest_at = excluded.oldest_at, held_bytes = excluded.held_bytes,
				held_calls = excluded.held_calls, ended_at = excluded.ended_at`,
			id, r.node, r.role, r.version, r.started, oldest, held.Bytes, perDay(held.Calls), last)
	}
}

// queueForgetting removes heartbeats of long ago whose spools nobody waits for.
func queueForgetting(batch *pgx.Batch) {
	batch.Queue(`
		DELETE FROM gateways g WHERE g.seen_at < now() - make_interval(secs => $1)
		AND NOT EXISTS (SELECT FROM spools s WHERE s.id = g.spool_id AND NOT s.retired)`, ledger.KeepRetired.Seconds())
}

// queueReturn takes back that a spool was given up: its records have turned up, and are sent.
func queueReturn(batch *pgx.Batch, id uuid.UUID) {
	batch.Queue(`
		WITH returned AS (
			UPDATE spools SET given_up_at = NULL, given_up_by = NULL, given_up_calls = NULL
			WHERE id = $1 AND given_up_at IS NOT NULL RETURNING id)
		DELETE FROM dropped_calls d USING returned WHERE d.spool_id = returned.id AND d.application_id = $2`, id, uuid.Nil)
}

// oldestAt is the end of the oldest record, nil when there is none or nobody knows.
func oldestAt(milliseconds int64) *time.Time {
	if milliseconds == spool.Never || milliseconds <= calls.MinStart {
		return nil
	}
	at := time.UnixMilli(milliseconds)
	return &at
}

// perDay is JSON of days and numbers.
func perDay(held map[beijing.Day]int64) string {
	text, err := json.Marshal(held)
	if err != nil || held == nil {
		return "{}"
	}
	return string(text)
}
