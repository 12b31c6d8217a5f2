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

// Limits bound how often sign-in may be tried, in fixed windows of an hour or a day. They hold for
// all nodes together. With five tries per code, a day of guessing at one address has a chance of
// CodesPerAddressDay × 5 in a million.
type Limits struct {
	CodesPerAddressHour   int // 10
	CodesPerAddressDay    int // 30
	CodesPerClientHour    int // 60, requests for codes from one client address
	FailuresPerClientHour int // 30, refused sign-ins from one client address
}

const day = 24 * time.Hour

// querier is the pool or a transaction of it.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// count adds one attempt of the subject to the window that holds now and returns how many that makes.
func count(ctx context.Context, q querier, subject string, now time.Time, window time.Duration) (int, error) {
	var attempts int
	err := q.QueryRow(ctx, `
		INSERT INTO sign_in_limits AS l (subject, window_start, attempts) VALUES ($1, $2, 1)
		ON CONFLICT (subject, window_start) DO UPDATE SET attempts = l.attempts + 1
		RETURNING attempts`, subject, now.Truncate(window)).Scan(&attempts)
	if err != nil {
		return 0, fmt.Errorf("count sign-in attempts: %w", err)
	}
	return attempts, nil
}

// countClient counts an attempt of a client address against most attempts an hour; above it the
// fault is TooManyAttempts until the window ends.
func (s *Service) countClient(ctx context.Context, subject string, now time.Time, most int) error {
	attempts, err := count(ctx, s.pool, subject, now, time.Hour)
	if err != nil || attempts <= most {
		return err
	}
	return tooMany(now.Truncate(time.Hour).Add(time.Hour).Sub(now), "too many attempts from this network address; try again later")
}

// forgive takes back an attempt counted at now.
func (s *Service) forgive(ctx context.Context, q querier, subject string, now time.Time) error {
	_, err := q.Exec(ctx, `
		UPDATE sign_in_limits SET attempts = attempts - 1
		WHERE subject = $1 AND window_start = $2 AND attempts > 0`, subject, now.Truncate(time.Hour))
	if err != nil {
		return fmt.Errorf("take back a sign-in attempt: %w", err)
	}
	return nil
}

func tooMany(wait time.Duration, message string) error {
	return &fault.Error{Kind: fault.TooManyAttempts, Message: message, RetryAfter: max(wait, time.Second)}
}

// clientOf is the network a client is counted under: its IPv4 address, or the /64 that one
// subscriber has of IPv6.
func clientOf(ip string) string {
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
