package backup

import (
	"context"
	"errors"
	"fmt"
	"io"

	chdriver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/jackc/pgx/v5"

	"callgate/clickhouse"
	"callgate/internal/beijing"
	"callgate/internal/progress"
	"callgate/sql"
)

// restoreNote is a table that is there from a restore's first change to its last.
const restoreNote = "callgate_restore"

// Restore builds an installation from a backup, up to the schemas of the backup's version or newer: whoever calls it
// migrates afterwards. The stores must be empty, but for tables, or overwrite be true, and no process may run on
// them. One that was interrupted is repeated.
func Restore(ctx context.Context, to Installation, dir string, overwrite bool, out io.Writer, display progress.Output) error {
	m, err := ReadManifest(dir)
	if err != nil {
		return err
	}
	if err := to.takes(m); err != nil {
		return err
	}
	meter := display.Begin("bytes of the backup checked", m.bytes())
	err = check(dir, m, meter.Add)
	meter.End()
	if err != nil {
		return err
	}
	conn, err := connect(ctx, to.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := to.prepare(ctx, conn, m, overwrite); err != nil {
		return err
	}
	if err := to.fillClickHouse(ctx, dir, m, display); err != nil {
		return err
	}
	segments := 0
	if to.SpoolDir != "" {
		if segments, err = loadSpools(dir, to.SpoolDir, m.Spools); err != nil {
			return err
		}
	}
	if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return to.fillPostgres(ctx, tx, dir, m, display) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Restored the backup of %s: %d calls, %d files of spools, which are shipped by the first gateway on SPOOL_DIR.\n"+
		"Start every process anew, then run callgate verify. What was revoked after the backup is valid again: rotate such keys.\n",
		beijing.Format(m.BeganAt), m.calls(), segments)
	return err
}

// takes refuses a backup that this installation, or this program, cannot take.
func (to Installation) takes(m *Manifest) error {
	postgres, err := sql.Newest()
	if err != nil {
		return err
	}
	click, err := clickhouse.Newest()
	if err != nil {
		return err
	}
	if m.Postgres.Schema > postgres || m.ClickHouse.Schema > click {
		return fmt.Errorf("the backup was made by callgate %s, which is newer than this one (%s): restore it with that version", m.Version, to.Version)
	}
	if m.waiting() && to.SpoolDir == "" {
		return errors.New("the backup holds records that wait to be sent: set SPOOL_DIR to the directory of a gateway that will send them")
	}
	return to.Secrets.fit(m)
}

// prepare makes sure that nothing is lost, notes that a restore has begun, and makes the schemas.
func (to Installation) prepare(ctx context.Context, conn *pgx.Conn, m *Manifest, overwrite bool) error {
	var begun, known, running bool
	err := conn.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL, to_regclass('spools') IS NOT NULL AND to_regclass('goose_db_version') IS NOT NULL`, restoreNote).Scan(&begun, &known)
	if err == nil && known {
		err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM spools WHERE NOT retired AND updated_at > now() - interval '`+silence+`')`).Scan(&running)
	}
	switch {
	case err != nil:
		return fmt.Errorf("look at PostgreSQL: %w", err)
	case running:
		return fmt.Errorf("gateways run on this database, or did %s ago: stop every process, then wait that long", silence)
	}
	if err := clickhouse.Up(ctx, to.ClickHouseURL); err != nil {
		return err
	}
	s, err := openStore(ctx, to.ClickHouseURL, nil)
	if err != nil {
		return err
	}
	defer s.close()
	if s.shards != m.ClickHouse.Shards && m.waiting() {
		return fmt.Errorf("the backup holds records that wait to be sent to %s, and this ClickHouse is %s: restore to as many, or make a backup of gateways that were stopped in order",
			shards(m.ClickHouse.Shards), shards(s.shards))
	}
	if !begun && !overwrite {
		if err := refuseData(ctx, conn, s, known); err != nil {
			return err
		}
	}
	if _, err := conn.Exec(ctx, `CREATE TABLE IF NOT EXISTS `+restoreNote+` AS SELECT $1::text AS backup, now() AS began_at`, m.ID.String()); err != nil {
		return fmt.Errorf("note the restore: %w", err)
	}
	if err := clickhouse.Empty(ctx, to.ClickHouseURL); err != nil {
		return err
	}
	return errors.Join(clickhouse.Retain(ctx, to.ClickHouseURL, to.Retention), sql.Remake(ctx, to.DatabaseURL, m.Postgres.Schema))
}

func (m *Manifest) waiting() bool {
	for _, s := range m.Spools {
		if len(s.Files) > 0 {
			return true
		}
	}
	return false
}

func shards(n int) string {
	if n == 0 {
		return "a single server"
	}
	return fmt.Sprintf("%d shards", n)
}

// refuseData fails when a store holds anything.
func refuseData(ctx context.Context, conn *pgx.Conn, s *store, known bool) error {
	full := func(what string) error {
		return fmt.Errorf("%s is not empty: name empty databases, or let the restore remove what they hold with --overwrite", what)
	}
	tables, err := s.tables(ctx)
	if err != nil {
		return fmt.Errorf("look at ClickHouse: %w", err)
	}
	for _, table := range tables {
		var rows uint64
		if err := s.conn.QueryRow(ctx, `SELECT count() FROM `+table).Scan(&rows); err != nil {
			return fmt.Errorf("look at ClickHouse: %w", err)
		}
		if rows > 0 {
			return full("table " + table + " of ClickHouse")
		}
	}
	if !known {
		return nil
	}
	for _, table := range []string{"users", "applications", "capabilities", "audit_log"} { // what somebody has made
		var rows bool
		if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM `+table+`)`).Scan(&rows); err != nil {
			return fmt.Errorf("look at PostgreSQL: %w", err)
		}
		if rows {
			return full("table " + table + " of PostgreSQL")
		}
	}
	return nil
}

// asTheyCome makes inserts wait for all shards, and takes rows whose like was inserted before.
var asTheyCome = chdriver.Settings{
	"insert_deduplicate": 0, "async_insert": 0, "distributed_foreground_insert": 1, "max_partitions_per_insert_block": 0, "max_execution_time": 0,
}

func (to Installation) fillClickHouse(ctx context.Context, dir string, m *Manifest, display meters) error {
	s, err := openStore(ctx, to.ClickHouseURL, asTheyCome)
	if err != nil {
		return err
	}
	defer s.close()
	return s.loadClickHouse(ctx, dir, m.ClickHouse.Tables, display)
}

// beyond is by how much versions of grants are raised over those of the backup: no installation changes as often
// between a backup and its loss.
const beyond = 1_000_000_000

// fillPostgres fills the tables and sets right what is not as it was: applications are still to be hidden from the
// views of data teams, calls that had expired are not there, and every grant is newer than any that was handed out.
func (to Installation) fillPostgres(ctx context.Context, tx pgx.Tx, dir string, m *Manifest, display meters) error {
	if err := loadPostgres(ctx, tx, dir, m.Postgres, display); err != nil {
		return err
	}
	if _, err := to.Secrets.survey(ctx, tx); err != nil {
		return err
	}
	for _, statement := range []struct {
		text       string
		parameters []any
	}{
		{`UPDATE deleted_applications SET hidden_at = NULL WHERE purged_at IS NULL`, nil},
		{`UPDATE day_revisions SET exported_at = NULL`, nil}, // what is there already counts once
		{`UPDATE collection SET calls_from = greatest(calls_from, $1::text::date) WHERE (started_at AT TIME ZONE 'Asia/Shanghai')::date < $1::text::date`, []any{m.ClickHouse.CallsFrom}},
		{`SELECT setval('access_version', (SELECT last_value FROM access_version) + $1)`, []any{beyond}},
		{`UPDATE applications SET version = 0`, nil}, // by triggers: the next version, and word of it
		{`UPDATE capabilities SET version = 0`, nil},
		{`DROP TABLE ` + restoreNote, nil},
	} {
		if _, err := tx.Exec(ctx, statement.text, statement.parameters...); err != nil {
			return fmt.Errorf("finish the restore: %w", err)
		}
	}
	return nil
}
