package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// leftOut are tables that are not backed up: goose's own, of which the schema's version is kept, the change feed and the
// sign-in codes of the last minutes, what tells which secrets processes were given (the manifest has those that matter), and
// the note of a restore.
var leftOut = []string{"goose_db_version", "access_changes", "login_codes", "sign_in_codes", "secret_fingerprints", restoreNote}

// postgresVersion is the version of the schema that a database has.
func postgresVersion(ctx context.Context, tx pgx.Tx) (version int64, err error) {
	err = tx.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&version)
	if err != nil {
		return 0, fmt.Errorf("PostgreSQL holds no Callgate: %w", err)
	}
	return version, nil
}

// tablesOf are the tables of the schema in the order of their references, so that each can be filled after those that
// it points to.
func tablesOf(ctx context.Context, tx pgx.Tx) ([]string, error) {
	rows, err := tx.Query(ctx, `SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() AND tablename <> ALL($1) ORDER BY 1`, leftOut)
	if err != nil {
		return nil, err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	rows, err = tx.Query(ctx, `
		SELECT c.relname::text, r.relname::text FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_class r ON r.oid = f.confrelid
		WHERE f.contype = 'f' AND f.conrelid <> f.confrelid AND c.relnamespace = current_schema()::regnamespace`)
	if err != nil {
		return nil, err
	}
	after := map[string][]string{}
	var table, references string
	if _, err := pgx.ForEachRow(rows, []any{&table, &references}, func() error {
		after[table] = append(after[table], references)
		return nil
	}); err != nil {
		return nil, err
	}
	var ordered []string
	for len(ordered) < len(tables) {
		before := len(ordered)
		for _, t := range tables {
			ready := !slices.ContainsFunc(after[t], func(r string) bool { return slices.Contains(tables, r) && !slices.Contains(ordered, r) })
			if ready && !slices.Contains(ordered, t) {
				ordered = append(ordered, t)
			}
		}
		if len(ordered) == before {
			return nil, errors.New("tables refer to each other in a circle")
		}
	}
	return ordered, nil
}

// columnsOf are the columns of a table that hold what was written.
func columnsOf(ctx context.Context, tx pgx.Tx, table string) ([]string, error) {
	rows, err := tx.Query(ctx, `SELECT attname::text FROM pg_attribute
		WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`, pgx.Identifier{table}.Sanitize())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// quoted is a table with columns, as COPY takes them.
func (t Table) quoted() string {
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = pgx.Identifier{c}.Sanitize()
	}
	return pgx.Identifier{t.Name}.Sanitize() + " (" + strings.Join(columns, ", ") + ")"
}

// dumpPostgres copies every table as one snapshot saw them.
func dumpPostgres(ctx context.Context, tx pgx.Tx, a *archive, display meters) (p Postgres, err error) {
	if p.Schema, err = postgresVersion(ctx, tx); err != nil {
		return p, err
	}
	names, err := tablesOf(ctx, tx)
	if err != nil {
		return p, fmt.Errorf("tables of PostgreSQL: %w", err)
	}
	meter := display.Begin("tables of PostgreSQL written", int64(len(names)))
	defer meter.End()
	for _, name := range names {
		t := Table{Name: name, File: "postgres/" + name + ".copy.zst"}
		if t.Columns, err = columnsOf(ctx, tx, name); err != nil {
			return p, fmt.Errorf("columns of %s: %w", name, err)
		}
		out, err := a.create(t.File)
		if err != nil {
			return p, err
		}
		done, err := tx.Conn().PgConn().CopyTo(ctx, out, "COPY "+t.quoted()+" TO STDOUT")
		if err = errors.Join(err, out.Close()); err != nil {
			return p, fmt.Errorf("copy %s: %w", name, err)
		}
		t.Rows = done.RowsAffected()
		p.Tables = append(p.Tables, t)
		meter.Add(1)
	}
	p.Sequences = map[string]int64{}
	rows, err := tx.Query(ctx, `SELECT sequencename::text, last_value FROM pg_sequences
		WHERE schemaname = current_schema() AND last_value IS NOT NULL AND sequencename NOT LIKE 'goose%'`)
	if err != nil {
		return p, fmt.Errorf("sequences of PostgreSQL: %w", err)
	}
	var name string
	var value int64
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error { p.Sequences[name] = value; return nil })
	return p, err
}

// loadPostgres fills tables that are there, empty, and of the backup's version. Their triggers are off, for they would
// number what is numbered.
func loadPostgres(ctx context.Context, tx pgx.Tx, dir string, p Postgres, display meters) error {
	var names []string
	for _, t := range p.Tables {
		names = append(names, pgx.Identifier{t.Name}.Sanitize())
	}
	if _, err := tx.Exec(ctx, "TRUNCATE "+strings.Join(names, ", ")); err != nil { // migrations put rows into some
		return fmt.Errorf("empty the tables of PostgreSQL: %w", err)
	}
	meter := display.Begin("tables of PostgreSQL filled", int64(len(names)))
	defer meter.End()
	for i, t := range p.Tables {
		if _, err := tx.Exec(ctx, "ALTER TABLE "+names[i]+" DISABLE TRIGGER USER"); err != nil {
			return fmt.Errorf("triggers of %s: %w", t.Name, err)
		}
		if err := loadTable(ctx, tx, dir, t); err != nil {
			return fmt.Errorf("fill %s: %w", t.Name, err)
		}
		meter.Add(1)
	}
	for i, name := range names {
		if _, err := tx.Exec(ctx, "ALTER TABLE "+name+" ENABLE TRIGGER USER"); err != nil {
			return fmt.Errorf("triggers of %s: %w", p.Tables[i].Name, err)
		}
	}
	for name, value := range p.Sequences {
		if _, err := tx.Exec(ctx, `SELECT setval($1::regclass, $2)`, pgx.Identifier{name}.Sanitize(), value); err != nil {
			return fmt.Errorf("sequence %s: %w", name, err)
		}
	}
	return nil
}

func loadTable(ctx context.Context, tx pgx.Tx, dir string, t Table) error {
	from, err := openInput(dir, t.File)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	done, err := tx.Conn().PgConn().CopyFrom(ctx, from, "COPY "+t.quoted()+" FROM STDIN")
	if err == nil && done.RowsAffected() != t.Rows {
		err = fmt.Errorf("%d rows, %d were written", done.RowsAffected(), t.Rows)
	}
	return err
}
