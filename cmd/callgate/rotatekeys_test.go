package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"callgate/internal/embedded"
	"callgate/internal/secret"
)

func encryptionKey(id string) string {
	return id + ":" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(id[:1], 32)))
}

// rotateKeys runs the command and returns what it printed.
func rotateKeys(t *testing.T, environment map[string]string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "rotate-keys")
	cmd.Env = []string{"DATABASE_URL=" + environment["DATABASE_URL"], "ENCRYPTION_KEYS=" + environment["ENCRYPTION_KEYS"]}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestEncryptionKeysRotateWithoutACallFailing follows the four steps of deploy/docs/secrets.md.
func TestEncryptionKeysRotateWithoutACallFailing(t *testing.T) {
	up := newScripted(t)
	mailbox := embedded.Mails(t)
	environment := map[string]string{
		"DATABASE_URL": embedded.Postgres(t), "CLICKHOUSE_URL": embedded.ClickHouse(t), "REDIS_URL": embedded.Redis(t),
		"JWT_SECRET": strings.Repeat("jwt-secret ", 4), "ACCESS_KEY_PEPPER": strings.Repeat("pepper ", 6),
		"ADMIN_EMAILS": "admin@callgate.local", "SMTP_URL": mailbox.URL(), "MAIL_FROM": "callgate@example.com",
		"SPOOL_DIR": filepath.Join(t.TempDir(), "spool"), "UPSTREAM_ALLOW_PRIVATE": "true",
	}
	serve := func(keys ...string) *process {
		environment["ENCRYPTION_KEYS"] = strings.Join(keys, ",")
		p := start(t, environment, "serve")
		p.mails = func(email string) (string, error) {
			if caught := mailbox.Mails(email); len(caught) > 0 {
				return caught[0].Code, nil
			}
			return "", fmt.Errorf("no mail")
		}
		return p
	}
	older, newer := encryptionKey("older"), encryptionKey("newer")

	p := serve(older)
	p.administrator().capability("chat", up.URL, upstreamKey)
	dev := p.developer("dev@example.com")
	app, key := dev.application("Rotated", "chat")
	more := do[struct{ ID, AccessKey string }](dev, "POST", "/api/applications/"+app+"/keys", object{"name": "more"})
	p.stop(syscall.SIGTERM)

	p = serve(newer, older)
	stop, calls := keepCalling(t, p, key)
	var twice sync.WaitGroup
	for range 2 {
		twice.Go(func() {
			if out, err := rotateKeys(t, environment); err != nil {
				t.Errorf("rotate-keys: %v\n%s", err, out)
			}
		})
	}
	twice.Wait()
	out, err := rotateKeys(t, environment)
	want := ""
	for _, column := range secret.Columns {
		want += column.String() + ": 0 sealed again, 0 cannot be opened, 0 left\n"
	}
	if err != nil || out != want {
		t.Errorf("rotate-keys once more: %v\n%s", err, out)
	}
	stop()
	t.Logf("%d calls during the rotation", calls.Load())
	p.stop(syscall.SIGTERM)

	p = serve(newer)
	stop, _ = keepCalling(t, p, key)
	stop()
	dev = client{p, dev.token}
	if shown := do[struct{ AccessKey string }](dev, "GET", "/api/applications/"+app+"/access-key", nil); shown.AccessKey != key {
		t.Error("the Access Key is revealed differently after the rotation")
	}
	if shown := do[struct{ AccessKey string }](dev, "GET", "/api/applications/"+app+"/keys/"+more.ID+"/secret", nil); shown.AccessKey != more.AccessKey {
		t.Error("another key is revealed differently after the rotation")
	}
	nothingUnder(t, environment["DATABASE_URL"], "older")

	environment["ENCRYPTION_KEYS"] = older
	if out, err := rotateKeys(t, environment); err == nil || !strings.Contains(out, "access_keys.sealed: 0 sealed again, 1 cannot be opened, 0 left") {
		t.Errorf("rotate-keys without the key in use: %v\n%s", err, out)
	}
	if out, err := rotateKeys(t, map[string]string{}); err == nil || strings.Count(out, "\n  - ") != 2 {
		t.Errorf("rotate-keys without a configuration: %v\n%s", err, out)
	}
}

// keepCalling makes one call at once and then one after another until stopped; each must succeed.
func keepCalling(t *testing.T, p *process, key string) (stop func(), calls *atomic.Int64) {
	t.Helper()
	j := &journey{process: p, key: key}
	calls = new(atomic.Int64)
	call := func() {
		if status, _, body := j.send("POST", "/v1/json?model=chat", "application/json", []byte(`{}`)); status != 200 {
			t.Errorf("a call answered %d %s", status, body)
		}
		calls.Add(1)
	}
	call()
	stopped := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-stopped:
				return
			default:
				call()
			}
		}
	})
	return func() { close(stopped); running.Wait() }, calls
}

// nothingUnder demands that no sealed value names the encryption key of this id.
func nothingUnder(t *testing.T, databaseURL, id string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	rows, err := conn.Query(t.Context(), `SELECT sealed FROM application_keys UNION ALL SELECT upstream_key FROM capabilities`)
	if err != nil {
		t.Fatal(err)
	}
	values, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil || len(values) != 3 {
		t.Fatalf("%d sealed values, %v", len(values), err)
	}
	for _, value := range values {
		if bytes.Contains(value[:8], []byte(id)) {
			t.Errorf("a value is still under the key %q", id)
		}
	}
}
