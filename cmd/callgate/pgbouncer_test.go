package main

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"callgate/internal/embedded"
)

// pgbouncer is a DSN through the real PgBouncer, in a mode, of which each connection there is one of a server.
func pgbouncer(t *testing.T, databaseURL, mode string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Fatal("this test needs pgbouncer on the PATH: apt-get install pgbouncer, or run make as root")
	}
	behind, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := behind.User.Password()
	dir, address := t.TempDir(), freeAddress(t)
	host, port, _ := strings.Cut(address, ":")
	files := map[string]string{
		"users.txt": fmt.Sprintf("%q %q\n", behind.User.Username(), password),
		"pgbouncer.ini": fmt.Sprintf("[databases]\n* = host=%s port=%s\n[pgbouncer]\nlisten_addr = %s\nlisten_port = %s\nunix_socket_dir =\n"+
			"auth_type = plain\nauth_file = %s/users.txt\npool_mode = %s\ndefault_pool_size = 50\n", behind.Hostname(), behind.Port(), host, port, dir, mode),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil { // its own user reads them
			t.Fatal(err)
		}
	}
	for path := dir; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	arguments := []string{filepath.Join(dir, "pgbouncer.ini")}
	if os.Getuid() == 0 { // which it refuses to run as
		arguments = append([]string{"-u", "nobody"}, arguments...)
	}
	child := exec.Command(program, arguments...)
	var said strings.Builder
	child.Stdout, child.Stderr = &said, &said
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = child.Process.Kill()
		_ = child.Wait()
		if t.Failed() {
			t.Logf("pgbouncer: %s", said.String())
		}
	})
	eventually(t, time.Minute, "PgBouncer listens", func() error {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			err = conn.Close()
		}
		return err
	})
	behind.Host = address
	return behind.String()
}

func TestPgBouncerWorksInSessionModeAndIsRefusedInTransactionMode(t *testing.T) {
	up := newScripted(t)
	engines := embedded.Own(t)
	environment := production(t, engines)
	environment["DATABASE_URL"] = pgbouncer(t, engines.DatabaseURL(), "transaction")
	for _, arguments := range [][]string{{"migrate"}, {"serve", "--role", "gateway"}, {"serve", "--role", "console"}} {
		command := exec.CommandContext(t.Context(), binary, arguments...)
		for name, value := range environment {
			command.Env = append(command.Env, name+"="+value)
		}
		command.Env = append(command.Env, "LISTEN=127.0.0.1:0", "PUBLIC_BASE_URL=http://127.0.0.1", "METRICS_LISTEN=127.0.0.1:0")
		out, err := command.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "transaction mode") || !strings.Contains(string(out), "pool_mode = session") {
			t.Errorf("%v: %v\n%s", arguments, err, out)
		}
	}
	environment["DATABASE_URL"] = pgbouncer(t, engines.DatabaseURL(), "session")
	migrate(t, environment)
	gate := start(t, environment, "serve", "--role", "gateway")
	console := start(t, environment, "serve", "--role", "console")
	console.mails = func(email string) (string, error) {
		if caught := engines.Mailbox().Mails(email); len(caught) > 0 {
			return caught[0].Code, nil
		}
		return "", fmt.Errorf("no mail")
	}
	console.administrator().capability("chat", up.URL, upstreamKey)
	dev := console.developer("dev@example.com")
	app, key := dev.application("Pooled", "chat")
	j := &journey{process: gate, key: key}
	for range 20 {
		if status, _, body := j.send("POST", "/v1/json?model=chat", "application/json", []byte(`{}`)); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	dev.awaitCalls(app, 20*time.Second, 20)
	verified(t, environment)
}
