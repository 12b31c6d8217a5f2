package alerts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/leader"
)

const (
	// evaluatorLock is the advisory lock of PostgreSQL under which one console at a time evaluates.
	evaluatorLock = 0x616c657274730001 // "alerts"

	roundTimeout = 30 * time.Second
	keepEvents   = 30 * 24 * time.Hour
	pruneEvery   = time.Hour
)

// evaluator finds out how rules stand, on the connection that holds the lock: whatever it writes is written by who holds
// it, for a lock that is lost is lost with the connection.
type evaluator struct {
	pool    *pgxpool.Pool
	source  Source
	pages   string // base URL of the console's pages
	log     *slog.Logger
	now     func() time.Time
	keep    time.Duration // of events
	pace    pace
	told    func() // wakes who delivers
	metrics *metrics
	pruned  time.Time
}

// run evaluates whenever it is this console's turn, until ctx is done.
func (e *evaluator) run(ctx context.Context) {
	for failed := 0; ; {
		err := e.lead(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			if failed%30 == 0 {
				e.log.Warn("alerts cannot be evaluated; it is tried again", "error", err)
			}
			failed++
		} else {
			failed = 0
		}
		if !sleep(ctx, e.pace.standIn) {
			return
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// lead evaluates until something goes wrong, if nobody else does.
func (e *evaluator) lead(ctx context.Context) error {
	return leader.Lead(ctx, e.pool, evaluatorLock, roundTimeout, func(ctx context.Context, conn *pgx.Conn) error {
		e.metrics.leading.Set(1)
		defer e.metrics.leading.Set(0)
		for {
			began := time.Now()
			limited, cancel := context.WithTimeout(ctx, roundTimeout)
			err := e.round(limited, conn)
			cancel()
			if err != nil {
				return err
			}
			e.metrics.rounds.Inc()
			if !sleep(ctx, max(0, e.pace.every-time.Since(began))) {
				return nil
			}
		}
	})
}

// round evaluates every rule once.
func (e *evaluator) round(ctx context.Context, conn *pgx.Conn) error {
	rules, err := enabledRules(ctx, conn)
	if err != nil {
		return err
	}
	now := e.now()
	evaluated := slices.DeleteFunc(slices.Clone(rules), func(r *Rule) bool { return r.Kind == DayClosed })
	found := measure(ctx, e.source, evaluated, now)
	var changed []*Rule
	told, unknown, firing := 0, 0, 0
	for _, r := range evaluated {
		kept := r.State
		m, ok := found[r.ID]
		if !ok {
			m.Unknown = NoStore
		}
		next := kept.next(r, m, now)
		if next.Unknown != "" {
			unknown++
		}
		if next.Value == Firing {
			firing++
		}
		r.State = next
		switch {
		case next.Value != next.Told && !r.silenced(now):
			ok, err := e.tell(ctx, conn, r, now)
			if err != nil {
				return err
			}
			if ok {
				told++
			}
		case next.stale(kept):
			changed = append(changed, r)
		}
	}
	if err := keepStates(ctx, conn, changed); err != nil {
		return err
	}
	ofDays, err := e.tellDays(ctx, conn, rules, now)
	if err != nil {
		return err
	}
	told += ofDays
	e.metrics.noteRound(len(rules), unknown, firing, told)
	if told > 0 {
		e.told()
	}
	return e.prune(ctx, conn, now)
}

// enabledRules reads all rules that are evaluated, of everybody.
func enabledRules(ctx context.Context, conn *pgx.Conn) ([]*Rule, error) {
	rows, err := conn.Query(ctx, `SELECT `+ruleColumns+fromRules+`WHERE (r.enabled OR r.watched) ORDER BY r.id`)
	if err != nil {
		return nil, fmt.Errorf("read alerts: %w", err)
	}
	rules, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*Rule, error) {
		r := &Rule{}
		return r, row.Scan(r.fields()...)
	})
	if err != nil {
		return nil, fmt.Errorf("read alerts: %w", err)
	}
	return rules, nil
}

// keepStates writes what was found of rules about which there is nothing to tell.
func keepStates(ctx context.Context, conn *pgx.Conn, rules []*Rule) error {
	if len(rules) == 0 {
		return nil
	}
	batch := &pgx.Batch{}
	for _, r := range rules {
		s := r.State
		batch.Queue(`
			UPDATE alert_states SET value = $2, since = $3, streak = $4, unknown = $5, measured = $6, figures = $7, evaluated_at = $8
			WHERE rule_id = $1 AND sequence = $9`,
			r.ID, s.Value, s.Since, s.Streak, s.Unknown, s.Measured, s.Figures, s.EvaluatedAt, s.Sequence)
	}
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return tx.SendBatch(ctx, batch).Close() })
	if err != nil {
		return fmt.Errorf("keep states of alerts: %w", err)
	}
	return nil
}

// tell keeps a change of state and, in the same transaction, what is to be sent of it. A rule that was edited, disabled or
// silenced meanwhile is left to the next evaluation.
func (e *evaluator) tell(ctx context.Context, conn *pgx.Conn, r *Rule, now time.Time) (told bool, err error) {
	r.State.Told = r.State.Value
	r.State.Sequence++
	kind := "resolved"
	if r.State.Value == Firing {
		kind = "firing"
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		same, err := unchanged(ctx, tx, r)
		if err != nil || !same {
			return err
		}
		s := r.State
		tag, err := tx.Exec(ctx, `
			UPDATE alert_states SET value = $2, told = $2, since = $3, streak = $4, unknown = $5, measured = $6, figures = $7, evaluated_at = $8, sequence = $9
			WHERE rule_id = $1 AND sequence = $9 - 1`,
			r.ID, s.Value, s.Since, s.Streak, s.Unknown, s.Measured, s.Figures, s.EvaluatedAt, s.Sequence)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		told = true
		_, err = enqueue(ctx, tx, r, kind, &s.Sequence, e.pages, now, giveUpAfter)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("tell of an alert: %w", err)
	}
	return told, nil
}

// unchanged tells whether a rule is as it was read, and keeps it so until tx ends.
func unchanged(ctx context.Context, tx pgx.Tx, r *Rule) (same bool, err error) {
	err = tx.QueryRow(ctx, `SELECT updated_at = $2 FROM alert_rules WHERE id = $1 FOR SHARE`, r.ID, r.UpdatedAt).Scan(&same)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return same, err
}

// enqueue writes an event of a rule's state, and one delivery of it for each channel of the rule.
func enqueue(ctx context.Context, tx pgx.Tx, r *Rule, kind string, sequence *int64, pages string, now time.Time, within time.Duration) (uuid.UUID, error) {
	return enqueueBody(ctx, tx, r, kind, sequence, now, within, func(id uuid.UUID) any { return payloadOf(r, id, kind, sequence, pages, now) })
}

// enqueueBody is enqueue of an event with a body of its own.
func enqueueBody(ctx context.Context, tx pgx.Tx, r *Rule, kind string, sequence *int64, now time.Time, within time.Duration, of func(id uuid.UUID) any) (uuid.UUID, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return id, fmt.Errorf("id of an event: %w", err)
	}
	body, err := json.Marshal(of(id))
	if err != nil {
		return id, fmt.Errorf("body of an event: %w", err)
	}
	if _, err = tx.Exec(ctx, `INSERT INTO alert_events (id, rule_id, kind, sequence, at, measured, figures, payload) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		id, r.ID, kind, sequence, now, r.State.Measured, r.State.Figures, body); err != nil {
		return id, fmt.Errorf("write an event: %w", err)
	}
	if _, err = tx.Exec(ctx, `
		INSERT INTO alert_deliveries (id, event_id, channel_id, channel_kind, destination, deadline)
		SELECT gen_random_uuid(), $1, id, kind, destination, now() + make_interval(secs => $3) FROM alert_channels WHERE rule_id = $2`,
		id, r.ID, within.Seconds()); err != nil {
		return id, fmt.Errorf("write deliveries: %w", err)
	}
	return id, nil
}

// prune forgets old events, with their deliveries, and what no bound looks at any more.
func (e *evaluator) prune(ctx context.Context, conn *pgx.Conn, now time.Time) error {
	if now.Sub(e.pruned) < pruneEvery {
		return nil
	}
	e.pruned = now
	if _, err := conn.Exec(ctx, `DELETE FROM alert_events WHERE at < now() - make_interval(secs => $1)`, e.keep.Seconds()); err != nil {
		return fmt.Errorf("forget old events: %w", err)
	}
	if _, err := conn.Exec(ctx, `DELETE FROM alert_sends WHERE free_at < now()`); err != nil {
		return fmt.Errorf("forget what was sent by hand: %w", err)
	}
	return nil
}
