package identity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/secret"
)

// Access is what a management token may do in its owner's name.
type Access string

// The kinds of access; a person who has signed in has neither.
const (
	ReadAccess Access = "read"
	FullAccess Access = "full"
)

const (
	maxManagementTokens   = 20                   // of one user, the expired ones included
	maxManagementLifetime = 366 * 24 * time.Hour // of a management token
	maxTokenName          = 64                   // characters
)

// ManagementToken is a token of a user's programs, without the token itself.
type ManagementToken struct {
	ID         uuid.UUID
	Name       string
	Access     Access
	Mask       string
	CreatedAt  time.Time
	ExpiresAt  time.Time  // from then on it is refused
	LastUsedAt *time.Time // to a minute; nil: never
}

// ManagementTokenDraft is what a management token is to be.
type ManagementTokenDraft struct{ Name, Access, ExpiresAt string }

// check reads a draft, and tells everything that is wrong with it.
func (d ManagementTokenDraft) check(now time.Time) (t ManagementToken, err error) {
	wrong := fault.Fields{}
	t = ManagementToken{Name: strings.TrimSpace(d.Name), Access: Access(d.Access), CreatedAt: now}
	wrong.Name("name", t.Name, 1, maxTokenName)
	if t.Access != ReadAccess && t.Access != FullAccess {
		wrong.Add("access", "must be read or full")
	}
	end, malformed := time.Parse(time.RFC3339, d.ExpiresAt)
	t.ExpiresAt = end.Truncate(time.Millisecond)
	switch {
	case d.ExpiresAt == "":
		wrong.Add("expiresAt", "is required")
	case malformed != nil:
		wrong.Add("expiresAt", "must be a time of the form 2026-08-17T14:05:00+08:00")
	case !t.ExpiresAt.After(now) || t.ExpiresAt.After(now.Add(maxManagementLifetime)):
		wrong.Add("expiresAt", "must be later than now, and at most 366 days ahead")
	}
	return t, wrong.Err()
}

const ofOwner = `
	SELECT id, name, access, mask, created_at, expires_at, last_used_at FROM management_tokens WHERE owner_id = $1`

// ManagementTokens lists the management tokens of a user, the newest first; expired ones are there until they are revoked or
// their place is needed.
func (s *Service) ManagementTokens(ctx context.Context, userID uuid.UUID) ([]ManagementToken, error) {
	return managementTokens(ctx, s.pool, userID)
}

type rowsQuerier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func managementTokens(ctx context.Context, q rowsQuerier, userID uuid.UUID) ([]ManagementToken, error) {
	rows, err := q.Query(ctx, ofOwner+` ORDER BY created_at DESC, id DESC`, userID)
	if err != nil {
		return nil, fmt.Errorf("list management tokens: %w", err)
	}
	tokens, err := pgx.CollectRows(rows, pgx.RowToStructByPos[ManagementToken])
	if err != nil {
		return nil, fmt.Errorf("list management tokens: %w", err)
	}
	return tokens, nil
}

// CreateManagementToken gives who, a developer, one more management token, and the token itself, which is kept nowhere. Where
// there are as many as there may be, the one that expired first goes. Faults: Invalid; Conflict with none expired.
func (s *Service) CreateManagementToken(ctx context.Context, who Principal, draft ManagementTokenDraft) (t ManagementToken, token string, err error) {
	now := s.now().Truncate(time.Millisecond)
	if t, err = draft.check(now); err != nil {
		return ManagementToken{}, "", err
	}
	if t.ID, err = uuid.NewV7(); err != nil {
		return ManagementToken{}, "", fmt.Errorf("new token id: %w", err)
	}
	token = s.config.Pepper.MintToken()
	t.Mask = secret.MaskToken(token)
	lookup := s.config.Pepper.Lookup(token)
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := makeRoomForToken(ctx, tx, who, now); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO management_tokens (id, owner_id, name, access, lookup, mask, created_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, t.ID, who.UserID, t.Name, t.Access, lookup[:], t.Mask, t.CreatedAt, t.ExpiresAt)
		if err != nil {
			return fmt.Errorf("store management token: %w", err)
		}
		return audit.Append(ctx, tx, tokenEntry(who, "token.create", t, audit.Changes{
			{Field: "access", To: t.Access}, {Field: "expiresAt", To: beijing.Format(t.ExpiresAt)},
		}))
	})
	if err != nil {
		return ManagementToken{}, "", err
	}
	return t, token, nil
}

// makeRoomForToken takes the token that expired first when there is no room for one more. The owner's row is locked, so that two
// at once do not both take the last place.
func makeRoomForToken(ctx context.Context, tx pgx.Tx, who Principal, now time.Time) error {
	if _, err := tx.Exec(ctx, `SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE`, who.UserID); err != nil {
		return fmt.Errorf("lock owner: %w", err)
	}
	tokens, err := managementTokens(ctx, tx, who.UserID)
	if err != nil || len(tokens) < maxManagementTokens {
		return err
	}
	oldest := tokens[0]
	for _, t := range tokens {
		if t.ExpiresAt.Before(oldest.ExpiresAt) {
			oldest = t
		}
	}
	if oldest.ExpiresAt.After(now) {
		return fault.New(fault.Conflict, "the account has %d management tokens, which is the most, and none has expired; revoke one that is not needed", len(tokens))
	}
	return removeToken(ctx, tx, who, oldest)
}

// RevokeManagementToken ends a management token of who, a developer: its next request is refused. One that is not there, or
// somebody else's, is NotFound.
func (s *Service) RevokeManagementToken(ctx context.Context, who Principal, id uuid.UUID) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, ofOwner+` AND id = $2 FOR UPDATE`, who.UserID, id)
		if err != nil {
			return fmt.Errorf("read management token: %w", err)
		}
		t, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[ManagementToken])
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return fault.Absent()
		case err != nil:
			return fmt.Errorf("read management token: %w", err)
		}
		return removeToken(ctx, tx, who, t)
	})
}

func removeToken(ctx context.Context, tx pgx.Tx, who Principal, t ManagementToken) error {
	if _, err := tx.Exec(ctx, `DELETE FROM management_tokens WHERE id = $1`, t.ID); err != nil {
		return fmt.Errorf("delete management token: %w", err)
	}
	return audit.Append(ctx, tx, tokenEntry(who, "token.revoke", t, audit.Changes{
		{Field: "access", From: t.Access}, {Field: "expiresAt", From: beijing.Format(t.ExpiresAt)},
	}))
}

func tokenEntry(who Principal, action string, t ManagementToken, changes audit.Changes) audit.Entry {
	return audit.Entry{Actor: who.Email, Action: action, TargetType: "token", TargetID: t.ID.String(), TargetName: t.Name, Changes: changes}
}

// verifyManagementToken tells whom a management token speaks for. It is looked up on every use, so that its end holds on every
// node at the next request, and its owner's address must still be one that may sign in. Guesses are told by their checksum.
func (s *Service) verifyManagementToken(ctx context.Context, audience Audience, token string) (Principal, error) {
	refused := fault.New(fault.BadCredential, "the management token is unknown, revoked or has expired; make a new one in the console")
	if !s.config.Pepper.WellFormedToken(token) {
		return Principal{}, refused
	}
	now, lookup := s.now(), s.config.Pepper.Lookup(token)
	who := Principal{Audience: Developer}
	var id uuid.UUID
	var lastUsed *time.Time
	err := s.pool.QueryRow(ctx, `
		SELECT t.id, t.access, t.last_used_at, u.id, u.email FROM management_tokens t JOIN users u ON u.id = t.owner_id
		WHERE t.lookup = $1 AND t.expires_at > $2`, lookup[:], now).Scan(&id, &who.Access, &lastUsed, &who.UserID, &who.Email)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && !s.mayLogIn(Developer, who.Email):
		return Principal{}, refused
	case err != nil:
		return Principal{}, fmt.Errorf("read management token: %w", err)
	case audience == Admin:
		return Principal{}, notAdministrator()
	}
	if lastUsed == nil || now.Sub(*lastUsed) >= touchEvery {
		s.touchManagementToken(ctx, id, now)
	}
	return who, nil
}

// touchManagementToken notes the use of a management token, as touch that of a session: of many requests at once, one.
func (s *Service) touchManagementToken(ctx context.Context, id uuid.UUID, now time.Time) {
	_, err := s.pool.Exec(ctx, `UPDATE management_tokens SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= $3)`,
		id, now, now.Add(-touchEvery))
	if err != nil {
		s.log.WarnContext(ctx, "the use of a management token could not be noted", "error", err)
	}
}
