package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Standby is a second PostgreSQL that follows the one of Engines: what that one has acknowledged is here too.
type Standby struct {
	engines *Engines
	pg      *postgres
}

const standbyName = "standby"

// Standby gives a test a standby of the engines' PostgreSQL, replicated synchronously. It ends with the engines.
// PostgreSQL's own pg_basebackup is not part of the build, so its steps are done here.
func (e *Engines) Standby(t TB) *Standby {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	s, err := e.startStandby(ctx)
	if err != nil {
		t.Fatalf("start a standby: %v", err)
	}
	if filepath.Dir(e.pg.dir) == outside {
		t.Cleanup(func() { _ = os.RemoveAll(s.pg.dir) })
	}
	return s
}

func (e *Engines) startStandby(ctx context.Context) (*Standby, error) {
	if err := e.state.ports.repick(standbyName); err != nil {
		return nil, err
	}
	pg := *e.pg
	pg.dir, pg.log = e.pg.dir+"-"+standbyName, e.pg.log+"-"+standbyName
	pg.ports = &ports{chosen: map[string]int{"postgres": e.state.ports.of(standbyName)}}
	s := &Standby{engines: e, pg: &pg}
	if err := s.copyPrimary(ctx); err != nil {
		return nil, err
	}
	follower := pg.engine()
	follower.name = standbyName
	started, err := startChild(ctx, follower, e.spawner, e.logger, func() {})
	if err != nil {
		return nil, err
	}
	e.children = append(e.children, started)
	return s, s.waitFor(ctx)
}

// copyPrimary copies the running primary's data, and makes the copy one that follows it.
func (s *Standby) copyPrimary(ctx context.Context) error {
	primary := s.engines.pg
	conn, err := pgx.Connect(ctx, primary.url(account))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // the backup belongs to this session
	for _, statement := range []string{
		`SELECT pg_create_physical_replication_slot('` + standbyName + `', true)`, `SELECT pg_backup_start('` + standbyName + `', true)`,
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	data := filepath.Join(s.pg.dir, "data")
	if err := errors.Join(s.pg.makeDir(data), s.copyTree(filepath.Join(primary.dir, "data"), data)); err != nil {
		return err
	}
	var label string
	if err := conn.QueryRow(ctx, `SELECT labelfile FROM pg_backup_stop(false)`).Scan(&label); err != nil {
		return err
	}
	follow := fmt.Sprintf("primary_conninfo = 'host=127.0.0.1 port=%d user=%s password=%s application_name=%s'\nprimary_slot_name = '%[4]s'\n",
		primary.ports.of("postgres"), account, primary.password, standbyName)
	return errors.Join(s.write("backup_label", label), s.write("postgresql.auto.conf", follow), s.write("standby.signal", ""))
}

func (s *Standby) write(name, text string) error {
	path := filepath.Join(s.pg.dir, "data", name)
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(os.WriteFile(path, append(before, text...), 0o600), s.pg.own(path))
}

// copyTree copies what a running server has in its directory; files that go meanwhile are not needed.
func (s *Standby) copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case entry.Name() == "postmaster.pid" || entry.Name() == "postmaster.opts":
			return nil
		case entry.IsDir():
			return errors.Join(os.MkdirAll(target, 0o700), s.pg.own(target))
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return errors.Join(err, os.WriteFile(target, content, 0o600), s.pg.own(target))
	})
}

// waitFor makes the primary wait for the standby with every commit from now on.
func (s *Standby) waitFor(ctx context.Context) error {
	primary := s.engines.pg.url(account)
	for _, statement := range []string{`ALTER SYSTEM SET synchronous_standby_names = '` + standbyName + `'`, `SELECT pg_reload_conf()`} {
		if err := execPostgres(ctx, primary, statement); err != nil {
			return err
		}
	}
	return poll(ctx, func() error {
		return askPostgres(ctx, primary, `SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'`)
	})
}

// askPostgres fails unless a question is answered with true.
func askPostgres(ctx context.Context, dsn, question string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var yes bool
	if err := conn.QueryRow(ctx, question).Scan(&yes); err != nil {
		return err
	}
	if !yes {
		return errors.New("not yet")
	}
	return nil
}

// Promote makes the standby a primary; the other one must be down. It returns once this one takes writes.
func (s *Standby) Promote(ctx context.Context) error {
	return askPostgres(ctx, s.pg.url(account), `SELECT pg_promote(true, 30)`)
}

// URL is the DSN that names both servers and wants the one that takes writes.
func (s *Standby) URL() string {
	u, err := url.Parse(s.engines.DatabaseURL())
	if err != nil {
		return err.Error()
	}
	u.Host += "," + address(s.pg.ports.of("postgres"))
	query := u.Query()
	query.Set("target_session_attrs", "read-write")
	u.RawQuery = query.Encode()
	return u.String()
}

// ServeTLS makes the engines' PostgreSQL speak TLS too, with a certificate and its key in PEM; a standby made
// after it does as well.
func (e *Engines) ServeTLS(ctx context.Context, certificate, key []byte) error {
	data := filepath.Join(e.pg.dir, "data")
	for name, content := range map[string][]byte{"server.crt": certificate, "server.key": key} {
		path := filepath.Join(data, name)
		if err := errors.Join(os.WriteFile(path, content, 0o600), e.pg.own(path)); err != nil {
			return err
		}
	}
	for _, statement := range []string{`ALTER SYSTEM SET ssl = on`, `SELECT pg_reload_conf()`} {
		if err := execPostgres(ctx, e.DatabaseURL(), statement); err != nil {
			return err
		}
	}
	return poll(ctx, func() error {
		return askPostgres(ctx, e.DatabaseURL(), `SELECT setting = 'on' FROM pg_settings WHERE name = 'ssl'`)
	})
}
