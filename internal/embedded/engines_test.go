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
	deadline := time.Now().Add(15 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within 15 s: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func alive(pid string) bool {
	n, err := strconv.Atoi(pid)
	return err == nil && !errors.Is(syscall.Kill(n, 0), syscall.ESRCH)
}

func TestAKilledEngineComesBackOnTheSamePortWithItsData(t *testing.T) {
	dir := dataDir(t)
	engines := start(t, dir)
	for name, store := range stores {
		dsn := dsnOf(engines, name)
		exec1(t, store.driver, dsn, store.create, "INSERT INTO kept VALUES (1), (2), (3)")
		before := engines.PIDs()[name]
		if err := engines.Kill(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if after := engines.PIDs()[name]; after == before {
			t.Errorf("%s was not killed", name)
		}
		if got := keptRows(t, store.driver, dsn); got != 3 {
			t.Errorf("%s kept %d rows of 3", name, got)
		}
		eventually(t, "connections.env names the new pid of "+name, func() bool {
			return connections(t, dir)[strings.ToUpper(name)+"_PID"] == strconv.Itoa(engines.PIDs()[name])
		})
	}
}

func TestAnEngineHeldDownStaysDownUntilItIsLetUp(t *testing.T) {
	engines := start(t, dataDir(t))
	up, err := engines.Down("clickhouse")
	if err != nil {
		t.Fatal(err)
	}
	db := open(t, "clickhouse", engines.ClickHouseURL())
	defer func() { _ = db.Close() }()
	if err := db.PingContext(t.Context()); err == nil {
		t.Error("a killed ClickHouse answers")
	}
	if _, err := engines.Down("clickhouse"); err == nil {
		t.Error("an engine can be held down twice")
	}
	if err := up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.PingContext(t.Context()); err != nil {
		t.Errorf("ClickHouse is up and does not answer: %v", err)
	}
}

func TestChildrenEndWithAKilledParentAndDataSurvives(t *testing.T) {
	dir := dataDir(t)
	parent := startProcess(t, dir, nil)
	if parent.said != "ready" {
		t.Fatal(parent.said)
	}
	first := connections(t, dir)
	exec1(t, "pgx", first["DATABASE_URL"], stores["postgres"].create, "INSERT INTO kept VALUES (1), (2)")
	exec1(t, "clickhouse", first["CLICKHOUSE_URL"], stores["clickhouse"].create, "INSERT INTO kept VALUES (1), (2)")
	if err := parent.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.cmd.Wait()
	// Deliberately no wait for the children: the next start has to cope with them ending.
	engines := start(t, dir)
	for _, name := range []string{"POSTGRES_PID", "CLICKHOUSE_PID"} {
		eventually(t, name+" has ended", func() bool { return !alive(first[name]) })
	}
	for name, store := range stores {
		if got := keptRows(t, store.driver, dsnOf(engines, name)); got != 2 {
			t.Errorf("%s kept %d rows of 2", name, got)
		}
	}
	second := connections(t, dir)
	for _, name := range []string{"DATABASE_URL", "CLICKHOUSE_URL", "CLICKHOUSE_HTTP_URL", "REDIS_URL", "SMTP_URL", "DEMO_UPSTREAM_URL", "DEMO_UPSTREAM_KEY"} {
		if first[name] == "" || first[name] != second[name] {
			t.Errorf("%s changed from one start to the next", name)
		}
	}
}

func TestAPostgresPidFileOfAnotherProcessIsNoObstacle(t *testing.T) {
	dir := dataDir(t)
	engines := start(t, dir)
	var data string
	db := open(t, "pgx", engines.DatabaseURL())
	if err := db.QueryRowContext(t.Context(), "SHOW data_directory").Scan(&data); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	if err := engines.Close(); err != nil {
		t.Fatal(err)
	}
	// What a crash leaves behind when its pid has been given to somebody else since: here, to us.
	stale := strconv.Itoa(os.Getpid()) + "\n" + data + "\n"
	if err := os.WriteFile(filepath.Join(data, "postmaster.pid"), []byte(stale), 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, dir)
}

func TestASecondInstanceOnTheSameDataDirectoryIsRefused(t *testing.T) {
	dir := dataDir(t)
	start(t, dir)
	_, err := embedded.Start(t.Context(), embedded.Options{DataDir: dir})
	if err == nil {
		t.Fatal("two instances share a data directory")
	}
	for _, part := range []string{dir, "pid " + strconv.Itoa(os.Getpid())} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the refusal does not name %q: %v", part, err)
		}
	}
	if other := startProcess(t, dir, nil); !strings.Contains(other.said, dir) {
		t.Errorf("another process is not refused: %q", other.said)
	}
}

func TestNobodyEntersAnEngineWithoutItsPassword(t *testing.T) {
	engines := start(t, dataDir(t))
	_, clickHouse, _ := strings.Cut(engines.ClickHouseURL(), "@")
	_, postgres, _ := strings.Cut(engines.DatabaseURL(), "@")
	strangers := []struct{ driver, dsn string }{
		{"clickhouse", "clickhouse://default:@" + clickHouse}, // the engine's own user has no password
		{"clickhouse", "clickhouse://callgate:@" + clickHouse},
		{"pgx", "postgres://callgate@" + postgres},
		{"pgx", "postgres://callgate:wrong@" + postgres},
	}
	for _, stranger := range strangers {
		driverName, dsn := stranger.driver, stranger.dsn
		db := open(t, driverName, dsn)
		if err := db.PingContext(t.Context()); err == nil {
			t.Errorf("%s lets a stranger in", strings.Split(dsn, "@")[0])
		}
		_ = db.Close()
	}
}

func TestADataDirectoryThatOthersCannotEnterWorks(t *testing.T) {
	private := filepath.Join(dataDir(t), "home")
	if err := os.Mkdir(private, 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(private, "data")
	engines := start(t, dir)
	exec1(t, "pgx", engines.DatabaseURL(), stores["postgres"].create, "INSERT INTO kept VALUES (1)")
	var data string
	db := open(t, "pgx", engines.DatabaseURL())
	if err := db.QueryRowContext(t.Context(), "SHOW data_directory").Scan(&data); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	if err := engines.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(data, dir) { // as root it lives outside, and nothing else removes it
		t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(data)) })
	}
	if got := keptRows(t, "pgx", start(t, dir).DatabaseURL()); got != 1 {
		t.Errorf("%d rows of 1 after the second start", got)
	}
}

func TestAnOrdinaryUserRunsTheEngines(t *testing.T) {
	dir := dataDir(t)
	other := startProcess(t, filepath.Join(dir, "data"), func(cmd *exec.Cmd) {
		if os.Geteuid() == 0 {
			becomeNobody(t, cmd, dir)
		}
	})
	if other.said != "ready" {
		t.Fatal(other.said)
	}
	found := connections(t, filepath.Join(dir, "data"))
	exec1(t, "pgx", found["DATABASE_URL"], "SELECT 1")
	exec1(t, "clickhouse", found["CLICKHOUSE_URL"], "SELECT 1")
	if err := other.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := other.cmd.Wait(); err != nil {
		t.Errorf("orderly end: %v", err)
	}
	for _, name := range []string{"POSTGRES_PID", "CLICKHOUSE_PID"} {
		if alive(found[name]) {
			t.Errorf("%s outlived an orderly end", name)
		}
	}
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
