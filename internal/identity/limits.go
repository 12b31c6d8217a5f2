package identity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"callgate/internal/fault"
)

// Limits bound how often sign-in may be tried, in fixed windows of an hour or a day, for all nodes
// together. What leads to a sign-in is taken back, so only what led nowhere adds up. None of them can
// be spent by a stranger so that an owner is kept out:
//   - a browser that has signed in with an address before has CodesPerAsker… of its own and no other limit;
//   - for anybody else codes are counted for each pair of network and address, so that one person in an
//     office does not use up what the others there need;
//   - of what all networks together may ask for one address, the most part is kept for networks that ask
//     for it the first time this day;
//   - wrong tries beyond theirs lock nobody out: codes are good for one try then instead of five.
//
// A guess hits one time in a million. A day of guessing at one address by any number of networks comes to
// at most WrongPerAddressDay + 1.2 × CodesPerAddressDay of them.
type Limits struct {
	CodesPerAskerHour  int // 10, for one address from one network, or by one browser that is known
	CodesPerAskerDay   int // 30
	CodesPerClientHour int // 1,000, for all addresses from one network
	CodesPerAddressDay int // 300 first ones of a network, and a fifth of that of further ones
	WrongPerClientHour int // 60 wrong codes
	WrongPerAddressDay int // 150
}

const furtherShare = 5 // of CodesPerAddressDay, the part for further codes of networks that had one

func (l *Limits) setDefaults() {
	setDefault(&l.CodesPerAskerHour, 10)
	setDefault(&l.CodesPerAskerDay, 30)
	setDefault(&l.CodesPerClientHour, 1000)
	setDefault(&l.CodesPerAddressDay, 300)
	setDefault(&l.WrongPerClientHour, 60)
	setDefault(&l.WrongPerAddressDay, 150)
}

func (l Limits) validate() error {
	if min(l.CodesPerAskerHour, l.CodesPerAskerDay, l.CodesPerClientHour, l.CodesPerAddressDay, l.WrongPerClientHour, l.WrongPerAddressDay) < 1 {
		return errors.New("sign-in limits must be positive")
	}
	return nil
}

// budget is one counter: at most so many attempts of a subject in a window.
type budget struct {
	subject string
	window  time.Duration
	most    int
}

func (b budget) start(now time.Time) time.Time { return now.Truncate(b.window) }

// left is how long the window still lasts.
func (b budget) left(now time.Time) time.Duration { return b.start(now).Add(b.window).Sub(now) }

// spent are counters that one code has raised.
type spent struct {
	subjects []string
	windows  []time.Time
}

// spendCode counts a code that is asked for. All transactions count in the same order, so that none
// waits for another in a circle.
func (s *Service) spendCode(ctx context.Context, tx pgx.Tx, audience Audience, email string, asker Asker, now time.Time) (sum spent, err error) {
	l, whose, known := s.config.Limits, string(audience)+" "+email, s.knows(asker, email)
	own := whose + " from " + asker.network
	if known {
		own = whose + " by " + asker.name
	}
	spend := func(b budget) (attempts int, within bool, err error) {
		attempts, err = b.spend(ctx, tx, now)
		sum.subjects, sum.windows = append(sum.subjects, b.subject), append(sum.windows, b.start(now))
		return attempts, attempts <= b.most, err
	}
	hour := budget{"codes an hour of " + own, time.Hour, l.CodesPerAskerHour}
	if _, within, err := spend(hour); err != nil || !within {
		return sum, cmp.Or(err, tooMany(hour.left(now), "too many codes were asked for; try again later"))
	}
	today := budget{"codes a day of " + own, day, l.CodesPerAskerDay}
	nth, within, err := spend(today)
	if err != nil || !within {
		return sum, cmp.Or(err, tooMany(today.left(now), "too many codes were asked for; try again later"))
	}
	if known {
		return sum, nil
	}
	client := budget{"codes of client " + asker.network, time.Hour, l.CodesPerClientHour}
	if _, within, err := spend(client); err != nil || !within {
		return sum, cmp.Or(err, tooMany(client.left(now), "too many attempts from this network address; try again later"))
	}
	all := budget{"first codes a day of " + whose, day, l.CodesPerAddressDay}
	if nth > 1 {
		all = budget{"further codes a day of " + whose, day, max(1, l.CodesPerAddressDay/furtherShare)}
	}
	if _, within, err := spend(all); err != nil || !within {
		return sum, cmp.Or(err, tooMany(all.left(now), "too many codes were asked for this address; try again later, or in a browser that has signed in before"))
	}
	return sum, nil
}

func (s *Service) wrongCodes(audience Audience, email string, asker Asker) [2]budget {
	l := s.config.Limits
	return [2]budget{
		{"wrong codes of client " + asker.network, time.Hour, l.WrongPerClientHour},
		{"wrong codes a day of " + string(audience) + " " + email, day, l.WrongPerAddressDay},
	}
}

// triesOf is how often a code may be tried: five times, or once where wrong tries have added up.
func (s *Service) triesOf(ctx context.Context, tx pgx.Tx, audience Audience, email string, asker Asker, now time.Time) (int, error) {
	if s.knows(asker, email) {
		return codeTries, nil
	}
	for _, b := range s.wrongCodes(audience, email, asker) {
		var over bool
		err := tx.QueryRow(ctx, `
			SELECT EXISTS (SELECT FROM sign_in_limits WHERE subject = $1 AND window_start = $2 AND attempts >= $3)`,
			b.subject, b.start(now), b.most).Scan(&over)
		if err != nil {
			return 0, fmt.Errorf("read wrong codes: %w", err)
		}
		if over {
			return 1, nil
		}
	}
	return codeTries, nil
}

func (s *Service) spendWrong(ctx context.Context, tx pgx.Tx, audience Audience, email string, asker Asker, now time.Time) error {
	if s.knows(asker, email) {
		return nil
	}
	for _, b := range s.wrongCodes(audience, email, asker) {
		if _, err := b.spend(ctx, tx, now); err != nil {
			return err
		}
	}
	return nil
}

const (
	day           = 24 * time.Hour
	attemptTries  = 5 // of one sign-in at the company's provider
	attemptWindow = day
)

// attemptFailures counts for one sign-in at the company's provider: many people share an address.
func attemptFailures(state string) budget {
	return budget{"failures of company sign-in " + encoded(digest(state)), attemptWindow, attemptTries}
}

// querier is the pool or a transaction of it.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// spend counts one attempt in the window that holds now, and tells how many there are.
func (b budget) spend(ctx context.Context, q querier, now time.Time) (attempts int, err error) {
	err = q.QueryRow(ctx, `
		INSERT INTO sign_in_limits AS l (subject, window_start, attempts) VALUES ($1, $2, 1)
		ON CONFLICT (subject, window_start) DO UPDATE SET attempts = l.attempts + 1
		RETURNING attempts`, b.subject, b.start(now)).Scan(&attempts)
	if err != nil {
		return 0, fmt.Errorf("count sign-in attempts: %w", err)
	}
	return attempts, nil
}

// refund takes back one attempt of each, in the order they were counted in.
func (s spent) refund(ctx context.Context, q querier) error {
	for i, subject := range s.subjects {
		_, err := q.Exec(ctx, `
			UPDATE sign_in_limits SET attempts = attempts - 1
			WHERE subject = $1 AND window_start = $2 AND attempts > 0`, subject, s.windows[i])
		if err != nil {
			return fmt.Errorf("take back a sign-in attempt: %w", err)
		}
	}
	return nil
}

func tooMany(wait time.Duration, message string) error {
	return &fault.Error{Kind: fault.TooManyAttempts, Message: message, RetryAfter: max(wait, time.Second)}
}

// Network is what a client is counted under: its IPv4 address, or the /64 that one
// subscriber has of IPv6.
func Network(ip string) string {
	address, err := netip.ParseAddr(ip)
	if err != nil {
		return "unknown"
	}
	address = address.Unmap().WithZone("")
	if address.Is4() {
		return address.String()
	}
	return netip.PrefixFrom(address, 64).Masked().String()
}

const (
	housekeepingEvery = time.Hour
	endedSessionsKept = 30 * day
)

func (s *Service) keepHouse(ctx context.Context) {
	ticker := time.NewTicker(housekeepingEvery)
	defer ticker.Stop()
	for {
		if err := s.purge(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("expired sign-in data could not be removed; next try in an hour", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// purge removes what no rule looks at any more.
func (s *Service) purge(ctx context.Context) error {
	now := s.now()
	for _, step := range []struct {
		sql    string
		before time.Time
	}{
		{`DELETE FROM sign_in_limits WHERE window_start < $1`, now.Add(-2 * day)},
		{`DELETE FROM login_codes WHERE expires_at < $1`, now.Add(-time.Hour)},
		{`DELETE FROM sign_in_codes WHERE expires_at < $1`, now.Add(-time.Hour)},
		{`DELETE FROM sessions WHERE expires_at < $1 OR ended_at < $1`, now.Add(-endedSessionsKept)},
	} {
		if _, err := s.pool.Exec(ctx, step.sql, step.before); err != nil {
			return fmt.Errorf("purge sign-in data: %w", err)
		}
	}
	return nil
}
