package embedded_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	_ "github.com/jackc/pgx/v5/stdlib" // the "pgx" driver

	"callgate/internal/embedded"
)

// startVariable makes this test binary start engines in the directory it names and wait to be killed.
const startVariable = "EMBEDDED_TEST_START"

func TestMain(m *testing.M) {
	if dir := os.Getenv(startVariable); dir != "" {
		engines, err := embedded.Start(context.Background(), embedded.Options{DataDir: dir})
		if err != nil {
			os.Stdout.WriteString("failed: " + err.Error() + "\n")
			os.Exit(1)
		}
		os.Stdout.WriteString("ready\n")
		_, _ = io.Copy(io.Discard, os.Stdin)
		if err := engines.Close(); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func start(t *testing.T, dir string) *embedded.Engines {
	t.Helper()
	began := time.Now()
	engines, err := embedded.Start(t.Context(), embedded.Options{DataDir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("engines ready after %v", time.Since(began))
	t.Cleanup(func() {
		if err := engines.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return engines
}

// dataDir is a fresh directory that every user may enter (t.TempDir's parent is private).
func dataDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// process is this test binary as another process that runs engines in dir.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	said  string // its first line
}

func startProcess(t *testing.T, dir string, change func(*exec.Cmd)) process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), startVariable+"="+dir)
	if change != nil {
		change(cmd)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Errorf("read from the other process: %v", err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return process{cmd: cmd, stdin: stdin, said: strings.TrimSpace(line)}
}

// connections reads a connections.env.
func connections(t *testing.T, dir string) map[string]string {
	t.Helper()
	path := filepath.Join(dir, "connections.env")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("connections.env must be readable by its owner only: %v, %v", info.Mode(), err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		found[name] = value
	}
	return found
}

func open(t *testing.T, driverName, dsn string) *sql.DB {
	t.Helper()
	if driverName == "clickhouse" {
		options, err := driver.ParseDSN(dsn)
		if err != nil {
			t.Fatal(err)
		}
		return driver.OpenDB(options)
	}
	db, err := sql.Open(driverName, dsn)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// stores are the two databases that keep data, and how each makes the table the tests write to.
var stores = map[string]struct{ driver, create string }{
	"postgres":   {"pgx", "CREATE TABLE kept (id int)"},
	"clickhouse": {"clickhouse", "CREATE TABLE kept (id Int32) ENGINE = MergeTree ORDER BY id"},
}

func dsnOf(engines *embedded.Engines, store string) string {
	if store == "clickhouse" {
		return engines.ClickHouseURL()
	}
	return engines.DatabaseURL()
}

func exec1(t *testing.T, driverName, dsn string, statements ...string) {
	t.Helper()
	db := open(t, driverName, dsn)
	defer func() { _ = db.Close() }()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func keptRows(t *testing.T, driverName, dsn string) (count int) {
	t.Helper()
	db := open(t, driverName, dsn)
	defer func() { _ = db.Close() }()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM kept").Scan(&count); err != nil {
		t.Fatal(err)
	}
	return count
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func alive(pid string) bool {
	n, err := strconv.Atoi(pid)
	return err == nil && !errors.Is(syscall.Kill(n, 0), syscall.ESRCH)
}

// becomeNobody has a command run as nobody in dir, with a copy of this binary and with engines that user can read.
func becomeNobody(t *testing.T, cmd *exec.Cmd, dir string) {
	t.Helper()
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)
	binary, err := os.ReadFile(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path = filepath.Join(dir, "embedded.test")
	if err := os.WriteFile(cmd.Path, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	installed, err := filepath.Abs("../../deploy/engines")
	if err != nil {
		t.Fatal(err)
	}
	readable := installed
	if !enterable(installed) {
		readable = filepath.Join(dir, "engines")
		if err := os.CopyFS(readable, os.DirFS(installed)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "ENGINES_DIR="+readable, "HOME="+dir, "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

func enterable(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == "/" {
			return true
		}
	}
}
