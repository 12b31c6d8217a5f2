package secret

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Column is a column of sealed values. Its names are constants of this package, never input.
type Column struct {
	table, id, value string
	idType, least    string // type of the primary key, and what comes before every value of it
	lookup           string // column of the values' look-up hashes; empty: they are no Access Keys
}

// The columns that hold sealed values.
var (
	AccessKeys     = Column{"access_keys", "application_id", "sealed", "uuid", leastUUID, "lookup"}
	AdditionalKeys = Column{"additional_access_keys", "id", "sealed", "uuid", leastUUID, "lookup"}
	UpstreamKeys   = Column{"capabilities", "id", "upstream_key", "text", "", ""}
	// Of upstreams that capabilities share: the key in use, and the one before, which may be absent.
	SharedUpstreamKeys = Column{"upstreams", "id", "sealed_key", "text", "", ""}
	FormerUpstreamKeys = Column{"upstreams", "id", "former_key", "text", "", ""}
	// Of where alerts go: URLs of bots hold their keys. Each may be absent.
	AlertURLs          = Column{"alert_channels", "id", "sealed_url", "uuid", leastUUID, ""}
	AlertSecrets       = Column{"alert_channels", "id", "sealed_secret", "uuid", leastUUID, ""}
	FormerAlertSecrets = Column{"alert_channels", "id", "former_secret", "uuid", leastUUID, ""}
)

const leastUUID = "00000000-0000-0000-0000-000000000000"

// String is the column's name, for reports.
func (c Column) String() string { return c.table + "." + c.value }

// context is the sealing context of the row with this id.
func (c Column) context(id string) string { return c.table + "/" + id + "/" + c.value }

// Resealing counts what Reseal did.
type Resealing struct {
	Sealed   int // values that are under the newest key now and were not before
	Unopened int // values under a key that is not configured, or damaged; left as they are
	Left     int // values under an older key that were written meanwhile, by a process that has the keys in another order
}

const (
	resealBatch = 200                // rows one transaction holds
	resealLock  = 0x72657365616c0001 // advisory lock: processes that reseal take turns, batch by batch
)

// Reseal brings every value of a column under the newest key of the ring. It may run beside serving
// processes, beside itself and any number of times: rows are locked for one short batch, and what is
// under the newest key already is not touched. No version is raised, for no grant changes
// (sql/00006_resealing.sql). Values that cannot be opened are logged by their row's id. looked is told of every batch.
func (k *Keyring) Reseal(ctx context.Context, pool *pgxpool.Pool, column Column, looked func(rows int), log *slog.Logger) (done Resealing, err error) {
	for last, more := column.least, true; more; {
		err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			batch, err := k.lockStale(ctx, tx, column, last)
			if err != nil {
				return err
			}
			if more = len(batch) > 0; !more {
				return nil
			}
			last = batch[len(batch)-1].ID
			sealed, err := k.resealRows(ctx, tx, column, batch, log)
			done.Sealed += sealed
			done.Unopened += len(batch) - sealed
			looked(len(batch))
			return err
		})
		if err != nil {
			return done, fmt.Errorf("reseal %s: %w", column, err)
		}
	}
	stale, err := k.CountStale(ctx, pool, column)
	if err != nil {
		return done, err
	}
	done.Left = max(0, stale-done.Unopened)
	return done, nil
}

// CountStale counts the values of a column that are under another key than the newest.
func (k *Keyring) CountStale(ctx context.Context, pool *pgxpool.Pool, column Column) (n int, err error) {
	err = pool.QueryRow(ctx, `SELECT count(*) FROM `+column.table+` WHERE `+column.stale(), k.prefix()).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count what is left of %s: %w", column, err)
	}
	return n, nil
}

// stale is the condition of a value under another key than the one whose prefix is $1.
func (c Column) stale() string {
	return `substring(` + c.value + ` FROM 1 FOR length($1::bytea)) <> $1::bytea`
}

type sealedRow struct {
	ID    string
	Value []byte
}

// lockStale takes the next rows after last that are not under the newest key, in the order of their ids.
func (k *Keyring) lockStale(ctx context.Context, tx pgx.Tx, c Column, last string) ([]sealedRow, error) {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(resealLock)); err != nil {
		return nil, fmt.Errorf("wait for another process that reseals: %w", err)
	}
	rows, err := tx.Query(ctx, `
		SELECT `+c.id+`::text, `+c.value+` FROM `+c.table+`
		WHERE `+c.stale()+` AND `+c.id+` > $2::text::`+c.idType+`
		ORDER BY `+c.id+` LIMIT $3 FOR NO KEY UPDATE`, k.prefix(), last, resealBatch)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[sealedRow])
}

// resealRows seals what can be opened and stores it; it tells how many those are.
func (k *Keyring) resealRows(ctx context.Context, tx pgx.Tx, c Column, batch []sealedRow, log *slog.Logger) (int, error) {
	var ids []string
	var values [][]byte
	for _, row := range batch {
		plain, err := k.Open(row.Value, c.context(row.ID))
		if err != nil {
			log.Error("a sealed value cannot be opened", "column", c.String(), "id", row.ID, "error", err)
			continue
		}
		ids, values = append(ids, row.ID), append(values, k.Seal(plain, c.context(row.ID)))
	}
	if len(ids) == 0 {
		return 0, nil
	}
	if _, err := tx.Exec(ctx, `SET LOCAL callgate.resealing = 'on'`); err != nil {
		return 0, fmt.Errorf("announce resealing: %w", err)
	}
	_, err := tx.Exec(ctx, `
		UPDATE `+c.table+` SET `+c.value+` = fresh.value
		FROM unnest($1::text[]::`+c.idType+`[], $2::bytea[]) AS fresh (id, value) WHERE `+c.table+`.`+c.id+` = fresh.id`, ids, values)
	if err != nil {
		return 0, fmt.Errorf("store: %w", err)
	}
	return len(ids), nil
}
