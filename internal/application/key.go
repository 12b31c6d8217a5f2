package application

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/secret"
)

func (s *Store) insertKey(ctx context.Context, tx pgx.Tx, id uuid.UUID, key string) error {
	lookup := s.pepper.Lookup(key)
	_, err := tx.Exec(ctx, `INSERT INTO access_keys (application_id, lookup, sealed, mask) VALUES ($1, $2, $3, $4)`,
		id, lookup[:], s.seal(id, key), secret.Mask(key))
	if err != nil {
		return fmt.Errorf("insert access key: %w", err)
	}
	return nil
}

func (s *Store) seal(id uuid.UUID, key string) []byte {
	return s.ring.Seal([]byte(key), secret.AccessKeyContext(id.String()))
}

// RevealKey gives the Access Key, which is the application's first key, in full. actor, an e-mail address, is recorded
// as its reader; what cannot be recorded is not revealed.
func (s *Store) RevealKey(ctx context.Context, owner, id uuid.UUID, actor string) (string, error) {
	return s.reveal(ctx, owner, id, actor, `k.first`)
}

// MaxOverlap is how long the old key may stay beside the new one at most.
const MaxOverlap = 72 * time.Hour

// RotateKey replaces the Access Key and gives the new one, which takes over its name, its networks and its end if that
// is still to come. Without an overlap the old key stops within two seconds; with one it is an
// additional key from now on, which counts as every other, and expires by itself. Where there is no room for it,
// CreateKey's rule holds. actor is recorded.
func (s *Store) RotateKey(ctx context.Context, owner, id uuid.UUID, actor string, overlap time.Duration) (key string, err error) {
	if overlap < 0 || overlap > MaxOverlap {
		return "", fault.InvalidFields(map[string]string{"overlapHours": fmt.Sprintf("must be an integer from %d to %d", 0, int(MaxOverlap/time.Hour))})
	}
	key = s.pepper.Mint()
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		held, err := lock(ctx, tx, owner, id)
		if err != nil {
			return err
		}
		changes := audit.Changes{{Field: "accessKey", To: audit.Secret}}
		if overlap > 0 {
			until, err := s.keepOldKey(ctx, tx, owner, id, actor, held, overlap)
			if err != nil {
				return err
			}
			changes.Add("oldKeyUntil", nil, until)
		}
		lookup := s.pepper.Lookup(key)
		_, err = tx.Exec(ctx, `
			UPDATE access_keys SET lookup = $2, sealed = $3, mask = $4, created_at = clock_timestamp()
			WHERE application_id = $1`, id, lookup[:], s.seal(id, key), secret.Mask(key)) // a trigger gives it another id
		if err != nil {
			return fmt.Errorf("rotate access key: %w", err)
		}
		_, err = tx.Exec(ctx, `UPDATE applications SET updated_at = clock_timestamp() WHERE id = $1`, id)
		if err != nil {
			return fmt.Errorf("rotate access key: %w", err)
		}
		entry := keyEntry(actor, "access_key.rotate", id, held.name)
		entry.Changes = changes
		return audit.Append(ctx, tx, entry)
	})
	if err != nil {
		return "", err
	}
	return key, nil
}

// keepOldKey makes the first key an additional one, that expires after the overlap, and tells when. One that has
// expired already is not kept: until is nil.
func (s *Store) keepOldKey(ctx context.Context, tx pgx.Tx, owner, id uuid.UUID, actor string, held locked, overlap time.Duration) (until any, err error) {
	keys, err := keysOf(ctx, tx, owner, id)
	if err != nil {
		return nil, err
	}
	old, now := keys[0], time.Now()
	if old.expired(now) {
		return nil, nil
	}
	if err := makeRoom(ctx, tx, owner, id, actor, held, true); err != nil {
		return nil, err
	}
	var sealed []byte
	if err := tx.QueryRow(ctx, `SELECT sealed FROM access_keys WHERE application_id = $1`, id).Scan(&sealed); err != nil {
		return nil, fmt.Errorf("read access key: %w", err)
	}
	plain, err := s.ring.Open(sealed, old.sealContext(id))
	if err != nil {
		return nil, fmt.Errorf("access key of application %s: %w", id, err)
	}
	end := now.Add(overlap).Truncate(time.Millisecond)
	if old.ExpiresAt == nil || old.ExpiresAt.After(end) {
		old.ExpiresAt = &end
	}
	old.ReplacedAt = &now
	return beijing.Format(*old.ExpiresAt), s.insertAdditional(ctx, tx, id, old, string(plain), old.CreatedAt)
}

func keyEntry(actor, action string, id uuid.UUID, name string) audit.Entry {
	return audit.Entry{Actor: actor, Action: action, TargetType: "application", TargetID: id.String(), TargetName: name}
}
