package alerts

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

const (
	giveUpAfter     = 24 * time.Hour
	giveUpTestAfter = time.Minute
	longestRetry    = time.Hour

	perOwner = 4 // attempts at a time for the channels of one owner
)

// What was wrong with an attempt.
const (
	failAddress  = "address"  // it is not public
	failDNS      = "dns"      // the host has no address
	failConnect  = "connect"  // no connection came about, or it broke
	failTLS      = "tls"      // its certificate, or TLS otherwise
	failTimeout  = "timeout"  // no answer in time
	failStatus   = "status"   // answered, but not 2xx
	failRefused  = "refused"  // a bot answered with an error of its own
	failMail     = "mail"     // the mail server did not take it
	failChannel  = "channel"  // the channel was removed
	failSettings = "settings" // its URL or secret cannot be opened
)

// job is a delivery to be attempted, claimed by this console.
type job struct {
	ID         uuid.UUID
	Claim      uuid.UUID
	Attempts   int // this one included
	Deadline   time.Time
	Channel    uuid.UUID
	Kind       ChannelKind
	To         string
	URL        []byte // sealed
	Secret     []byte
	Former     []byte // nil: it does not sign any more
	Payload    []byte
	OwnerEmail *string // nil: administrators
}

// claim takes up to n deliveries that are due: new ones, or such as were attempted before. Of one channel at most one is
// attempted at a time, of one owner perOwner, so that endpoints that hang hold up nobody else.
func claim(ctx context.Context, db querier, n int, again bool, claimFor time.Duration) ([]job, error) {
	rows, err := db.Query(ctx, `
		WITH due AS (
			SELECT d.id, row_number() OVER (PARTITION BY d.channel_id ORDER BY d.next_at, d.id) AS nth, r.owner_id, d.next_at
			FROM alert_deliveries d JOIN alert_events e ON e.id = d.event_id JOIN alert_rules r ON r.id = e.rule_id
			WHERE d.status = 'pending' AND d.next_at <= now() AND (d.claimed_until IS NULL OR d.claimed_until <= now())
			  AND (d.attempts > 0) = $2 AND d.channel_id IS NOT NULL
			  AND NOT EXISTS (SELECT FROM alert_deliveries o WHERE o.channel_id = d.channel_id AND o.status = 'pending' AND o.claimed_until > now())
		), busy AS (
			SELECT r.owner_id, count(*) AS n
			FROM alert_deliveries d JOIN alert_events e ON e.id = d.event_id JOIN alert_rules r ON r.id = e.rule_id
			WHERE d.status = 'pending' AND d.claimed_until > now() GROUP BY r.owner_id
		), fair AS (
			SELECT due.id, due.next_at, row_number() OVER (PARTITION BY due.owner_id ORDER BY due.next_at, due.id)
			       + coalesce((SELECT n FROM busy WHERE busy.owner_id IS NOT DISTINCT FROM due.owner_id), 0) AS nth
			FROM due WHERE nth = 1
		), taken AS (
			SELECT id FROM alert_deliveries
			WHERE id IN (SELECT id FROM fair WHERE nth <= $3 ORDER BY next_at, id LIMIT $1)
			  AND status = 'pending' AND next_at <= now() AND (claimed_until IS NULL OR claimed_until <= now())
			FOR UPDATE SKIP LOCKED
		)
		UPDATE alert_deliveries d SET claim = gen_random_uuid(), claimed_until = now() + make_interval(secs => $4), attempts = d.attempts + 1, last_at = now()
		FROM taken, alert_channels c, alert_events e, alert_rules r LEFT JOIN users u ON u.id = r.owner_id
		WHERE d.id = taken.id AND c.id = d.channel_id AND e.id = d.event_id AND r.id = e.rule_id
		RETURNING d.id, d.claim, d.attempts, d.deadline, c.id, c.kind, c.destination, c.sealed_url, c.sealed_secret,
		          CASE WHEN c.former_until > now() THEN c.former_secret END, convert_to(e.payload::text, 'UTF8'), u.email`,
		n, again, perOwner, claimFor.Seconds())
	if err != nil {
		return nil, fmt.Errorf("claim deliveries: %w", err)
	}
	jobs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[job])
	if err != nil {
		return nil, fmt.Errorf("claim deliveries: %w", err)
	}
	return jobs, nil
}

// result is what became of an attempt.
type result struct {
	status int    // of HTTP; 0: no answer
	fail   string // empty: it was delivered
	final  bool   // it is of no use to try again
	after  time.Duration
}

// settle keeps what became of an attempt. One whose claim has passed to another console changes nothing.
func settle(ctx context.Context, db querier, j job, r result, first time.Duration) error {
	state, wait := "pending", backoff(j.Attempts, first)
	switch {
	case r.fail == "":
		state = "delivered"
	case r.final || time.Now().Add(wait).After(j.Deadline):
		state = "given_up"
	case r.after > wait:
		wait = min(r.after, longestRetry)
	}
	var status *int
	if r.status != 0 {
		status = &r.status
	}
	_, err := db.Exec(ctx, `
		UPDATE alert_deliveries SET status = $3, claim = NULL, claimed_until = NULL, last_status = $4, error = nullif($5, ''),
			next_at = now() + make_interval(secs => $6), delivered_at = CASE WHEN $3 = 'delivered' THEN now() END
		WHERE id = $1 AND claim = $2 AND status = 'pending'`,
		j.ID, j.Claim, state, status, r.fail, wait.Seconds())
	if err != nil {
		return fmt.Errorf("settle a delivery: %w", err)
	}
	return nil
}

// backoff is how long to wait after so many attempts: twice as long each time, up to an hour, by chance up to a fifth less.
func backoff(attempts int, first time.Duration) time.Duration {
	wait := longestRetry
	if shift := attempts - 1; shift < 20 {
		wait = min(longestRetry, first<<max(0, shift))
	}
	return wait - time.Duration(rand.Int64N(int64(wait)/5)) //nolint:gosec // chance, not a secret
}
