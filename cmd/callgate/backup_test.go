package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"callgate/internal/embedded"
	"callgate/internal/openapi"
)

// command runs the binary to its end with a whole environment.
func command(t *testing.T, environment map[string]string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	for name, value := range environment {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestABackupUnderLoadRestoresToNewStoresAndSpools backs an installation up while it is called, destroys everything, and
// builds it elsewhere: no call of before the backup is lost, none is doubled, verify agrees, and the keys work.
func TestABackupUnderLoadRestoresToNewStoresAndSpools(t *testing.T) {
	h := newInstallation(t)
	spoolDir := filepath.Join(t.TempDir(), "spool")
	gate := h.node(t, "SPOOL_DIR="+spoolDir)
	load := &traffic{gateways: []string{gate.base}, key: h.key, callers: 6, rate: 300}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { load.run(ctx, 0); close(done) }()
	defer func() { cancel(); <-done }()
	eventually(t, time.Minute, "calls are counted", func() error {
		if n := do[openapi.Overview](h.dev, "GET", "/api/statistics/applications/overview", nil).Calls; n < 1000 {
			return fmt.Errorf("%d", n)
		}
		return nil
	})

	began := time.Now()
	backup := filepath.Join(t.TempDir(), "backup")
	saved := with(h.environment, "SPOOL_DIR", spoolDir)
	said, err := command(t, saved, "backup", backup)
	if err != nil || strings.Contains(said, "Not in it") {
		t.Fatalf("%v\n%s", err, said)
	}
	t.Logf("backed up in %v:\n%s", time.Since(began).Round(time.Millisecond), said)
	cancel()
	<-done
	gate.kill()
	for name := range h.engines.PIDs() {
		if _, err := h.engines.Down(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(spoolDir); err != nil {
		t.Fatal(err)
	}

	engines := embedded.Own(t)
	there := with(production(t, engines), "SPOOL_DIR", filepath.Join(t.TempDir(), "elsewhere"))
	if out, err := command(t, with(there, "ACCESS_KEY_PEPPER", strings.Repeat("another ", 6)), "restore", backup); err == nil || !strings.Contains(out, "ACCESS_KEY_PEPPER is another one") {
		t.Errorf("under another pepper: %v\n%s", err, out)
	}
	restoring := time.Now()
	said, err = command(t, there, "restore", backup)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	t.Logf("restored in %v:\n%s", time.Since(restoring).Round(time.Millisecond), said)
	p := start(t, there, "serve", "--role", "all")
	h = h.moved(t, engines, there, p)
	h.dev.awaitThrough(h.app, restoring, 2*time.Minute)
	h.awaitNoDoubts(t)
	caller := &journey{process: p, key: h.key}
	if status, _, body := caller.send("POST", "/v1/json?model=chat", "application/json", []byte(`{}`)); status != 200 {
		t.Fatalf("the key after the restore: %d %s", status, body)
	}
	if revealed := do[openapi.AccessKey](h.dev, "GET", "/api/applications/"+h.app+"/access-key", nil); revealed.AccessKey != h.key {
		t.Error("the Access Key is not revealed")
	}
	h.dev.awaitThrough(h.app, time.Now(), 30*time.Second)
	found := load.count(t, there["CLICKHOUSE_URL"])
	lost := 0
	for _, s := range found.lost {
		if s.at.Before(began) {
			lost++
		}
	}
	t.Logf("%d calls seen, %d of them after the backup began or not in it; %d rows there, %d lost, %d doubled", len(load.seen), len(found.lost), found.rows, lost, found.doubled)
	if lost > 0 || found.doubled > 0 || len(load.failed) > 0 || found.rows < 1000 {
		t.Errorf("%d lost, %d doubled, %d calls failed under the backup: %.3q", lost, found.doubled, len(load.failed), load.failed)
	}
	verified(t, there)
}

// moved is the installation on other stores, that a process serves.
func (h *installation) moved(t *testing.T, engines *embedded.Engines, environment map[string]string, p *process) *installation {
	t.Helper()
	p.mails = func(email string) (string, error) {
		if caught := engines.Mailbox().Mails(email); len(caught) > 0 {
			return caught[0].Code, nil
		}
		return "", fmt.Errorf("no mail")
	}
	other := &installation{engines: engines, environment: environment, app: h.app, key: h.key, dev: p.developer("dev@example.com")}
	var err error
	if other.ledger, err = sql.Open("pgx", environment["DATABASE_URL"]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.ledger.Close() })
	return other
}

// with is an environment with another value.
func with(environment map[string]string, name, value string) map[string]string {
	changed := map[string]string{name: value}
	for n, v := range environment {
		if n != name {
			changed[n] = v
		}
	}
	return changed
}

// bytesUnder is the size of all files in a directory; those that vanish meanwhile are left out.
func bytesUnder(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry == nil {
			return nil //nolint:nilerr // it has vanished
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// TestTheEmbeddedStoresOfDevAreBackedUpAndRestored while callgate dev runs on them and while it does not, with what is in
// the spool.
func TestTheEmbeddedStoresOfDevAreBackedUpAndRestored(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	p := startDev(t, map[string]string{"DATA_DIR": data})
	dev := p.developer("saved@example.com")
	app, key := dev.application("Saved", "demo-chat")
	ask := func(p *process) {
		t.Helper()
		caller := &journey{process: p, key: key}
		if status, _, body := caller.send("POST", "/v1/chat/completions?model=demo-chat", "application/json", []byte(`{"model":"demo","messages":[]}`)); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	for range 20 {
		ask(p)
	}
	running := filepath.Join(dir, "running")
	if out, err := command(t, map[string]string{"DATA_DIR": data}, "backup", running); err != nil {
		t.Fatalf("beside callgate dev: %v\n%s", err, out)
	}
	before := bytesUnder(t, filepath.Join(data, "spool"))
	grown := func(least int64) (bytes int64) {
		eventually(t, time.Minute, "the records are in the spool", func() error { // 2 ms after the answer
			if bytes = bytesUnder(t, filepath.Join(data, "spool")) - before; bytes < least {
				return fmt.Errorf("%d bytes", bytes)
			}
			return nil
		})
		return bytes
	}
	ask(p)
	first := grown(1) // maybe with the head of a segment
	ask(p)
	record := grown(first+1) - first // give or take the digits of a duration
	for range 3 {
		ask(p)
	}
	grown(first + 3*record + record/2)
	p.stop(syscall.SIGKILL) // these are in the spool alone
	stopped := filepath.Join(dir, "stopped")
	if out, err := command(t, map[string]string{"DATA_DIR": data}, "backup", stopped); err != nil {
		t.Fatalf("of stopped stores: %v\n%s", err, out)
	}
	for i, backup := range []string{running, stopped} {
		counted := int64(20 + 5*i)
		fresh := filepath.Join(dir, fmt.Sprint("restored", i))
		if out, err := command(t, map[string]string{"DATA_DIR": fresh}, "restore", backup); err == nil || !strings.Contains(out, "secrets.env") {
			t.Errorf("without secrets: %v\n%s", err, out)
		}
		secrets, err := os.ReadFile(filepath.Join(data, "secrets.env"))
		if err := errors.Join(err, os.MkdirAll(fresh, 0o711), os.WriteFile(filepath.Join(fresh, "secrets.env"), secrets, 0o600)); err != nil {
			t.Fatal(err)
		}
		if out, err := command(t, map[string]string{"DATA_DIR": fresh}, "restore", backup); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		again := startDev(t, map[string]string{"DATA_DIR": fresh})
		caller := &journey{process: again, key: key}
		eventually(t, time.Minute, "the key works, at the demo upstream's new address", func() error {
			if status, _, body := caller.send("POST", "/v1/chat/completions?model=demo-chat", "application/json", []byte(`{"model":"demo","messages":[]}`)); status != 200 {
				return fmt.Errorf("%d %s", status, body)
			}
			return nil
		})
		dev := again.developer("saved@example.com")
		eventually(t, time.Minute, "all calls are counted once", func() error {
			overview := do[openapi.ApplicationStatistics](dev, "GET", "/api/statistics/applications/"+app, nil)
			if overview.Summary.Successes != counted+1 {
				return fmt.Errorf("%d calls", overview.Summary.Successes)
			}
			return nil
		})
		again.stop(syscall.SIGTERM)
	}
}
