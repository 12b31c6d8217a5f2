package secret

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrUnfit says that secrets are not those that what is stored was written with.
var ErrUnfit = errors.New("these are not the secrets of what is stored")

const (
	pepperName = "pepper"
	keyName    = "key " // and its id
	lost       = "lost" // in place of a fingerprint: of a key that is given up, with what is sealed under it
	triedOfKey = 5      // values; one may be damaged
)

// Fit tells whether these secrets are those of what is stored; the error is ErrUnfit when they are not. Fingerprints of the
// first ones are kept, so that processes are held to the same while nothing is stored. What was stored before there were
// fingerprints tells by itself: values open under their key, and Access Keys are found under their pepper.
func Fit(ctx context.Context, pool *pgxpool.Pool, ring *Keyring, pepper Pepper) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		noted, err := readNoted(ctx, tx)
		if err != nil {
			return err
		}
		if err := ring.fit(ctx, tx, noted); err != nil {
			return err
		}
		if noted[pepperName] == "" {
			if err := ring.provePepper(ctx, tx, pepper); err != nil {
				return err
			}
		}
		given := map[string]string{pepperName: pepper.Fingerprint()}
		for id, fingerprint := range ring.fingerprints {
			given[keyName+id] = fingerprint
		}
		names := slices.Sorted(maps.Keys(given)) // of several processes each waits for the same one first
		for _, name := range names {
			if _, err := tx.Exec(ctx, `INSERT INTO secret_fingerprints (name, fingerprint) VALUES ($1, $2) ON CONFLICT DO NOTHING`, name, given[name]); err != nil {
				return fmt.Errorf("note fingerprints: %w", err)
			}
		}
		if noted, err = readNoted(ctx, tx); err != nil { // another process may have come first
			return err
		}
		return same(names, given, noted)
	})
}

func readNoted(ctx context.Context, tx pgx.Tx) (map[string]string, error) {
	rows, err := tx.Query(ctx, `SELECT name, fingerprint FROM secret_fingerprints`)
	if err != nil {
		return nil, fmt.Errorf("read fingerprints: %w", err)
	}
	noted := map[string]string{}
	var name, fingerprint string
	if _, err := pgx.ForEachRow(rows, []any{&name, &fingerprint}, func() error { noted[name] = fingerprint; return nil }); err != nil {
		return nil, fmt.Errorf("read fingerprints: %w", err)
	}
	return noted, nil
}

// same demands that secrets are those that processes were given before.
func same(names []string, given, noted map[string]string) error {
	for _, name := range names {
		switch {
		case given[name] == noted[name]:
		case name == pepperName:
			return fmt.Errorf("%w: ACCESS_KEY_PEPPER is another one (fingerprint %s) than this database is used with (%s): no Access Key would work", ErrUnfit, given[name], noted[name])
		default:
			return fmt.Errorf("%w: the %s of ENCRYPTION_KEYS is another one (fingerprint %s) than this database is used with (%s): give that one, or a new one an id of its own",
				ErrUnfit, name, given[name], noted[name])
		}
	}
	return nil
}

// held is what is sealed under one key.
type held struct {
	values  int64
	columns []string
	opened  bool
}

// fit demands that the ring has every key that something is sealed under, and that the ones of which no fingerprint is noted
// open some of it.
func (k *Keyring) fit(ctx context.Context, tx pgx.Tx, noted map[string]string) error {
	keys := map[string]*held{}
	for _, column := range Columns {
		if err := k.look(ctx, tx, column, keys); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(keys)) {
		h := keys[id]
		where := fmt.Sprintf("under which %d values are sealed (%s)", h.values, strings.Join(h.columns, ", "))
		switch before := noted[keyName+id]; {
		case before == lost:
		case k.aeads[id] == nil && before != "":
			return fmt.Errorf("%w: ENCRYPTION_KEYS lacks the key %q (fingerprint %s), %s", ErrUnfit, id, before, where)
		case k.aeads[id] == nil:
			return fmt.Errorf("%w: ENCRYPTION_KEYS lacks the key %q, %s", ErrUnfit, id, where)
		case before == "" && !h.opened:
			return fmt.Errorf("%w: the key %q of ENCRYPTION_KEYS (fingerprint %s) is another one than that %s", ErrUnfit, id, k.fingerprints[id], where)
		}
	}
	return nil
}

// look counts the values of a column by their keys, and tries to open a few of each.
func (k *Keyring) look(ctx context.Context, tx pgx.Tx, column Column, keys map[string]*held) error {
	rows, err := tx.Query(ctx, `
		SELECT id, value, n FROM (
			SELECT id, value, count(*) OVER (PARTITION BY key) AS n, row_number() OVER (PARTITION BY key ORDER BY id DESC) AS nth
			FROM (SELECT `+column.id+`::text AS id, `+column.value+` AS value,
			             CASE WHEN octet_length(`+column.value+`) > 2 THEN substring(`+column.value+` FROM 2 FOR 1 + get_byte(`+column.value+`, 1)) END AS key
			      FROM `+column.table+` WHERE `+column.value+` IS NOT NULL) AS sealed
		) AS tried WHERE nth <= $1`, triedOfKey)
	if err != nil {
		return fmt.Errorf("read %s: %w", column, err)
	}
	var row string
	var value []byte
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&row, &value, &n}, func() error {
		key, _, damaged := split(value)
		if damaged != nil {
			return nil //nolint:nilerr // no key is told by it
		}
		id := string(key)
		h := keys[id]
		if h == nil {
			h = &held{}
			keys[id] = h
		}
		if !slices.Contains(h.columns, column.String()) {
			h.columns, h.values = append(h.columns, column.String()), h.values+n
		}
		_, err := k.Open(value, column.context(row))
		h.opened = h.opened || err == nil
		return nil
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", column, err)
	}
	return nil
}

var errFound = errors.New("found")

// provePepper demands that one of the Access Keys is found under the pepper, if there are any: others may be of one before.
func (k *Keyring) provePepper(ctx context.Context, tx pgx.Tx, pepper Pepper) error {
	tried := 0
	for _, column := range Columns {
		if column.lookup == "" {
			continue
		}
		rows, err := tx.Query(ctx, `SELECT `+column.id+`::text, `+column.value+`, `+column.lookup+` FROM `+column.table)
		if err != nil {
			return fmt.Errorf("read %s: %w", column, err)
		}
		var id string
		var value, lookup []byte
		_, err = pgx.ForEachRow(rows, []any{&id, &value, &lookup}, func() error {
			plain, err := k.Open(value, column.context(id))
			if err != nil {
				return nil //nolint:nilerr // it tells nothing of the pepper
			}
			tried++
			if sum := pepper.Lookup(string(plain)); hmac.Equal(sum[:], lookup) {
				return errFound
			}
			return nil
		})
		if errors.Is(err, errFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", column, err)
		}
	}
	if tried > 0 {
		return fmt.Errorf("%w: ACCESS_KEY_PEPPER is another one (fingerprint %s) than that of the %d Access Keys that are stored: none of them would work", ErrUnfit, pepper.Fingerprint(), tried)
	}
	return nil
}
