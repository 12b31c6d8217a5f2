package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"callgate/internal/embedded"
)

// production is what an operator sets for serve on engines.
func production(t *testing.T, engines *embedded.Engines) map[string]string {
	return map[string]string{
		"DATABASE_URL": engines.DatabaseURL(), "CLICKHOUSE_URL": engines.ClickHouseDSN(), "CLICKHOUSE_CLUSTER": engines.ClickHouseCluster(),
		"REDIS_URL":  engines.RedisURL(),
		"JWT_SECRET": strings.Repeat("jwt-secret ", 4), "ACCESS_KEY_PEPPER": strings.Repeat("pepper ", 6),
		"ENCRYPTION_KEYS": "k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))),
		"ADMIN_EMAILS":    "admin@callgate.local", "SMTP_URL": engines.Mailbox().URL(), "MAIL_FROM": "callgate@example.com",
		"SPOOL_DIR": filepath.Join(t.TempDir(), "spool"), "UPSTREAM_ALLOW_PRIVATE": "true",
	}
}

// migrate runs the command on several nodes at once, and once more.
func migrate(t *testing.T, environment map[string]string) {
	t.Helper()
	migrateBy(t, binary, environment)
}

func migrateBy(t *testing.T, program string, environment map[string]string) {
	t.Helper()
	run := func() {
		cmd := exec.CommandContext(t.Context(), program, "migrate")
		for name, value := range environment {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("migrate: %v\n%s", err, out)
		}
	}
	var nodes sync.WaitGroup
	for range 3 {
		nodes.Go(run)
	}
	nodes.Wait()
	run()
}

// TestServeInTwoRolesDoesWhatDevDoes starts gateway and console as processes of their own, kills the
// gateway under load, and takes PostgreSQL away.
func TestServeInTwoRolesDoesWhatDevDoes(t *testing.T) {
	up := newScripted(t)
	engines := embedded.Own(t)
	environment := production(t, engines)
	migrate(t, environment)
	began := time.Now()
	gate := start(t, environment, "serve", "--role", "gateway")
	t.Logf("serve --role gateway is ready after %v", time.Since(began).Round(time.Millisecond))
	console := start(t, environment, "serve", "--role", "console")
	console.mails = func(email string) (string, error) {
		if caught := engines.Mailbox().Mails(email); len(caught) > 0 {
			return caught[0].Code, nil
		}
		return "", fmt.Errorf("no mail")
	}
	console.administrator().capability("chat", up.URL, upstreamKey)
	dev := console.developer("dev@example.com")
	app, key := dev.application("Served", "chat")

	restart := func() *process { return start(t, environment, "serve", "--role", "gateway") }
	dev.checkKills(app, killUnderLoad(t, restart, gate, key))
	verified(t, environment)
	withoutPostgres(t, engines, environment, dev, key)
}

// withoutPostgres: a key that no store can be asked about gets 503, never 401, and is not recorded; so does one that was known for
// too long. The gateway stays ready, and its log has a line a second.
func withoutPostgres(t *testing.T, engines *embedded.Engines, environment map[string]string, dev client, known string) {
	t.Helper()
	_, fresh := dev.application("Never called", "chat")
	environment["SPOOL_DIR"], environment["ACCESS_STALE_ON_ERROR"] = filepath.Join(t.TempDir(), "spool"), "4s"
	gate := start(t, environment, "serve", "--role", "gateway")
	good := &journey{process: gate, key: known}
	if status, _, body := good.send("POST", "/v1/json?model=chat", "application/json", []byte(`{}`)); status != 200 {
		t.Fatalf("before the outage: %d %s", status, body)
	}
	back, err := engines.Down("postgres")
	if err != nil {
		t.Fatal(err)
	}
	unknown := &journey{process: gate, key: fresh}
	status, header, body := unknown.send("POST", "/v1/json?model=chat", "application/json", []byte(`{}`))
	if status != 503 || !strings.Contains(string(body), `"access_unavailable"`) || header.Get("X-Call-Id") != "" || header.Get("Retry-After") == "" {
		t.Errorf("a key nobody can be asked about: %d %s %v", status, body, header)
	}
	if status, _, body := good.send("POST", "/v1/json?model=chat", "application/json", []byte(`{}`)); status != 200 {
		t.Errorf("a known key during the outage: %d %s", status, body)
	}
	began := time.Now()
	eventually(t, time.Minute, "a known key is not trusted any more", func() error {
		if status, header, _ := good.send("POST", "/v1/json?model=chat", "application/json", []byte(`{}`)); status != 503 || header.Get("Retry-After") == "" {
			return fmt.Errorf("%d %v", status, header)
		}
		return nil
	})
	for range 100 {
		good.send("POST", "/v1/json?model=chat", "application/json", []byte(`{}`))
	}
	if n, most := strings.Count(gate.errors(), "access keys cannot be checked"), 2+int(time.Since(began)/time.Second); n == 0 || n > most {
		t.Errorf("that keys cannot be checked is said %d times, at most %d are one a second", n, most)
	}
	gate.awaitReady() // it tells callers itself
	if err := back(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "the fresh key works", func() error {
		if status, _, body := unknown.send("POST", "/v1/json?model=chat", "application/json", []byte(`{}`)); status != 200 {
			return fmt.Errorf("%d %s", status, body)
		}
		return nil
	})
}

func TestHealthCommandTellsReadyFromDown(t *testing.T) {
	p := startDev(t, map[string]string{})
	health := func(listen string) error {
		cmd := exec.CommandContext(t.Context(), binary, "health")
		cmd.Env = append(os.Environ(), "LISTEN="+listen)
		return cmd.Run()
	}
	if err := health(strings.TrimPrefix(p.base, "http://")); err != nil {
		t.Errorf("a ready process: %v", err)
	}
	if err := health(freeAddress(t)); err == nil {
		t.Error("nobody listens, and health is content")
	}
}
