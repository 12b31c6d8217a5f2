package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"callgate/internal/embedded"
	"callgate/internal/openapi"
)

// failovers is how often each store fails over in its test; `make chaos` sets more.
var failovers = fromEnvironment("FAILOVERS", 1)

func failPostgresOver(t *testing.T) {
	engines := embedded.Own(t)
	authority := newAuthority(t)
	certificate, key := authority.certify(t, net.IPv4(127, 0, 0, 1))
	if err := engines.ServeTLS(t.Context(), certificate, key); err != nil {
		t.Fatal(err)
	}
	standby := engines.Standby(t)
	url := strings.Replace(standby.URL(), "sslmode=disable", "sslmode=verify-full&sslrootcert="+authority.file, 1)
	database := map[string]string{"DATABASE_URL": url}
	e := &twoGateways{}
	e.open(t, engines, database, database)
	revoked := e.newTarget("revoked", "spare")
	e.dev.attempt("PATCH", "/api/applications/"+revoked.app+"/status", object{"status": "disabled"})
	eventually(t, time.Minute, "the revoked key is refused", e.refuses(revoked))

	stop := e.load(200, []target{e.good})
	edits := e.edit()
	edits.await(t, "edits are acknowledged", func() bool { return len(edits.acknowledged) >= 20 })
	began := time.Now()
	if _, err := engines.Down("postgres"); err != nil {
		t.Fatal(err)
	}
	const noticed = 3 * time.Second // what those who promote standbys take to be sure
	edits.await(t, "edits are refused", func() bool { return edits.refused > 0 && time.Since(began) > noticed })
	if err := e.refuses(revoked)(); err != nil {
		t.Errorf("without a primary: %v", err)
	}
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	promoted := time.Now()
	edits.await(t, "edits are acknowledged again", func() bool { return edits.last.After(promoted) })
	recovered := time.Since(promoted)
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err := e.refuses(revoked)(); err != nil {
			t.Errorf("with the new primary: %v", err)
		}
	}
	edits.end()
	stop()
	t.Logf("%d calls, of which %d failed, %d with 401; the standby was promoted %v after the kill, and edits were acknowledged %v later; %d acknowledged, %d refused",
		e.made.Load(), e.lost.Load(), e.wrong401.Load(), promoted.Sub(began).Round(10*time.Millisecond), recovered.Round(10*time.Millisecond), len(edits.acknowledged), edits.refused)
	if e.lost.Load() != 0 || e.wrong401.Load() != 0 {
		t.Errorf("%d calls failed, %d of them with 401", e.lost.Load(), e.wrong401.Load())
	}
	edits.check(t)
	e.dev.awaitThrough(e.good.app, time.Now(), 30*time.Second)
	e.environment["DATABASE_URL"] = url
	verified(t, e.environment)
}

// refuses tells whether every gateway refuses a disabled application's key, as one that it knows.
func (e *twoGateways) refuses(t target) func() error {
	return func() error {
		for _, gate := range e.gates {
			j := &journey{process: gate, key: t.key}
			if status, _, body := j.send("POST", "/v1/json?model="+t.capability, "application/json", []byte(`{}`)); status != 403 {
				return fmt.Errorf("%d %s", status, body)
			}
		}
		return nil
	}
}

// editing makes applications, one after the other.
type editing struct {
	dev     client
	stop    chan struct{}
	stopped chan struct{}

	mu           sync.Mutex
	acknowledged []string
	refused      int
	last         time.Time // of the last acknowledged one: when it was asked for
	faults       []string
}

func (e *twoGateways) edit() *editing {
	edits := &editing{dev: e.dev, stop: make(chan struct{}), stopped: make(chan struct{})}
	go edits.run()
	return edits
}

func (e *editing) run() {
	defer close(e.stopped)
	for n := 0; ; n++ {
		select {
		case <-e.stop:
			return
		case <-time.After(20 * time.Millisecond):
		}
		e.one(fmt.Sprint("edit ", n))
	}
}

func (e *editing) one(name string) {
	payload, _ := json.Marshal(object{"name": name})
	req, _ := http.NewRequest("POST", e.dev.base+"/api/applications", bytes.NewReader(payload))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+e.dev.token)
	asked := time.Now()
	resp, err := http.DefaultClient.Do(req)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.faults = append(e.faults, err.Error())
		return
	}
	_ = resp.Body.Close()
	switch {
	case resp.StatusCode == 201:
		e.acknowledged, e.last = append(e.acknowledged, name), asked
	case resp.StatusCode == 503 && resp.Header.Get("Retry-After") != "":
		e.refused++
	default:
		e.faults = append(e.faults, fmt.Sprintf("%s: %d, Retry-After %q", name, resp.StatusCode, resp.Header.Get("Retry-After")))
	}
}

func (e *editing) await(t *testing.T, what string, is func() bool) {
	t.Helper()
	eventually(t, time.Minute, what, func() error {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !is() {
			return fmt.Errorf("%d acknowledged, %d refused, %v", len(e.acknowledged), e.refused, e.faults)
		}
		return nil
	})
}

func (e *editing) end() {
	close(e.stop)
	<-e.stopped
}

// check demands that everything acknowledged is there, and nothing was answered but 201 and 503.
func (e *editing) check(t *testing.T) {
	t.Helper()
	there := map[string]bool{}
	for page := 1; ; page++ {
		list := do[openapi.ApplicationPage](e.dev, "GET", fmt.Sprintf("/api/applications?size=100&page=%d", page), nil)
		for _, app := range list.Items {
			there[app.Name] = true
		}
		if len(list.Items) == 0 {
			break
		}
	}
	for _, name := range e.acknowledged {
		if !there[name] {
			t.Errorf("%s was acknowledged and is lost", name)
		}
	}
	for _, fault := range e.faults {
		t.Error(fault)
	}
}

// TestAServerThatCannotProveItsNameIsNotAsked: a DATABASE_URL with a certificate authority believes no other.
func TestAServerThatCannotProveItsNameIsNotAsked(t *testing.T) {
	engines := embedded.Own(t)
	authority, stranger := newAuthority(t), newAuthority(t)
	certificate, key := authority.certify(t, net.IPv4(127, 0, 0, 1))
	if err := engines.ServeTLS(t.Context(), certificate, key); err != nil {
		t.Fatal(err)
	}
	for file, works := range map[string]bool{authority.file: true, stranger.file: false} {
		url := strings.Replace(engines.DatabaseURL(), "sslmode=disable", "sslmode=verify-full&sslrootcert="+file, 1)
		out, err := operate(t, map[string]string{"DATABASE_URL": url, "CLICKHOUSE_URL": engines.ClickHouseURL()}, "spools")
		if (err == nil) != works {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// writePEM keeps a block in a file of the test.
func writePEM(t *testing.T, dir, name, kind string, der []byte) (file string, text []byte) {
	t.Helper()
	file, text = filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, text
}
