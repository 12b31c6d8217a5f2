package alerts

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/fault"
)

// allowance bounds what is sent by hand: so many at once, and one more each time that spacing has passed.
type allowance struct {
	burst   int
	spacing time.Duration
}

var (
	// askedFor bounds the tests, and deliveries sent again, that an account may ask for; each may be several messages.
	askedFor = allowance{burst: 10, spacing: 20 * time.Second}
	// sentTo bounds the messages that go to one destination of the account by that.
	sentTo = allowance{burst: 20, spacing: 12 * time.Second}
)

// account is whom what is sent by hand counts for, whatever rule it is of.
func (w Who) account() string {
	if w.Owner == uuid.Nil {
		return "administrator " + w.Email
	}
	return "owner " + w.Owner.String()
}

// sendByHand counts a test or a delivery that is sent again, for all consoles together. One beyond what is allowed is
// TooManyAttempts: the transaction is to be rolled back, so that it does not count.
func sendByHand(ctx context.Context, tx pgx.Tx, who Who, destinations []string) error {
	wait, err := askedFor.spend(ctx, tx, who.account(), 1)
	if err != nil || wait > 0 {
		return cmp.Or(err, tooMany(wait, "alerts were tested or sent again too often; try again later"))
	}
	messages := map[string]int{}
	for _, destination := range destinations {
		messages[destination]++
	}
	for _, destination := range slices.Sorted(maps.Keys(messages)) { // of one account all count in the same order
		wait, err := sentTo.spend(ctx, tx, who.account()+" to "+destination, messages[destination])
		if err != nil || wait > 0 {
			return cmp.Or(err, tooMany(wait, "too many tests and repeated deliveries went to one address; try again later"))
		}
	}
	return nil
}

func tooMany(wait time.Duration, message string) error {
	return &fault.Error{Kind: fault.TooManyAttempts, Message: message, RetryAfter: max(wait, time.Second)}
}

// spend counts n, and tells how long to wait where that is too much.
func (a allowance) spend(ctx context.Context, tx pgx.Tx, subject string, n int) (wait time.Duration, err error) {
	var used float64
	err = tx.QueryRow(ctx, `
		INSERT INTO alert_sends AS old (subject, free_at) VALUES ($1, now() + make_interval(secs => $2))
		ON CONFLICT (subject) DO UPDATE SET free_at = greatest(old.free_at, now()) + make_interval(secs => $2)
		RETURNING extract(epoch FROM free_at - now())::float8`, subject, float64(n)*a.spacing.Seconds()).Scan(&used)
	if err != nil {
		return 0, fmt.Errorf("count what is sent by hand: %w", err)
	}
	return time.Duration(used*float64(time.Second)) - time.Duration(a.burst)*a.spacing, nil
}
