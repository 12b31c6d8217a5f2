package application

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
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

// RevealKey gives the Access Key in full. actor, an e-mail address, is recorded as its reader; what
// cannot be recorded is not revealed.
func (s *Store) RevealKey(ctx context.Context, owner, id uuid.UUID, actor string) (key string, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var name string
		var sealed []byte
		err := tx.QueryRow(ctx, `
			SELECT a.name, k.sealed FROM applications a JOIN access_keys k ON k.application_id = a.id
			WHERE a.owner_id = $1 AND a.id = $2`, owner, id).Scan(&name, &sealed)
		if err != nil {
			return absentOr(err, "read access key")
		}
		plain, err := s.ring.Open(sealed, secret.AccessKeyContext(id.String()))
		if err != nil {
			return fmt.Errorf("access key of application %s: %w", id, err)
		}
		key = string(plain)
		return audit.Append(ctx, tx, keyEntry(actor, "access_key.reveal", id, name))
	})
	if err != nil {
		return "", err
	}
	return key, nil
}

// RotateKey replaces the Access Key and gives the new one. The old one stops within two seconds
// (design section 5). actor is recorded.
func (s *Store) RotateKey(ctx context.Context, owner, id uuid.UUID, actor string) (key string, err error) {
	key = s.pepper.Mint()
	lookup := s.pepper.Lookup(key)
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		held, err := lock(ctx, tx, owner, id)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE access_keys SET lookup = $2, sealed = $3, mask = $4, created_at = clock_timestamp()
			WHERE application_id = $1`, id, lookup[:], s.seal(id, key), secret.Mask(key))
		if err != nil {
			return fmt.Errorf("rotate access key: %w", err)
		}
		_, err = tx.Exec(ctx, `UPDATE applications SET updated_at = clock_timestamp() WHERE id = $1`, id)
		if err != nil {
			return fmt.Errorf("rotate access key: %w", err)
		}
		entry := keyEntry(actor, "access_key.rotate", id, held.name)
		entry.Changes = audit.Changes{{Field: "accessKey", To: audit.Secret}}
		return audit.Append(ctx, tx, entry)
	})
	if err != nil {
		return "", err
	}
	return key, nil
}

func keyEntry(actor, action string, id uuid.UUID, name string) audit.Entry {
	return audit.Entry{Actor: actor, Action: action, TargetType: "application", TargetID: id.String(), TargetName: name}
}
