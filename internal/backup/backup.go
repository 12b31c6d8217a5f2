package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	chdriver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/clickhouse"
	"callgate/internal/beijing"
	"callgate/internal/progress"
	"callgate/internal/retention"
)

type meters = progress.Output

// Installation is what is backed up, or built from a backup.
type Installation struct {
	DatabaseURL   string
	ClickHouseURL string // as cluster.Address gives it
	SpoolDir      string // empty: gateways keep their spools elsewhere
	Retention     retention.Days
	Secrets       Secrets
	Version       string // of this program
}

// Write makes a backup of an installation in a directory that is not there yet, while it serves. It tells out what it
// did. What fails leaves nothing behind.
func Write(ctx context.Context, of Installation, dir string, out io.Writer, display progress.Output) (err error) {
	a, err := newArchive(dir)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			a.discard()
		}
	}()
	m := &Manifest{Format: manifestToday, ID: uuid.New(), Version: of.Version, BeganAt: time.Now(), Pepper: of.Secrets.Pepper.Fingerprint()}
	conn, err := connect(ctx, of.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if of.SpoolDir != "" {
		if m.Spools, err = dumpSpools(of.SpoolDir, a); err != nil {
			return err
		}
	}
	if m.Behind, err = awaitThrough(ctx, conn, m.Spools, m.BeganAt); err != nil {
		return err
	}
	from, err := snapshot(ctx, conn, of, m, a, display)
	if err != nil {
		return err
	}
	if err := readClickHouse(ctx, of, from, m, a, display); err != nil {
		return err
	}
	m.EndedAt = time.Now()
	if err := a.finish(m); err != nil {
		return err
	}
	return m.tell(a.final, out)
}

// connect makes the connection that a backup or a restore uses alone. Copying a table takes as long as it takes.
func connect(ctx context.Context, databaseURL string) (*pgx.Conn, error) {
	settings, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, errors.New("DATABASE_URL cannot be used") // pgx's own words may hold the password
	}
	conn, err := pgx.ConnectConfig(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	_, err = conn.Exec(ctx, `SELECT set_config('statement_timeout', '0', false), set_config('idle_in_transaction_session_timeout', '0', false),
		set_config('DateStyle', 'ISO', false), set_config('IntervalStyle', 'postgres', false), set_config('extra_float_digits', '1', false)`)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connect to PostgreSQL: %w", err), conn.Close(ctx))
	}
	return conn, nil
}

// snapshot writes PostgreSQL's part and gives the first day whose calls are kept.
func snapshot(ctx context.Context, conn *pgx.Conn, of Installation, m *Manifest, a *archive, display meters) (from beijing.Day, err error) {
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if m.Postgres, err = dumpPostgres(ctx, tx, a, display); err != nil {
			return err
		}
		if m.Keys, err = of.Secrets.survey(ctx, tx); err != nil {
			return fmt.Errorf("%w; give the secrets that this installation runs with: a backup that nobody can open is none", err)
		}
		var left *time.Time
		if err := tx.QueryRow(ctx, `SELECT calls_from FROM collection`).Scan(&left); err != nil {
			return fmt.Errorf("ask for what is kept: %w", err)
		}
		from = of.Retention.CallsFrom(beijing.Today(m.BeganAt))
		if left != nil {
			from = max(from, beijing.Date(left.Date()))
		}
		return nil
	})
	return from, err
}

// whole makes a query of a cluster see everything that was confirmed, or fail.
var whole = chdriver.Settings{
	"skip_unavailable_shards": 0, "max_replica_delay_for_distributed_queries": 1, "fallback_to_stale_replicas_for_distributed_queries": 0,
	"max_execution_time": 0,
}

func readClickHouse(ctx context.Context, of Installation, from beijing.Day, m *Manifest, a *archive, display meters) error {
	if err := clickhouse.Fetch(ctx, of.ClickHouseURL); err != nil {
		return err
	}
	s, err := openStore(ctx, of.ClickHouseURL, whole)
	if err != nil {
		return err
	}
	defer s.close()
	m.ClickHouse = ClickHouse{Shards: s.shards, CallsFrom: from.String()}
	if m.ClickHouse.Schema, err = s.version(ctx); err != nil {
		return err
	}
	pieces, err := s.pieces(ctx, of.Retention, from, beijing.Today(m.BeganAt))
	if err != nil {
		return err
	}
	m.ClickHouse.Tables, err = s.dumpClickHouse(ctx, a, pieces, display)
	return err
}

// tell says what a backup holds, and what it needs.
func (m *Manifest) tell(dir string, out io.Writer) error {
	segments := 0
	for _, s := range m.Spools {
		segments += len(s.Files)
	}
	var rows int64
	for _, t := range m.Postgres.Tables {
		rows += t.Rows
	}
	lines := []string{
		fmt.Sprintf("%s: %d calls of ClickHouse, %d rows of PostgreSQL, %d files of %d spools; %d bytes", dir, m.calls(), rows, segments, len(m.Spools), m.bytes()),
		fmt.Sprintf("It holds every call that was recorded before %s. Redis is a cache, and not in it.", beijing.Format(m.BeganAt)),
	}
	if len(m.Behind) > 0 {
		lines = append(lines, fmt.Sprintf("Not in it is what waits in %d spools that nobody ships, on disks of other machines (callgate spools lists them): %s", len(m.Behind), strings.Join(m.Behind, ", ")))
	}
	for _, key := range m.Keys {
		lines = append(lines, fmt.Sprintf("It needs the encryption key %q, fingerprint %s, which opens %d values.", key.ID, key.Fingerprint, key.Values))
	}
	lines = append(lines, fmt.Sprintf("It needs ACCESS_KEY_PEPPER, fingerprint %s. Neither is in it: keep them apart from it.", m.Pepper))
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}
