package alerts

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	giveUpAfter     = 24 * time.Hour
	giveUpTestAfter = time.Minute
	longestRetry    = time.Hour

	perOwner       = 4  // attempts at a time for the channels of one owner; of one destination of theirs, 1
	perDestination = 16 // attempts at a time at one host, for all owners; mail is one, whoever it is for

	claimLock = 0x616c657274730002 // advisory lock of PostgreSQL: consoles take turns to claim, so that bounds hold for all together
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
	Owner      uuid.UUID // nil: administrators
	OwnerEmail *string   // nil: administrators
}

// places are what a console has room for.
type places struct {
	all    int                     // attempts
	beside int                     // of them, such as are made beside another one of the same owner
	slow   map[uuid.UUID]time.Time // owners whose attempts took long lately
}

// claim takes deliveries that are due: new ones, or such as were attempted before. An owner comes first for whom nothing is
// attempted just now, and of those one whose destinations answer. What an owner has besides takes no place that is kept for
// these, and no destination, whoever has it, takes more than its part: what hangs holds up nobody else.
func claim(ctx context.Context, pool *pgxpool.Pool, room places, again bool, claimFor time.Duration) ([]job, error) {
	var owners []uuid.UUID
	var since []time.Time
	for owner, at := range room.slow {
		owners, since = append(owners, owner), append(since, at)
	}
	batch := &pgx.Batch{} // one transaction: what was claimed before is seen by the second statement
	batch.Queue(`SELECT pg_advisory_xact_lock($1)`, int64(claimLock))
	batch.Queue(`
		WITH busy AS MATERIALIZED (
			SELECT coalesce(r.owner_id, $8) AS owner, lower(c.destination) AS destination, `+hostOf+` AS host
			FROM alert_deliveries d JOIN alert_channels c ON c.id = d.channel_id JOIN alert_rules r ON r.id = c.rule_id
			WHERE d.status = 'pending' AND d.claimed_until > now()
		), due AS (
			SELECT d.id, d.next_at, coalesce(r.owner_id, $8) AS owner, `+hostOf+` AS host,
			       row_number() OVER (PARTITION BY r.owner_id, lower(c.destination) ORDER BY d.next_at, d.id) AS nth
			FROM alert_deliveries d JOIN alert_channels c ON c.id = d.channel_id JOIN alert_rules r ON r.id = c.rule_id
			WHERE d.status = 'pending' AND d.next_at <= now() AND (d.claimed_until IS NULL OR d.claimed_until <= now()) AND (d.attempts > 0) = $3
			  AND NOT EXISTS (SELECT FROM busy WHERE busy.owner = coalesce(r.owner_id, $8) AND busy.destination = lower(c.destination))
		), fair AS (
			SELECT due.id, due.next_at, due.host, slow.at AS slow,
			       row_number() OVER (PARTITION BY due.owner ORDER BY due.next_at, due.id)
			       + (SELECT count(*) FROM busy WHERE busy.owner = due.owner) AS nth
			FROM due LEFT JOIN unnest($6::uuid[], $7::timestamptz[]) AS slow (owner, at) ON slow.owner = due.owner
			WHERE due.nth = 1
		), spread AS (
			SELECT id, next_at, slow, nth,
			       row_number() OVER (PARTITION BY host ORDER BY nth, slow NULLS FIRST, next_at, id)
			       + (SELECT count(*) FROM busy WHERE busy.host = fair.host) AS at_host
			FROM fair WHERE nth <= $4
		), chosen AS (
			SELECT id, nth, row_number() OVER (ORDER BY nth, slow NULLS FIRST, next_at, id) AS place FROM spread WHERE at_host <= $5
		), taken AS (
			SELECT id FROM alert_deliveries
			WHERE id IN (SELECT id FROM chosen WHERE place <= $1 AND (nth = 1 OR place <= $2))
			  AND status = 'pending' AND next_at <= now() AND (claimed_until IS NULL OR claimed_until <= now())
			FOR UPDATE SKIP LOCKED
		)
		UPDATE alert_deliveries d SET claim = gen_random_uuid(), claimed_until = now() + make_interval(secs => $9), attempts = d.attempts + 1, last_at = now()
		FROM taken, alert_channels c, alert_events e, alert_rules r LEFT JOIN users u ON u.id = r.owner_id
		WHERE d.id = taken.id AND c.id = d.channel_id AND e.id = d.event_id AND r.id = e.rule_id
		RETURNING d.id, d.claim, d.attempts, d.deadline, c.id, c.kind, c.destination, c.sealed_url, c.sealed_secret,
		          CASE WHEN c.former_until > now() THEN c.former_secret END, convert_to(e.payload::text, 'UTF8'), coalesce(r.owner_id, $8), u.email`,
		room.all, room.beside, again, perOwner, perDestination, owners, since, uuid.Nil, claimFor.Seconds())
	results := pool.SendBatch(ctx, batch)
	defer func() { _ = results.Close() }()
	if _, err := results.Exec(); err != nil {
		return nil, fmt.Errorf("take the turn to claim: %w", err)
	}
	rows, err := results.Query()
	if err != nil {
		return nil, fmt.Errorf("claim deliveries: %w", err)
	}
	jobs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[job])
	if err != nil {
		return nil, fmt.Errorf("claim deliveries: %w", err)
	}
	return jobs, nil
}

// hostOf is what hangs together: a host, or the mail server.
const hostOf = `CASE c.kind WHEN 'mail' THEN 'mail' ELSE lower(c.destination) END`

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
