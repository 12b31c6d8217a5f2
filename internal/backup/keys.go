package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"callgate/internal/secret"
)

// Secrets open what is stored. They are no part of a backup.
type Secrets struct {
	Keyring *secret.Keyring
	Pepper  secret.Pepper
}

// survey opens everything that is sealed, and tells which keys that took.
func (s Secrets) survey(ctx context.Context, tx pgx.Tx) (keys []Key, err error) {
	values := map[string]int{}
	for _, column := range secret.Columns {
		perKey, err := s.Keyring.Survey(ctx, tx, column, s.Pepper)
		switch {
		case errors.Is(err, secret.ErrSealed):
			return nil, fmt.Errorf("ENCRYPTION_KEYS does not open all that is stored: %w", err)
		case err != nil:
			return nil, err
		}
		for id, n := range perKey {
			values[id] += n
		}
	}
	for id, n := range values {
		keys = append(keys, Key{ID: id, Fingerprint: s.Keyring.Fingerprints()[id], Values: n})
	}
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.ID, b.ID) })
	return keys, nil
}

// fit tells whether these secrets open a backup.
func (s Secrets) fit(m *Manifest) error {
	have := s.Keyring.Fingerprints()
	for _, key := range m.Keys {
		switch given, there := have[key.ID]; {
		case !there:
			return fmt.Errorf("ENCRYPTION_KEYS lacks the key %q (fingerprint %s), under which %d values of the backup are sealed: add it, as it was when the backup was made", key.ID, key.Fingerprint, key.Values)
		case given != key.Fingerprint:
			return fmt.Errorf("the key %q of ENCRYPTION_KEYS is another one (fingerprint %s) than the backup's (%s), under which %d values are sealed: give the key that was in use when the backup was made", key.ID, given, key.Fingerprint, key.Values)
		}
	}
	if given := s.Pepper.Fingerprint(); given != m.Pepper {
		return fmt.Errorf("ACCESS_KEY_PEPPER is another one (fingerprint %s) than the backup's (%s): no Access Key of it would work; give the one that was in use when the backup was made", given, m.Pepper)
	}
	return nil
}
