package embedded_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"callgate/internal/embedded"
)

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
