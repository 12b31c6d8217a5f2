package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"callgate/internal/embedded"
)

// installation is a console and stores of its own; gateways are added.
type installation struct {
	engines     *embedded.Engines
	program     string // the version
	environment map[string]string
	admin, dev  client
	app, key    string
	ledger      *sql.DB
	slowest     time.Duration // of the answers without a shard
}

func newInstallation(t *testing.T) *installation {
	t.Helper()
	return newInstallationOn(t, embedded.Own(t))
}

func newInstallationOn(t *testing.T, engines *embedded.Engines) *installation {
	t.Helper()
	return newInstallationOf(t, binary, engines)
}

// newInstallationOf is an installation of some version.
func newInstallationOf(t *testing.T, program string, engines *embedded.Engines) *installation {
	t.Helper()
	up := newScripted(t)
	h := &installation{engines: engines, program: program}
	h.environment = production(t, h.engines)
	migrateBy(t, program, h.environment)
	console := launch(t, h.environment, program, "serve", "--role", "console")
	console.mails = func(email string) (string, error) {
		if caught := h.engines.Mailbox().Mails(email); len(caught) > 0 {
			return caught[0].Code, nil
		}
		return "", fmt.Errorf("no mail")
	}
	h.admin = console.administrator()
	h.admin.capability("chat", up.URL, upstreamKey)
	h.dev = console.developer("dev@example.com")
	h.app, h.key = h.dev.application("Load", "chat")
	var err error
	if h.ledger, err = sql.Open("pgx", h.environment["DATABASE_URL"]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.ledger.Close() })
	return h
}

// spoolsBehind is how many spools the ledger waits for.
func (h *installation) spoolsBehind(t *testing.T) (n int) {
	t.Helper()
	if err := h.ledger.QueryRowContext(t.Context(), `SELECT count(*) FROM spools WHERE NOT retired`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// awaitNoDoubts waits until the days whose rollups may lack rows were compared.
func (h *installation) awaitNoDoubts(t *testing.T) {
	t.Helper()
	eventually(t, 2*time.Minute, "days of doubt are compared", func() error {
		var n int
		err := h.ledger.QueryRowContext(t.Context(), `SELECT count(*) FROM rollup_doubts`).Scan(&n)
		if err == nil && n > 0 {
			err = fmt.Errorf("%d are not", n)
		}
		return err
	})
}

// completeness is what the statistics say of themselves.
func (c client) completeness(app string) (through time.Time, missed int64, err error) {
	c.t.Helper()
	status, e := c.try("GET", "/api/statistics/applications/"+app, nil)
	var data struct {
		DataThrough time.Time
		Missed      int64
	}
	if err := json.Unmarshal(e.Data, &data); status != 200 || err != nil {
		return through, 0, fmt.Errorf("status %d: %s", status, e.Msg)
	}
	return data.DataThrough, data.Missed, nil
}

// node is a gateway, or a console, that is ended and started again on its address and its spool.
type node struct {
	base        string
	program     string
	role        string
	environment []string
	spool       string // its directory
	disk        int    // bytes of a file system of its own for the spool; 0: the machine's
	mu          sync.Mutex
	cmd         *exec.Cmd
	ended       chan struct{}
	said        *bytes.Buffer // to its log; whole once it has ended
	ready       atomic.Bool
}

// node adds a gateway and waits until it knows the key.
func (h *installation) node(t *testing.T, more ...string) *node {
	t.Helper()
	n := h.prepare(t, more...)
	n.start(t)
	n.awaitCalls(t, h.key)
	return n
}

// prepare is a gateway that is not started yet; its settings may be overridden.
func (h *installation) prepare(t *testing.T, more ...string) *node {
	t.Helper()
	address := quietAddress(t)
	n := &node{base: "http://" + address, program: h.program, role: "gateway", spool: filepath.Join(t.TempDir(), "spool")}
	if err := os.Mkdir(n.spool, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, value := range h.environment {
		n.environment = append(n.environment, name+"="+value)
	}
	n.environment = append(n.environment, "LISTEN="+address, "PUBLIC_BASE_URL="+n.base, "METRICS_LISTEN=127.0.0.1:0", "SPOOL_DIR="+n.spool)
	n.environment = append(n.environment, more...)
	return n
}

// quietAddress is free and outside the range connections take their own ports from, so that it
// stays free while its gateway is down.
func quietAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 15_000+rand.IntN(15_000)))
		if err == nil {
			defer func() { _ = l.Close() }()
			return l.Addr().String()
		}
	}
	t.Fatal("no free port")
	return ""
}

// start starts the gateway and does not wait until it is ready.
func (n *node) start(t *testing.T) {
	t.Helper()
	first := n.cmd == nil
	cmd := exec.Command(n.program, "serve", "--role", n.role)
	cmd.Env = n.environment
	var said bytes.Buffer
	cmd.Stderr = &said
	if n.disk > 0 {
		n.mount(cmd)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	n.mu.Lock()
	n.cmd, n.ended, n.said = cmd, ended, &said
	n.mu.Unlock()
	go n.watch(ended)
	if first {
		t.Cleanup(func() {
			_ = n.cmd.Process.Signal(syscall.SIGTERM)
			<-n.ended
		})
	}
}

// watch notes when the gateway becomes ready.
func (n *node) watch(ended chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case <-time.After(10 * time.Millisecond):
		}
		resp, err := http.Get(n.base + "/health/ready")
		if err != nil {
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			n.mu.Lock()
			n.ready.Store(n.ended == ended)
			n.mu.Unlock()
			return
		}
	}
}

// kill ends the gateway with SIGKILL.
func (n *node) kill() {
	n.ready.Store(false)
	_ = n.cmd.Process.Kill()
	<-n.ended
}

// leave ends the gateway as an operator does, who waits until it has gone.
func (n *node) leave(t *testing.T) {
	t.Helper()
	n.ready.Store(false)
	_ = n.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-n.ended:
	case <-time.After(time.Minute):
		t.Fatalf("%s did not end within a minute of SIGTERM", n.base)
	}
	if status := n.cmd.ProcessState; !status.Success() {
		t.Errorf("%s ended with %v:\n%s", n.base, status, n.said)
	}
}

func (n *node) awaitReady(t *testing.T) {
	t.Helper()
	eventually(t, time.Minute, "the gateway is ready", func() error {
		if !n.ready.Load() {
			return fmt.Errorf("%s is not", n.base)
		}
		return nil
	})
}

// awaitCalls waits until the gateway lets the key through.
func (n *node) awaitCalls(t *testing.T, key string) {
	t.Helper()
	n.awaitReady(t)
	probe := &traffic{gateways: []string{n.base}, key: key}
	eventually(t, time.Minute, "the gateway knows the key", func() error {
		probe.failed = nil
		if _, err := probe.call(http.DefaultClient, 0); err != nil {
			return err
		}
		if len(probe.failed) > 0 {
			return errors.New(probe.failed[0])
		}
		return nil
	})
}
