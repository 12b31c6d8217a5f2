package alerts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/fault"
)

// Delivery is what became of one event on one channel.
type Delivery struct {
	ID            uuid.UUID // the same in every attempt
	Event         string    // firing, resolved or test
	Sequence      *int64    // nil: a test
	At            time.Time
	Measured      *float64
	Figures       Figures
	ChannelID     *uuid.UUID // nil: it was removed
	ChannelKind   ChannelKind
	Destination   string
	Status        string // pending, delivered or given_up
	Attempts      int64
	LastAttemptAt *time.Time
	LastStatus    *int64 // of HTTP
	Error         *string
	NextAttemptAt *time.Time // of a pending one
	DeliveredAt   *time.Time
}

const deliveryColumns = `
	d.id, e.kind, e.sequence, e.at, e.measured, e.figures, d.channel_id, d.channel_kind, d.destination, d.status, d.attempts,
	d.last_at, d.last_status, d.error, CASE WHEN d.status = 'pending' THEN d.next_at END, d.delivered_at
	FROM alert_deliveries d JOIN alert_events e ON e.id = d.event_id `

func queryDeliveries(ctx context.Context, db querier, condition string, args ...any) ([]Delivery, error) {
	rows, err := db.Query(ctx, `SELECT `+deliveryColumns+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Delivery])
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	return found, nil
}

// Log gives one page of a rule's deliveries of the last 30 days, newest first, and how many there are. page counts from 1.
func (s *Store) Log(ctx context.Context, who Who, id uuid.UUID, page, size int) (deliveries []Delivery, total int, err error) {
	if _, err := one(ctx, s.pool, who, id, ""); err != nil {
		return nil, 0, err
	}
	if err := s.pool.QueryRow(ctx, `SELECT count(*) FROM alert_deliveries d JOIN alert_events e ON e.id = d.event_id WHERE e.rule_id = $1`, id).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count deliveries: %w", err)
	}
	deliveries, err = queryDeliveries(ctx, s.pool, `WHERE e.rule_id = $1 ORDER BY e.at DESC, e.id DESC, d.destination, d.id LIMIT $2 OFFSET $3`,
		id, size, int64(page-1)*int64(size))
	return deliveries, total, err
}

// Resend has a delivery attempted at once and, if that fails, for 24 h anew; its id stays. One whose channel was removed, or that is
// being attempted, is a Conflict; too many are TooManyAttempts. who is recorded.
func (s *Store) Resend(ctx context.Context, who Who, id, delivery uuid.UUID) (d Delivery, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		r, err := one(ctx, tx, who, id, `FOR SHARE OF r`)
		if err != nil {
			return err
		}
		var busy bool
		var channel *uuid.UUID
		err = tx.QueryRow(ctx, `
			SELECT d.claimed_until IS NOT NULL AND d.claimed_until > now(), d.channel_id
			FROM alert_deliveries d JOIN alert_events e ON e.id = d.event_id WHERE d.id = $1 AND e.rule_id = $2 FOR UPDATE OF d`,
			delivery, id).Scan(&busy, &channel)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return fault.Absent()
		case err != nil:
			return fmt.Errorf("delivery: %w", err)
		case channel == nil:
			return fault.New(fault.Conflict, "the channel of this delivery was removed")
		case busy:
			return fault.New(fault.Conflict, "this delivery is being attempted just now")
		}
		if err := sendByHand(ctx, tx, who, destinationsOf(r.Channels, *channel)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `
			UPDATE alert_deliveries SET status = 'pending', attempts = 0, next_at = now(), deadline = now() + make_interval(secs => $2),
				delivered_at = NULL, claim = NULL, claimed_until = NULL WHERE id = $1`, delivery, giveUpAfter.Seconds()); err != nil {
			return fmt.Errorf("send again: %w", err)
		}
		found, err := queryDeliveries(ctx, tx, `WHERE d.id = $1`, delivery)
		if err != nil {
			return err
		}
		d = found[0]
		return record(ctx, tx, who, "alert.resend", r, nil)
	})
	return d, err
}

// Test sends every channel of a rule what a change of its state would look like; it is given up after a minute. While the test before
// is still to be delivered it is a Conflict; too many are TooManyAttempts. pages is the base URL of the console's pages. who is recorded.
func (s *Store) Test(ctx context.Context, who Who, id uuid.UUID, pages string) (deliveries []Delivery, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		r, err := one(ctx, tx, who, id, `FOR NO KEY UPDATE OF r`)
		if err != nil {
			return err
		}
		var pending bool
		if err := tx.QueryRow(ctx, `
			SELECT EXISTS (SELECT FROM alert_events e JOIN alert_deliveries d ON d.event_id = e.id
			               WHERE e.rule_id = $1 AND e.kind = 'test' AND d.status = 'pending')`, id).Scan(&pending); err != nil {
			return fmt.Errorf("earlier test: %w", err)
		}
		if pending {
			return fault.New(fault.Conflict, "the test before is still being delivered; try again in a minute")
		}
		if err := sendByHand(ctx, tx, who, destinationsOf(r.Channels)); err != nil {
			return err
		}
		event, err := enqueue(ctx, tx, &r, "test", nil, pages, time.Now(), giveUpTestAfter)
		if err != nil {
			return err
		}
		if deliveries, err = queryDeliveries(ctx, tx, `WHERE d.event_id = $1 ORDER BY d.destination, d.id`, event); err != nil {
			return err
		}
		return record(ctx, tx, who, "alert.test", r, nil)
	})
	return deliveries, err
}

// destinationsOf are where these channels go, or all of them.
func destinationsOf(channels []Channel, ids ...uuid.UUID) (found []string) {
	for _, c := range channels {
		if len(ids) == 0 || slices.Contains(ids, c.ID) {
			found = append(found, strings.ToLower(c.Destination))
		}
	}
	return found
}
