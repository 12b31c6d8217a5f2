package identity

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/fault"
)

// SignIn is a successful sign-in. SessionToken is shown this once only.
type SignIn struct {
	Token          Token
	SessionToken   string
	SessionExpires time.Time
	Browser        string // the cookie by which this browser is known from now on, see Browser
	Principal      Principal
}

// LogIn exchanges the code that was mailed to email for a session and a token; a developer's user
// is made at the first sign-in. Faults: Invalid for what is no address or no code, BadCredential
// for a code that is wrong, used, expired or another asker's, TooManyAttempts for the sixth try of one
// code (the second, where wrong tries have added up, see Limits).
func (s *Service) LogIn(ctx context.Context, audience Audience, email, code string, asker Asker, userAgent string) (SignIn, error) {
	email, err := requestedEmail(email)
	if err != nil {
		return SignIn{}, err
	}
	if code = strings.TrimSpace(code); code == "" {
		return SignIn{}, fault.InvalidFields(map[string]string{"code": "is required"})
	}
	now := s.now()
	var in SignIn
	var refusal error
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		if refusal, err = s.redeemCode(ctx, tx, audience, email, code, asker, now); err != nil || refusal != nil {
			return err
		}
		if in, err = s.open(ctx, tx, audience, email, userAgent, now); err != nil || audience != Admin {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{
			Actor: email, Action: "administrator.sign_in", TargetType: "administrator", TargetID: email, TargetName: email,
		})
	})
	if err != nil {
		return SignIn{}, fmt.Errorf("sign in: %w", err)
	}
	if refusal != nil {
		return SignIn{}, refusal
	}
	in.Browser = s.provenBrowser(audience, email)
	return in, nil
}

func (s *Service) open(ctx context.Context, tx pgx.Tx, audience Audience, email, userAgent string, now time.Time) (in SignIn, err error) {
	in.Principal = Principal{Email: email, SessionID: newID(), Audience: audience}
	if audience == Developer {
		if in.Principal.UserID, err = userOf(ctx, tx, email, now); err != nil {
			return SignIn{}, err
		}
	}
	in.SessionToken, in.SessionExpires, err = s.openSession(ctx, tx, in.Principal, userAgent, now)
	if err != nil {
		return SignIn{}, err
	}
	in.Token, err = s.sign(in.Principal, in.SessionExpires)
	return in, err
}

// userOf returns the id of the user with that address, who is made when new.
func userOf(ctx context.Context, q querier, email string, now time.Time) (id uuid.UUID, err error) {
	// The update changes nothing; it makes an existing row come back.
	err = q.QueryRow(ctx, `
		INSERT INTO users (id, email, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (email) DO UPDATE SET email = excluded.email
		RETURNING id`, newID(), email, now).Scan(&id)
	if err != nil {
		return uuid.Nil, fmt.Errorf("store user: %w", err)
	}
	return id, nil
}

// newID is a UUIDv7, so that rows are stored in the order they are made.
func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// Renew gives a fresh token for a live session. Faults as VerifySession.
func (s *Service) Renew(ctx context.Context, audience Audience, sessionToken string) (Token, Principal, error) {
	live, err := s.liveSession(ctx, audience, sessionToken)
	if err != nil {
		return Token{}, Principal{}, err
	}
	token, err := s.sign(live.who, live.expiresAt)
	if err != nil {
		return Token{}, Principal{}, fmt.Errorf("sign token: %w", err)
	}
	return token, live.who, nil
}

// LogOut ends the session, and with it every token it has been given. Faults: Unauthenticated
// without a session token, BadCredential when the session has already ended.
func (s *Service) LogOut(ctx context.Context, audience Audience, sessionToken string) error {
	if sessionToken == "" {
		return fault.New(fault.Unauthenticated, "the session cookie is missing")
	}
	now := s.now()
	tag, err := s.pool.Exec(ctx, `
		UPDATE sessions SET ended_at = $3
		WHERE token_hash = $1 AND audience = $2 AND ended_at IS NULL AND expires_at > $3`,
		hashSession(sessionToken), audience, now)
	if err != nil {
		return fmt.Errorf("sign out: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return fault.New(fault.BadCredential, "the session has already ended")
	}
	return nil
}
