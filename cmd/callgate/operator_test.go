package main

import (
	"database/sql"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/ClickHouse/clickhouse-go/v2"
	_ "github.com/jackc/pgx/v5/stdlib"

	"callgate/internal/beijing"
	"callgate/internal/embedded"
	"callgate/internal/openapi"
)

// operate runs an operator's command on the stores of environment.
func operate(t *testing.T, environment map[string]string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	for _, name := range []string{"DATABASE_URL", "CLICKHOUSE_URL", "CLICKHOUSE_CLUSTER"} {
		cmd.Env = append(cmd.Env, name+"="+environment[name])
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// verified demands that callgate verify finds no difference.
func verified(t *testing.T, environment map[string]string) {
	t.Helper()
	out, err := operate(t, environment, "verify")
	if err != nil || !strings.Contains(out, " 0 differences") {
		t.Errorf("callgate verify: %v\n%s", err, out)
	}
	t.Logf("callgate verify: %s", out)
}

// TestVerifyExitsNonZeroOnADifference plants a rollup row of no call.
func TestVerifyExitsNonZeroOnADifference(t *testing.T) {
	stores := embedded.Stores(t)
	environment := map[string]string{"DATABASE_URL": stores.DatabaseURL, "CLICKHOUSE_URL": stores.ClickHouseURL}
	verified(t, environment)
	const app = "01920000-0000-7000-8000-000000000001"
	execute(t, "pgx", stores.DatabaseURL, `
		WITH u AS (INSERT INTO users (id, email) VALUES ('`+app+`', 'a@example.com')),
		a AS (INSERT INTO applications (id, owner_id, name) VALUES ('`+app+`', '`+app+`', 'A'))
		INSERT INTO access_keys (application_id, lookup, sealed, mask) VALUES ('`+app+`', '\x00', '\x00', 'm')`)
	verified(t, environment)
	execute(t, "clickhouse", stores.ClickHouseURL, `INSERT INTO usage_daily (application_id, day, model, calls)
		VALUES ('`+app+`', toDate(now(), 'Asia/Shanghai'), 'ghost', 1)`)
	out, err := operate(t, environment, "verify")
	if err == nil || !strings.Contains(out, "application "+app+": .summary.calls: 1 is answered, the rows give 0") {
		t.Errorf("%v\n%s", err, out)
	}
	ago := func(days int) string { return time.Now().AddDate(0, 0, -days).Format(time.DateOnly) }
	if out, err = operate(t, environment, "verify", "--from", ago(300), "--to", ago(100)); err != nil {
		t.Errorf("other months: %v\n%s", err, out)
	}
	if out, err = operate(t, environment, "verify", "--from", "2020-01-01", "--to", "2020-12-31"); err == nil || !strings.Contains(out, "cannot be recounted") {
		t.Errorf("a year whose calls are gone: %v\n%s", err, out)
	}
	if out, err = operate(t, environment, "verify", "--account", "A@example.com"); err == nil || !strings.Contains(out, "1 accounts, 1 applications") {
		t.Errorf("its account: %v\n%s", err, out)
	}
	execute(t, "pgx", stores.DatabaseURL, `INSERT INTO users (id, email) VALUES ('01920000-0000-7000-8000-000000000002', 'b@example.com')`)
	if out, err = operate(t, environment, "verify", "--account", "b@example.com"); err != nil {
		t.Errorf("another account: %v\n%s", err, out)
	}
	if out, err = operate(t, environment, "verify", "--account", "nobody@example.com"); err == nil || !strings.Contains(out, "nobody@example.com") {
		t.Errorf("no account: %v\n%s", err, out)
	}
	if out, err = operate(t, environment, "verify", "--from", "2020-02-30"); err == nil {
		t.Errorf("no date: %s", out)
	}
}

// lostSpool is the id of the spool that is furthest behind: the first line below the heading.
func lostSpool(t *testing.T, environment map[string]string) (string, error) {
	t.Helper()
	out, err := operate(t, environment, "spools")
	if err != nil {
		t.Fatalf("spools: %v\n%s", err, out)
	}
	lines := strings.Split(out, "\n")
	if len(lines) < 2 || !strings.HasPrefix(lines[0], "ID ") || lines[1] == "" {
		return "", fmt.Errorf("no spool in %q", out)
	}
	return strings.Fields(lines[1])[0], nil
}

// execute runs one statement on a store.
func execute(t *testing.T, driver, url, statement string) {
	t.Helper()
	db, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// TestALostSpoolHoldsTheStatisticsBackUntilItIsRetired kills a gateway whose disk never comes back.
func TestALostSpoolHoldsTheStatisticsBackUntilItIsRetired(t *testing.T) {
	engines := embedded.Own(t)
	environment := production(t, engines)
	migrate(t, environment)
	lost := start(t, environment, "serve", "--role", "gateway")
	eventually(t, time.Minute, "the gateway is in the ledger", func() error {
		_, err := lostSpool(t, environment)
		return err
	})
	lost.stop(syscall.SIGKILL)
	environment["SPOOL_DIR"] = filepath.Join(t.TempDir(), "another")
	start(t, environment, "serve", "--role", "gateway")
	id, err := lostSpool(t, environment)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := operate(t, environment, "spools", "retire", id); err == nil || !strings.Contains(out, "in use") {
		t.Errorf("of a gateway that reported a moment ago: %v\n%s", err, out)
	}
	eventually(t, time.Minute, "the lost spool is given up", func() error {
		out, err := operate(t, environment, "spools", "retire", id)
		if err == nil && !strings.Contains(out, "0 calls that it held count as missed") {
			t.Errorf("retire: %s", out)
		}
		return err
	})
	out, err := operate(t, environment, "spools")
	if err != nil || strings.Contains(out, id) || strings.Count(out, "\n") != 2 {
		t.Errorf("after %s was retired: %v\n%s", id, err, out)
	}
	for _, args := range [][]string{{"retire", "01920000-0000-7000-8000-000000000001"}, {"retire", "it"}, {"retire"}, {"forget", id}} {
		if out, err := operate(t, environment, append([]string{"spools"}, args...)...); err == nil {
			t.Errorf("spools %v: %s", args, out)
		}
	}
}

// TestWhatALostGatewayHeldIsMissedOnceItIsRetiredInTheBackOffice kills a gateway while ClickHouse is away, and
// loses its disk: the statistics wait, then go on and say how many calls are missing.
func TestWhatALostGatewayHeldIsMissedOnceItIsRetiredInTheBackOffice(t *testing.T) {
	h := newInstallation(t)
	clickhouse := embedded.NewLink(t, h.environment["CLICKHOUSE_URL"])
	lost := h.node(t, "CLICKHOUSE_URL="+clickhouse.URL(), "SPOOL_DIR="+filepath.Join(t.TempDir(), "lost"))
	made := func(calls int) {
		for range calls {
			j := &journey{process: &process{t: t, base: lost.base}, key: h.key}
			if status, _, body := j.send("POST", "/v1/json?model=chat", "application/json", []byte(`{}`)); status != 200 {
				t.Fatalf("%d %s", status, body)
			}
		}
	}
	only := func() openapi.Spool {
		page := do[openapi.SpoolPage](h.admin, "GET", "/api/admin/spools", nil)
		if len(page.Items) != 1 {
			t.Fatalf("%d spools", len(page.Items))
		}
		return page.Items[0]
	}
	made(10)
	ended := time.Now()
	var counted int // these, and what it took until the key was known
	eventually(t, time.Minute, "everything is counted, and its gateway knows", func() (err error) {
		// A rollup shows calls before the gateway has been told that they are stored, and its reports are of moments ago.
		stored, _ := beijing.Parse(only().Through)
		if counted, err = h.dev.counted(h.app); err == nil && (counted < 10 || !stored.After(ended)) {
			err = fmt.Errorf("%d are, stored through %v of %v", counted, stored, ended)
		}
		return err
	})
	clickhouse.Cut()
	made(25)
	eventually(t, time.Minute, "the back office sees what is held", func() error {
		if s := only(); s.State != "live" || s.HeldCalls == nil || *s.HeldCalls != 25 || s.OldestAt == nil || *s.Role != "gateway" {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
	lost.kill()
	killed := time.Now()
	path := "/api/admin/spools/" + only().ID.String() + "/retire"
	if status, e := h.admin.try("POST", path, nil); status != 409 {
		t.Errorf("right after its last report: %d %s", status, e.Msg)
	}
	eventually(t, time.Minute, "it is silent", func() error {
		if s := only(); s.State != "silent" {
			return fmt.Errorf("it is %s", s.State)
		}
		return nil
	})
	if through, missed, err := h.dev.completeness(h.app); err != nil || missed != 0 || through.After(killed) {
		t.Errorf("while it is waited for: through %v, %d missed, %v", through, missed, err)
	}
	if s := do[openapi.Spool](h.admin, "POST", path, nil); s.State != "retired" || *s.MissedCalls != 25 || *s.RetiredBy != "admin@callgate.local" {
		t.Errorf("%+v", s)
	}
	through, missed, err := h.dev.completeness(h.app)
	if err != nil || missed != 25 || !through.After(killed) {
		t.Errorf("once it is retired: through %v, %d missed, %v", through, missed, err)
	}
	h.dev.awaitCalls(h.app, 5*time.Second, counted)
	verified(t, h.environment)
}
