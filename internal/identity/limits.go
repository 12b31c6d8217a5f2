package identity

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"callgate/internal/fault"
)

// Limits bound how often sign-in may be tried, in fixed windows of an hour or a day, for all nodes
// together. A sign-in that succeeds takes back what it counted, so only what led nowhere adds up.
// With five tries per code, a day of guessing at one address has a chance of CodesPerAddressDay × 5
// in a million.
type Limits struct {
	CodesPerAddressHour   int // 10
	CodesPerAddressDay    int // 30
	CodesPerClientHour    int // 60, requests for codes from one client address
	FailuresPerClientHour int // 30, refused sign-ins from one client address
}

// budget is one counter: at most so many attempts of a subject in a window.
type budget struct {
	subject string
	window  time.Duration
	most    int
}

func (s *Service) clientCodes(clientIP string) budget {
	return budget{"codes of client " + Network(clientIP), time.Hour, s.config.Limits.CodesPerClientHour}
}

func (s *Service) clientFailures(clientIP string) budget {
	return budget{"failures of client " + Network(clientIP), time.Hour, s.config.Limits.FailuresPerClientHour}
}

func (s *Service) addressCodes(audience Audience, email string) [2]budget {
	whose := string(audience) + " " + email
	return [2]budget{
		{"codes an hour of " + whose, time.Hour, s.config.Limits.CodesPerAddressHour},
		{"codes a day of " + whose, day, s.config.Limits.CodesPerAddressDay},
	}
}

const day = 24 * time.Hour

// querier is the pool or a transaction of it.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// spend counts one attempt in the window that holds now, and tells whether it is within the budget.
func (b budget) spend(ctx context.Context, q querier, now time.Time) (within bool, err error) {
	var attempts int
	err = q.QueryRow(ctx, `
		INSERT INTO sign_in_limits AS l (subject, window_start, attempts) VALUES ($1, $2, 1)
		ON CONFLICT (subject, window_start) DO UPDATE SET attempts = l.attempts + 1
		RETURNING attempts`, b.subject, now.Truncate(b.window)).Scan(&attempts)
	if err != nil {
		return false, fmt.Errorf("count sign-in attempts: %w", err)
	}
	return attempts <= b.most, nil
}

// refund takes back one attempt.
func (b budget) refund(ctx context.Context, q querier, now time.Time) error {
	_, err := q.Exec(ctx, `
		UPDATE sign_in_limits SET attempts = attempts - 1
		WHERE subject = $1 AND window_start = $2 AND attempts > 0`, b.subject, now.Truncate(b.window))
	if err != nil {
		return fmt.Errorf("take back a sign-in attempt: %w", err)
	}
	return nil
}

// demand spends from a client's budget; above it the fault is TooManyAttempts until the window ends.
func (s *Service) demand(ctx context.Context, b budget, now time.Time) error {
	within, err := b.spend(ctx, s.pool, now)
	if err != nil || within {
		return err
	}
	return tooMany(now.Truncate(b.window).Add(b.window).Sub(now), "too many attempts from this network address; try again later")
}

// refundSignIn takes back what a sign-in that succeeded has counted.
func (s *Service) refundSignIn(ctx context.Context, q querier, audience Audience, email, clientIP string, now time.Time) error {
	address := s.addressCodes(audience, email)
	for _, b := range []budget{s.clientFailures(clientIP), s.clientCodes(clientIP), address[0], address[1]} {
		if err := b.refund(ctx, q, now); err != nil {
			return err
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
		{`DELETE FROM sessions WHERE expires_at < $1 OR ended_at < $1`, now.Add(-endedSessionsKept)},
	} {
		if _, err := s.pool.Exec(ctx, step.sql, step.before); err != nil {
			return fmt.Errorf("purge sign-in data: %w", err)
		}
	}
	return nil
}
