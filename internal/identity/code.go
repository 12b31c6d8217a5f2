package identity

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"callgate/internal/fault"
)

const (
	codeDigits  = 6
	codeTTL     = 5 * time.Minute
	codeTries   = 5
	resendAfter = time.Minute
)

// SendCode mails a login code to email, valid for 5 minutes and 5 tries of this asker. The answer is
// the same, after the same work, whether or not the address may sign in, and whether or not another
// mail goes out (none does within 60 s of the asker's last, which is still good): it tells nothing about
// the address. Faults: Invalid for what is no address, TooManyAttempts when nothing was sent because a
// limit is reached (see Limits), Unavailable when the mail queue is full.
func (s *Service) SendCode(ctx context.Context, audience Audience, email string, asker Asker) error {
	email, err := requestedEmail(email)
	if err != nil {
		return err
	}
	code := newCode()
	send, err := s.storeCode(ctx, audience, email, code, asker, s.now())
	if err != nil || !send {
		return err
	}
	// An address that may not sign in takes the same way through the queue and is silenced there.
	l := letter{request: context.WithoutCancel(ctx), audience: audience, to: email, code: code, silent: !s.mayLogIn(audience, email)}
	if !s.outbox.offer(l) {
		return &fault.Error{Kind: fault.Unavailable, Message: "mail cannot be sent now; try again later", RetryAfter: resendAfter}
	}
	return nil
}

// storeCode makes code the one live code of the asker for the address, unless the last one is too young
// or a limit is reached; then the last one stays as good as it was.
func (s *Service) storeCode(ctx context.Context, audience Audience, email, code string, asker Asker, now time.Time) (stored bool, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			INSERT INTO sign_in_codes AS c (audience, email, asker, code_hash, sent_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (audience, email, asker) DO UPDATE
			SET code_hash = excluded.code_hash, sent_at = excluded.sent_at, expires_at = excluded.expires_at, attempts = 0
			WHERE c.sent_at <= $7`,
			audience, email, asker.name, s.hashCode(audience, email, code), now, now.Add(codeTTL), now.Add(-resendAfter))
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		stored = true
		spent, err := s.spendCode(ctx, tx, audience, email, asker, now)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE sign_in_codes SET spent_subjects = $4, spent_windows = $5 WHERE audience = $1 AND email = $2 AND asker = $3`,
			audience, email, asker.name, spent.subjects, spent.windows)
		return err
	})
	if fault.KindOf(err) == fault.TooManyAttempts {
		s.log.WarnContext(ctx, "a login code was not sent, a limit is reached", "audience", audience, "network", asker.network, "error", err)
		return false, err
	}
	if err != nil {
		return false, fmt.Errorf("store login code: %w", err)
	}
	return stored, nil
}

// liveCode is a code as it was stored.
type liveCode struct {
	hash              []byte
	attempts          int
	sentAt, expiresAt time.Time
	spent             spent
}

// redeemCode proves code and uses it up, under the lock of its row: of parallel sign-ins with one
// code exactly one succeeds, and no try goes uncounted. A refused try is counted by committing tx.
func (s *Service) redeemCode(ctx context.Context, tx pgx.Tx, audience Audience, email, code string, asker Asker, now time.Time) (refusal, err error) {
	if audience == Admin && s.mayLogIn(Admin, email) {
		if redeemed, err := s.redeemOperatorCode(ctx, tx, email, code, now); err != nil || redeemed {
			return nil, err
		}
	}
	var live liveCode
	err = tx.QueryRow(ctx, `
		SELECT code_hash, attempts, sent_at, expires_at, spent_subjects, spent_windows FROM sign_in_codes
		WHERE audience = $1 AND email = $2 AND asker = $3 FOR UPDATE`, audience, email, asker.name).
		Scan(&live.hash, &live.attempts, &live.sentAt, &live.expiresAt, &live.spent.subjects, &live.spent.windows)
	matches := s.codeMatches(live.hash, audience, email, code)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return wrongCode(), nil
	case err != nil:
		return nil, fmt.Errorf("read login code: %w", err)
	case !now.Before(live.expiresAt):
		return wrongCode(), nil
	}
	tries, err := s.triesOf(ctx, tx, audience, email, asker, now)
	switch {
	case err != nil:
		return nil, err
	case live.attempts >= tries:
		return tooMany(live.sentAt.Add(resendAfter).Sub(now), "too many tries; ask for a new code"), nil
	case !matches || !s.mayLogIn(audience, email):
		_, err = tx.Exec(ctx, `
			UPDATE sign_in_codes SET attempts = attempts + 1 WHERE audience = $1 AND email = $2 AND asker = $3`,
			audience, email, asker.name)
		refusal = wrongCode()
		if err == nil {
			err = s.spendWrong(ctx, tx, audience, email, asker, now)
		}
	default:
		_, err = tx.Exec(ctx, `DELETE FROM sign_in_codes WHERE audience = $1 AND email = $2 AND asker = $3`, audience, email, asker.name)
		if err == nil {
			err = live.spent.refund(ctx, tx)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("use login code: %w", err)
	}
	return refusal, nil
}

func wrongCode() error {
	return fault.New(fault.BadCredential, "the code is wrong or has expired")
}

// hashCode binds a code to its audience and address. Six digits are no secret to whoever can try
// them all, so the hash is keyed: a copy of the table alone proves nothing.
func (s *Service) hashCode(audience Audience, email, code string) []byte {
	return hashCodeUnder(s.keys[0].secret, audience, email, code)
}

// codeMatches tries every secret, always all of them: a code that was mailed before the secrets
// changed still proves its address.
func (s *Service) codeMatches(hash []byte, audience Audience, email, code string) bool {
	matches := false
	for _, key := range s.keys {
		if hmac.Equal(hash, hashCodeUnder(key.secret, audience, email, code)) {
			matches = true
		}
	}
	return matches
}

func hashCodeUnder(secret []byte, audience Audience, email, code string) []byte {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte(strings.Join([]string{"login code", string(audience), email, code}, "\x00")))
	return mac.Sum(nil)
}

// newCode draws six digits, all equally likely.
func newCode() string {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	return fmt.Sprintf("%0*d", codeDigits, n)
}
