package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/fault"
)

const (
	sessionBytes     = 32 // random bytes of a session token
	sessionTokenSize = 43 // characters of it in base64url
	maxUserAgent     = 256
	touchEvery       = time.Minute
)

// Session is one live sign-in, as its owner sees it.
type Session struct {
	ID         uuid.UUID
	CreatedAt  time.Time
	LastUsedAt time.Time // to a minute
	UserAgent  string    // at most 256 characters
	Current    bool      // the one that asks
}

type liveSession struct {
	who                 Principal
	lastUsed, expiresAt time.Time
}

// openSession stores a new session of who, its token only as a hash.
func (s *Service) openSession(ctx context.Context, tx pgx.Tx, who Principal, userAgent string, now time.Time) (token string, expires time.Time, err error) {
	raw := make([]byte, sessionBytes)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	token = base64.RawURLEncoding.EncodeToString(raw)
	expires = now.Add(s.config.sessionTTL(who.Audience))
	var user *uuid.UUID
	if who.Audience == Developer {
		user = &who.UserID
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO sessions (id, audience, user_id, email, token_hash, user_agent, created_at, last_used_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8)`,
		who.SessionID, who.Audience, user, who.Email, hashSession(token), printable(userAgent), now, expires)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("store session: %w", err)
	}
	return token, expires, nil
}

// A session token has 256 random bits, so a plain hash is enough.
func hashSession(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// printable makes a header fit for storing and showing.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > maxUserAgent {
		return string(runes[:maxUserAgent])
	}
	return text
}

const selectLive = `
	SELECT id, audience, COALESCE(user_id, '00000000-0000-0000-0000-000000000000'), email, last_used_at, expires_at
	FROM sessions WHERE ended_at IS NULL AND expires_at > $1 AND `

func (s *Service) sessionByID(ctx context.Context, id uuid.UUID) (liveSession, bool, error) {
	return s.findSession(ctx, selectLive+`id = $2`, id)
}

func (s *Service) sessionByToken(ctx context.Context, token string) (liveSession, bool, error) {
	if len(token) != sessionTokenSize {
		return liveSession{}, false, nil
	}
	return s.findSession(ctx, selectLive+`token_hash = $2`, hashSession(token))
}

func (s *Service) findSession(ctx context.Context, sql string, key any) (live liveSession, found bool, err error) {
	err = s.pool.QueryRow(ctx, sql, s.now(), key).Scan(&live.who.SessionID, &live.who.Audience,
		&live.who.UserID, &live.who.Email, &live.lastUsed, &live.expiresAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return liveSession{}, false, nil
	}
	if err != nil {
		return liveSession{}, false, fmt.Errorf("read session: %w", err)
	}
	return live, true, nil
}

// admit lets a live session through to the interface of audience, and notes its use.
func (s *Service) admit(ctx context.Context, audience Audience, live liveSession) (Principal, error) {
	switch {
	case live.who.Audience == Developer && audience == Admin:
		return Principal{}, notAdministrator()
	case live.who.Audience != audience:
		return Principal{}, badToken(nil)
	case audience == Admin && !s.mayLogIn(Admin, live.who.Email):
		return Principal{}, notAdministrator()
	}
	s.touch(ctx, live)
	return live.who, nil
}

func notAdministrator() error {
	return fault.New(fault.NotAdministrator, "this is for administrators")
}

// touch notes the use of a session, at most once a minute. It is for its owner's eyes only, so a
// failure refuses nobody.
func (s *Service) touch(ctx context.Context, live liveSession) {
	now := s.now()
	if now.Sub(live.lastUsed) < touchEvery {
		return
	}
	_, err := s.pool.Exec(ctx, `UPDATE sessions SET last_used_at = $2 WHERE id = $1 AND last_used_at < $2`, live.who.SessionID, now)
	if err != nil {
		s.log.WarnContext(ctx, "the use of a session could not be noted", "error", err)
	}
}

// VerifySession tells who a session token (the cookie) speaks for. Faults: Unauthenticated without
// a token, NotAdministrator when ADMIN_EMAILS no longer lists the address, else BadCredential.
func (s *Service) VerifySession(ctx context.Context, audience Audience, sessionToken string) (Principal, error) {
	live, err := s.liveSession(ctx, audience, sessionToken)
	return live.who, err
}

func (s *Service) liveSession(ctx context.Context, audience Audience, token string) (liveSession, error) {
	if token == "" {
		return liveSession{}, fault.New(fault.Unauthenticated, "sign in first: the session cookie is missing")
	}
	live, found, err := s.sessionByToken(ctx, token)
	if err != nil {
		return liveSession{}, err
	}
	// A cookie never leads to the other interface, so there is nothing to tell apart here.
	if !found || live.who.Audience != audience {
		return liveSession{}, fault.New(fault.BadCredential, "the session has ended; sign in again")
	}
	if _, err := s.admit(ctx, audience, live); err != nil {
		return liveSession{}, err
	}
	return live, nil
}

// Sessions lists the live sessions of a user, the last used first.
func (s *Service) Sessions(ctx context.Context, userID, current uuid.UUID) ([]Session, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT id, created_at, last_used_at, user_agent, id = $2 AS current FROM sessions
		WHERE user_id = $1 AND ended_at IS NULL AND expires_at > $3
		ORDER BY last_used_at DESC, id DESC`, userID, current, s.now())
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	sessions, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Session])
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return sessions, nil
}

// EndSession ends a session of the user, and with it every token it has been given. A session that
// is not live, or somebody else's, is NotFound.
func (s *Service) EndSession(ctx context.Context, userID, id uuid.UUID) error {
	now := s.now()
	tag, err := s.pool.Exec(ctx, `
		UPDATE sessions SET ended_at = $3
		WHERE id = $2 AND user_id = $1 AND ended_at IS NULL AND expires_at > $3`, userID, id, now)
	if err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return fault.Absent()
	}
	return nil
}
