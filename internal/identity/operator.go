package identity

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/fault"
)

// operatorAsker has the codes that operators make: they are good for whoever holds them.
const operatorAsker = "operator"

// OperatorCode makes a code by which an administrator signs in once, within five minutes and from anywhere, though no mail can be
// sent. It ends after five wrong tries by anybody, and when the next one is made. The audit trail has it as actor's. Faults: Invalid
// for an address that is no administrator's.
func (s *Service) OperatorCode(ctx context.Context, email, actor string) (code string, expires time.Time, err error) {
	if email, err = requestedEmail(email); err != nil {
		return "", expires, err
	}
	if !s.mayLogIn(Admin, email) {
		return "", expires, fault.New(fault.Invalid, "%s is not among ADMIN_EMAILS", email)
	}
	code = newCode()
	now := s.now()
	expires = now.Add(codeTTL)
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO sign_in_codes (audience, email, asker, code_hash, sent_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (audience, email, asker) DO UPDATE
			SET code_hash = excluded.code_hash, sent_at = excluded.sent_at, expires_at = excluded.expires_at, attempts = 0`,
			Admin, email, operatorAsker, s.hashCode(Admin, email, code), now, expires)
		if err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Entry{
			Actor: actor, Action: "administrator.sign_in_code", TargetType: "administrator", TargetID: email, TargetName: email,
		})
	})
	if err != nil {
		return "", expires, fmt.Errorf("store an operator's code: %w", err)
	}
	return code, expires, nil
}

// redeemOperatorCode uses up the code that an operator made, or counts a wrong try of it.
func (s *Service) redeemOperatorCode(ctx context.Context, tx pgx.Tx, email, code string, now time.Time) (redeemed bool, err error) {
	hashes := make([][]byte, len(s.keys))
	for i, key := range s.keys {
		hashes[i] = hashCodeUnder(key.secret, Admin, email, code)
	}
	tag, err := tx.Exec(ctx, `
		DELETE FROM sign_in_codes WHERE audience = $1 AND email = $2 AND asker = $3 AND code_hash = ANY($4) AND attempts < $5 AND expires_at > $6`,
		Admin, email, operatorAsker, hashes, codeTries, now)
	if err == nil && tag.RowsAffected() == 0 {
		_, err = tx.Exec(ctx, `UPDATE sign_in_codes SET attempts = attempts + 1 WHERE audience = $1 AND email = $2 AND asker = $3`, Admin, email, operatorAsker)
	}
	if err != nil {
		return false, fmt.Errorf("use an operator's code: %w", err)
	}
	return tag.RowsAffected() != 0, nil
}
