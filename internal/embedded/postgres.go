package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// postgres is the embedded PostgreSQL.
type postgres struct {
	native    string // bin, lib and share
	dir       string // holds data/ and, while it is being made, its parts
	log       string
	password  string
	ephemeral bool
	ports     *ports
	runAs     *syscall.Credential // nil: as ourselves
}

func (p *postgres) engine() engine {
	return engine{
		name:    "postgres",
		log:     p.log,
		command: p.command,
		repick:  func() error { return p.ports.repick("postgres") },
		ready:   p.ready,
		interrupt: func(pid int, _ io.Closer) error {
			if p.ephemeral {
				return syscall.Kill(pid, syscall.SIGQUIT) // nothing to keep: no checkpoint
			}
			return syscall.Kill(pid, syscall.SIGINT)
		},
	}
}

func (p *postgres) command() (*exec.Cmd, error) {
	data := filepath.Join(p.dir, "data")
	if err := stopLeftover(data); err != nil {
		return nil, err
	}
	settings := []string{
		"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(p.ports.of("postgres")), "unix_socket_directories=",
		"max_connections=400", "shared_buffers=64MB", "max_wal_size=512MB", "log_timezone=UTC", "timezone=UTC",
		"log_min_messages=warning", "log_checkpoints=off", "autovacuum_max_workers=2",
	}
	if p.ephemeral {
		settings = append(settings, "fsync=off", "full_page_writes=off") // commits still reach the kernel: kill -9 loses none
	}
	arguments := []string{"-D", data}
	for _, setting := range settings {
		arguments = append(arguments, "-c", setting)
	}
	return p.run("postgres", arguments...), nil
}

// run builds a command of the PostgreSQL build. SIGINT is its fast, orderly shutdown.
func (p *postgres) run(program string, arguments ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.native, "bin", program), arguments...)
	cmd.Dir = p.dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC", "LD_LIBRARY_PATH=" + filepath.Join(p.native, "lib")}
	cmd.SysProcAttr = childAttributes(syscall.SIGINT, p.runAs)
	return cmd
}

// ready connects to the product's database and makes it the first time.
func (p *postgres) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout/3)
	defer cancel()
	conn, err := pgx.Connect(ctx, p.url(account))
	if absent := new(pgconn.PgError); errors.As(err, &absent) && absent.Code == "3D000" { // invalid_catalog_name
		return execPostgres(ctx, p.url("postgres"), "CREATE DATABASE "+account)
	}
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// execPostgres runs one statement on a connection of its own.
func execPostgres(ctx context.Context, dsn, statement string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("connect to postgres: %w", err)
	}
	_, err = conn.Exec(ctx, statement)
	if err != nil {
		err = fmt.Errorf("postgres: %w", err)
	}
	return errors.Join(err, conn.Close(ctx))
}

func (p *postgres) url(database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(account, p.password),
		Host: address(p.ports.of("postgres")), Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// prepare makes the cluster on the first start. It is built beside its place and moved there
// complete, so that a start cut short leaves nothing half-made.
func (p *postgres) prepare(ctx context.Context, spawn *spawner) error {
	data := filepath.Join(p.dir, "data")
	if _, err := os.Stat(data); err == nil {
		return nil
	}
	building := filepath.Join(p.dir, "building")
	if err := os.RemoveAll(building); err != nil {
		return fmt.Errorf("postgres directory: %w", err)
	}
	if err := p.makeDir(building); err != nil {
		return err
	}
	secret := filepath.Join(p.dir, "password")
	defer func() { _ = os.Remove(secret) }()
	if err := os.WriteFile(secret, []byte(p.password+"\n"), 0o600); err != nil {
		return fmt.Errorf("postgres directory: %w", err)
	}
	if err := p.own(secret); err != nil {
		return err
	}
	arguments := []string{
		"-D", building, "-U", account, "--pwfile=" + secret, "--auth=scram-sha-256", "--encoding=UTF8",
		"--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8",
	}
	if p.ephemeral {
		arguments = append(arguments, "--no-sync")
	}
	if err := runToEnd(ctx, spawn, p.run("initdb", arguments...)); err != nil {
		return fmt.Errorf("initdb: %w", err)
	}
	if err := os.Rename(building, data); err != nil {
		return fmt.Errorf("postgres directory: %w", err)
	}
	return nil
}

func runToEnd(ctx context.Context, spawn *spawner, cmd *exec.Cmd) error {
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := spawn.start(cmd); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, lastLines([]byte(out.String())))
	}
	return nil
}

func (p *postgres) makeDir(dir string) error {
	if filepath.Dir(p.dir) == outside {
		if err := makeOutside(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("postgres directory: %w", err)
	}
	return errors.Join(p.own(p.dir), p.own(dir))
}

// own gives a file to the user PostgreSQL runs as.
func (p *postgres) own(path string) error {
	if p.runAs == nil {
		return nil
	}
	if err := os.Chown(path, int(p.runAs.Uid), int(p.runAs.Gid)); err != nil {
		return fmt.Errorf("postgres directory: %w", err)
	}
	return nil
}

// stopLeftover ends a postmaster that outlived its parent and removes its pid file. PostgreSQL
// judges that file by the pid alone, which another process may have been given since; we hold
// the lock of DATA_DIR, so a live postmaster of this data directory can only be a leftover.
func stopLeftover(data string) error {
	file := filepath.Join(data, "postmaster.pid")
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pid file of postgres: %w", err)
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil || pid <= 1 {
		return os.Remove(file)
	}
	alive := func() bool { return strings.Contains(commandLine(first), data) }
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		if !alive() {
			break
		}
		if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop the postgres left behind (pid %d): %w", pid, err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout/2)
		_ = poll(ctx, func() error {
			if alive() {
				return errors.New("still running")
			}
			return nil
		})
		cancel()
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("pid file of postgres: %w", err)
	}
	return nil
}
