package secret

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Columns are all columns that hold sealed values.
var Columns = []Column{AccessKeys, AdditionalKeys, UpstreamKeys, SharedUpstreamKeys, FormerUpstreamKeys, AlertURLs, AlertSecrets, FormerAlertSecrets}

// fingerprint tells secrets apart without telling anything of them.
func fingerprint(purpose string, secret []byte) string {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte("callgate fingerprint of " + purpose)) // never fails (hash.Hash)
	return hex.EncodeToString(mac.Sum(nil)[:6])
}

// Fingerprint tells one pepper from another.
func (p Pepper) Fingerprint() string { return fingerprint("a pepper", p) }

// Fingerprints tell the keys of a ring apart, by their ids.
func (k *Keyring) Fingerprints() map[string]string { return k.fingerprints }

// Survey counts the values of a column by the id of the key that they are sealed under, and opens every one. The error
// is ErrSealed when one does not open, or, of an Access Key, is looked up under another pepper.
func (k *Keyring) Survey(ctx context.Context, tx pgx.Tx, column Column, pepper Pepper) (perKey map[string]int, err error) {
	lookup := "NULL::bytea"
	if column.lookup != "" {
		lookup = column.lookup
	}
	rows, err := tx.Query(ctx, `SELECT `+column.id+`::text, `+column.value+`, `+lookup+` FROM `+column.table+` WHERE `+column.value+` IS NOT NULL`)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", column, err)
	}
	perKey = map[string]int{}
	var id string
	var value, stored []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &value, &stored}, func() error {
		plain, err := k.Open(value, column.context(id))
		if err != nil {
			return fmt.Errorf("%s of %s: %w", column, id, err)
		}
		key, _, _ := split(value)
		perKey[string(key)]++
		if sum := pepper.Lookup(string(plain)); column.lookup != "" && !hmac.Equal(sum[:], stored) {
			return fmt.Errorf("%s of %s: %w", column, id, ErrPepper)
		}
		return nil
	})
	return perKey, err
}

// ErrPepper says that an Access Key was stored under another pepper.
var ErrPepper = errors.New("the Access Key is stored under another ACCESS_KEY_PEPPER")
