package application

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/fault"
	"callgate/internal/secret"
)

// MaxKeys is how many keys an application has at most, the first and expired ones included.
const MaxKeys = 5

// Key is a key of an application without the key itself.
type Key struct {
	ID           uuid.UUID
	First        bool // *the* Access Key of the application, in access_keys; the others are in additional_access_keys
	Name         string
	Mask         string
	ExpiresAt    *time.Time     // from then on every call is refused; nil: never
	AllowedCIDRs []netip.Prefix // where it may be used from; empty: anywhere
	CreatedAt    time.Time
	UpdatedAt    time.Time
	ReplacedAt   *time.Time // when it ceased to be the first; nil: it never was, or still is
}

// expired tells whether the key is of no use any more.
func (k Key) expired(now time.Time) bool { return k.ExpiresAt != nil && !k.ExpiresAt.After(now) }

// table is where the key's row is: a constant, never input.
func (k Key) table() string {
	if k.First {
		return "access_keys"
	}
	return "additional_access_keys"
}

// sealContext is what the key is sealed for.
func (k Key) sealContext(application uuid.UUID) string {
	if k.First {
		return secret.AccessKeyContext(application.String())
	}
	return secret.AdditionalKeyContext(k.ID.String())
}

const selectKeys = `
	SELECT k.id, k.first, k.name, k.mask, k.expires_at, k.allowed_cidrs, k.created_at, k.updated_at, k.replaced_at
	FROM applications a JOIN application_keys k ON k.application_id = a.id
	WHERE a.owner_id = $1 AND a.id = $2
	ORDER BY k.first DESC, k.created_at, k.id`

// Keys gives the keys of an application, the first one first, the others in the order they were made. Somebody
// else's application is fault.Absent.
func (s *Store) Keys(ctx context.Context, owner, id uuid.UUID) ([]Key, error) {
	return keysOf(ctx, s.pool, owner, id)
}

func keysOf(ctx context.Context, db querier, owner, id uuid.UUID) ([]Key, error) {
	rows, err := db.Query(ctx, selectKeys, owner, id)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	keys, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Key])
	switch {
	case err != nil:
		return nil, fmt.Errorf("list keys: %w", err)
	case len(keys) == 0:
		return nil, fault.Absent()
	}
	return keys, nil
}

// keyOf is one of an application's keys; one that is not among them is fault.Absent.
func keyOf(ctx context.Context, db querier, owner, id, keyID uuid.UUID) (Key, error) {
	keys, err := keysOf(ctx, db, owner, id)
	for _, k := range keys {
		if k.ID == keyID {
			return k, nil
		}
	}
	if err == nil {
		err = fault.Absent()
	}
	return Key{}, err
}

// CreateKey gives an application one more key, and the key itself. Where there are MaxKeys, the one that expired
// first goes; with none expired it is a Conflict. actor, an e-mail address, is recorded.
func (s *Store) CreateKey(ctx context.Context, owner, id uuid.UUID, actor string, e KeyEdit) (k Key, key string, err error) {
	if e.Name == nil {
		e.Name = new(string)
	}
	want, err := e.check(time.Now())
	if err != nil {
		return Key{}, "", err
	}
	if k.ID, err = uuid.NewV7(); err != nil {
		return Key{}, "", fmt.Errorf("new key id: %w", err)
	}
	key = s.pepper.Mint()
	k.Name, k.Mask, k.ExpiresAt, k.AllowedCIDRs = *want.name, secret.Mask(key), want.expiresAt, want.allowed
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		held, err := lock(ctx, tx, owner, id)
		if err != nil {
			return err
		}
		if err := makeRoom(ctx, tx, owner, id, actor, held, false); err != nil {
			return err
		}
		if err := s.insertAdditional(ctx, tx, id, k, key, time.Time{}); err != nil {
			return err
		}
		limits, err := e.setLimits(ctx, tx, id, k.ID)
		if err != nil {
			return err
		}
		if k, err = keyOf(ctx, tx, owner, id, k.ID); err != nil {
			return err
		}
		return noteKey(ctx, tx, actor, "access_key.create", id, held.name, Key{ID: k.ID}, k, limits...)
	})
	if err != nil {
		return Key{}, "", err
	}
	return k, key, nil
}

// insertAdditional stores a key beside the first one. created is when it was made; the zero Time: now.
func (s *Store) insertAdditional(ctx context.Context, tx pgx.Tx, id uuid.UUID, k Key, key string, created time.Time) error {
	lookup := s.pepper.Lookup(key)
	k.First = false
	var at *time.Time
	if !created.IsZero() {
		at = &created
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO additional_access_keys (id, application_id, name, lookup, sealed, mask, expires_at, allowed_cidrs, created_at, replaced_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, coalesce($9, clock_timestamp()), $10)`,
		k.ID, id, k.Name, lookup[:], s.ring.Seal([]byte(key), k.sealContext(id)), k.Mask, k.ExpiresAt, stored(k.AllowedCIDRs), at, k.ReplacedAt)
	if err != nil {
		return fmt.Errorf("insert key: %w", err)
	}
	return nil
}

// stored is a list as its column takes it, which is never NULL.
func stored(networks []netip.Prefix) []netip.Prefix {
	if networks == nil {
		return []netip.Prefix{}
	}
	return networks
}

// makeRoom takes the additional key that expired first when there is no room for one more; the application's row is
// locked. rotating says that the one more is the first key, which is replaced.
func makeRoom(ctx context.Context, tx pgx.Tx, owner, id uuid.UUID, actor string, held locked, rotating bool) error {
	keys, err := keysOf(ctx, tx, owner, id)
	if err != nil || len(keys) < MaxKeys {
		return err
	}
	now := time.Now()
	var oldest *Key
	for i, k := range keys {
		if !k.First && k.expired(now) && (oldest == nil || k.ExpiresAt.Before(*oldest.ExpiresAt)) {
			oldest = &keys[i]
		}
	}
	switch {
	case oldest != nil:
		return removeKey(ctx, tx, id, actor, held, *oldest)
	case rotating:
		return fault.New(fault.Conflict, "the application has %d keys and none has expired, so the old key cannot stay beside the new one; delete a key that is not needed, or rotate without an overlap", len(keys))
	}
	return fault.New(fault.Conflict, "the application has %d keys, which is the most, and none has expired; delete one that is not needed", len(keys))
}

func removeKey(ctx context.Context, tx pgx.Tx, id uuid.UUID, actor string, held locked, k Key) error {
	if _, err := tx.Exec(ctx, `DELETE FROM additional_access_keys WHERE application_id = $1 AND id = $2`, id, k.ID); err != nil {
		return fmt.Errorf("delete key: %w", err)
	}
	return noteKey(ctx, tx, actor, "access_key.delete", id, held.name, k, Key{ID: k.ID})
}

// UpdateKey edits a key. seen, if given, is the precondition; when it does not hold the key as it is comes with the
// Changed fault. actor is recorded.
func (s *Store) UpdateKey(ctx context.Context, owner, id, keyID uuid.UUID, actor string, e KeyEdit, seen ...time.Time) (k Key, err error) {
	want, err := e.check(time.Now())
	if err != nil {
		return Key{}, err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		held, err := lock(ctx, tx, owner, id)
		if err != nil {
			return err
		}
		before, err := keyOf(ctx, tx, owner, id, keyID)
		if err != nil {
			return err
		}
		k = before
		if refused := fault.Unchanged(before.UpdatedAt, seen...); refused != nil {
			return refused
		}
		if e.isEmpty() {
			return nil
		}
		after := want.applied(before)
		_, err = tx.Exec(ctx, `UPDATE `+before.table()+`
			SET name = $3, expires_at = $4, allowed_cidrs = $5, updated_at = clock_timestamp() WHERE application_id = $1 AND id = $2`,
			id, keyID, after.Name, after.ExpiresAt, stored(after.AllowedCIDRs))
		if err != nil {
			return fmt.Errorf("update key: %w", err)
		}
		limits, err := e.setLimits(ctx, tx, id, keyID)
		if err != nil {
			return err
		}
		if k, err = keyOf(ctx, tx, owner, id, keyID); err != nil {
			return err
		}
		return noteKey(ctx, tx, actor, "access_key.update", id, held.name, before, k, limits...)
	})
	return k, err
}

// DeleteKey removes a key, which stops within two seconds. The first one is an application's as
// long as that is there: Conflict. actor is recorded.
func (s *Store) DeleteKey(ctx context.Context, owner, id, keyID uuid.UUID, actor string) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		held, err := lock(ctx, tx, owner, id)
		if err != nil {
			return err
		}
		k, err := keyOf(ctx, tx, owner, id, keyID)
		switch {
		case err != nil:
			return err
		case k.First:
			return fault.New(fault.Conflict, "this is the application's Access Key, which is replaced and never deleted: rotate it, or disable the application")
		}
		return removeKey(ctx, tx, id, actor, held, k)
	})
}

// RevealOneKey gives a key in full. actor is recorded as its reader; what cannot be recorded is not revealed.
func (s *Store) RevealOneKey(ctx context.Context, owner, id, keyID uuid.UUID, actor string) (string, error) {
	return s.reveal(ctx, owner, id, actor, `k.id = $3`, keyID)
}

// reveal opens the key of an application for which a condition holds.
func (s *Store) reveal(ctx context.Context, owner, id uuid.UUID, actor, condition string, arguments ...any) (key string, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var k Key
		var application string
		var sealed []byte
		err := tx.QueryRow(ctx, `
			SELECT a.name, k.id, k.first, k.sealed FROM applications a JOIN application_keys k ON k.application_id = a.id
			WHERE a.owner_id = $1 AND a.id = $2 AND `+condition, append([]any{owner, id}, arguments...)...).Scan(&application, &k.ID, &k.First, &sealed)
		if err != nil {
			return absentOr(err, "read key")
		}
		plain, err := s.ring.Open(sealed, k.sealContext(id))
		if err != nil {
			return fmt.Errorf("key %s of application %s: %w", k.ID, id, err)
		}
		key = string(plain)
		entry := keyEntry(actor, "access_key.reveal", id, application)
		if !k.First {
			entry.Changes = audit.Changes{{Field: "keyId", To: k.ID.String()}}
		}
		return audit.Append(ctx, tx, entry)
	})
	if err != nil {
		return "", err
	}
	return key, nil
}
