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
	"callgate/internal/fault"
)

// maxSought is how many characters a text may have that is searched for.
const maxSought = 64

// User is a developer's account, as administrators see it.
type User struct {
	ID           uuid.UUID
	Email        string
	CreatedAt    time.Time
	LastSignInAt *time.Time // nil: never here, as with the tokens of a company login alone
	Sessions     int64      // that are live
	Applications int64
}

const userColumns = `
	SELECT u.id, u.email, u.created_at, u.last_sign_in_at,
	       (SELECT count(*) FROM sessions s WHERE s.user_id = u.id AND s.ended_at IS NULL AND s.expires_at > $1),
	       (SELECT count(*) FROM applications a WHERE a.owner_id = u.id)
	FROM users u`

// Users gives one page of those users whose e-mail address has text in it, whatever the case, by their addresses, and
// how many there are. page counts from 1; one past the end is empty. Faults: Invalid.
func (s *Service) Users(ctx context.Context, text string, page, size int) ([]User, int, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	wrong := fault.Fields{}
	wrong.Text("q", text, 0, maxSought)
	if err := wrong.Err(); err != nil {
		return nil, 0, err
	}
	var total int
	if err := s.pool.QueryRow(ctx, `SELECT count(*) FROM users WHERE position($1 in email) > 0`, text).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count users: %w", err)
	}
	rows, err := s.pool.Query(ctx, userColumns+` WHERE position($2 in u.email) > 0 ORDER BY u.email LIMIT $3 OFFSET $4`,
		s.now(), text, size, int64(page-1)*int64(size))
	if err != nil {
		return nil, 0, fmt.Errorf("list users: %w", err)
	}
	users, err := pgx.CollectRows(rows, pgx.RowToStructByPos[User])
	if err != nil {
		return nil, 0, fmt.Errorf("list users: %w", err)
	}
	return users, total, nil
}

// EndSessions ends every live session of a user for an administrator, with every token they have been given, and gives
// the user as it is then. That there was none is no fault, and leaves no entry in the audit trail. Tokens of a company
// login are not given here and not ended. Faults: NotFound.
func (s *Service) EndSessions(ctx context.Context, administrator string, userID uuid.UUID) (u User, err error) {
	now := s.now()
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE sessions SET ended_at = $2 WHERE user_id = $1 AND ended_at IS NULL AND expires_at > $2`, userID, now)
		if err != nil {
			return fmt.Errorf("end sessions: %w", err)
		}
		rows, err := tx.Query(ctx, userColumns+` WHERE u.id = $2`, now, userID)
		if err == nil {
			u, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[User])
		}
		switch ended := tag.RowsAffected(); {
		case errors.Is(err, pgx.ErrNoRows):
			return fault.Absent()
		case err != nil:
			return fmt.Errorf("user whose sessions end: %w", err)
		case ended == 0:
			return nil
		default:
			return audit.Append(ctx, tx, audit.Entry{
				Actor: administrator, Action: "user.end_sessions", TargetType: "user", TargetID: u.ID.String(), TargetName: u.Email,
				Changes: audit.Changes{{Field: "sessions", From: ended, To: u.Sessions}},
			})
		}
	})
	return u, err
}
