package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"callgate/internal/openapi"
	"callgate/internal/openapi/contract"
)

// binary is the real callgate, built once per test run.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "callgate-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "callgate")
	build := exec.Command("go", "build", "-tags", "embedded", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as the image is built
	if built := os.Getenv("CALLGATE_BINARY"); built != "" {
		binary = built // another version, to compare with
	} else if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		os.Exit(1)
	}
	if documented, err = contract.New(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	http.DefaultClient.Transport = documented.Transport(http.DefaultTransport)
	status := m.Run()
	for _, violation := range documented.Violations() {
		fmt.Fprintln(os.Stderr, violation)
		status = 1
	}
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// documented holds every answer of this package's tests against the OpenAPI document.
var documented *contract.Checker

// undocumented asks an address that somebody else's server may have until callgate listens there.
var undocumented = http.Client{Transport: http.DefaultTransport}

// process is one running callgate.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	base   string // http://127.0.0.1:port
	ended  chan struct{}
	mails  func(email string) (code string, err error)
	mu     sync.Mutex
	stdout bytes.Buffer
	stderr bytes.Buffer
}

// start runs the binary with environment on top of a clean one and waits until ready says so. It is
// stopped with the test.
func start(t *testing.T, environment map[string]string, args ...string) *process {
	t.Helper()
	return launch(t, environment, binary, args...)
}

// startWithFiles starts the binary like start, with a limit of open files.
func startWithFiles(t *testing.T, files int, environment map[string]string, args ...string) *process {
	t.Helper()
	limited := fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, files)
	return launch(t, environment, "/bin/sh", append([]string{"-c", limited, binary}, args...)...)
}

func launch(t *testing.T, environment map[string]string, program string, args ...string) *process {
	t.Helper()
	address := freeAddress(t)
	p := &process{t: t, base: "http://" + address, ended: make(chan struct{})}
	p.mails = p.caughtCode
	p.cmd = exec.Command(program, args...)
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LISTEN=" + address, "PUBLIC_BASE_URL=http://" + address, "METRICS_LISTEN=127.0.0.1:0",
		"API_RATE_LIMIT=0", // tests ask faster than people
		"DRAIN_DELAY=0s"}   // and nobody is to be led elsewhere
	for name, value := range environment {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	p.cmd.Stdout, p.cmd.Stderr = writer(&p.mu, &p.stdout), writer(&p.mu, &p.stderr)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); close(p.ended) }()
	t.Cleanup(func() {
		p.stop(syscall.SIGTERM)
		if t.Failed() {
			t.Logf("stderr of callgate %s:\n%s", strings.Join(args, " "), p.errors())
		}
	})
	p.awaitReady()
	return p
}

func (p *process) awaitReady() {
	p.t.Helper()
	eventually(p.t, time.Minute, "callgate becomes ready", func() error {
		select {
		case <-p.ended:
			p.t.Fatalf("callgate ended:\n%s", p.errors())
		default:
		}
		resp, err := undocumented.Get(p.base + "/health/ready")
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("ready answers %d", resp.StatusCode)
		}
		return nil
	})
}

// stop signals the process and waits until it has ended.
func (p *process) stop(signal syscall.Signal) {
	p.t.Helper()
	_ = p.cmd.Process.Signal(signal)
	select {
	case <-p.ended:
	case <-time.After(60 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
		p.t.Errorf("callgate did not end within 60 s of %v", signal)
	}
}

func (p *process) output() string { p.mu.Lock(); defer p.mu.Unlock(); return p.stdout.String() }
func (p *process) errors() string { p.mu.Lock(); defer p.mu.Unlock(); return p.stderr.String() }

type lockedWriter struct {
	mu *sync.Mutex
	to io.Writer
}

func writer(mu *sync.Mutex, to io.Writer) io.Writer { return lockedWriter{mu, to} }

func (w lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}

// startDev runs callgate dev in a data directory of its own.
func startDev(t *testing.T, environment map[string]string) *process {
	t.Helper()
	if environment["DATA_DIR"] == "" {
		environment["DATA_DIR"] = t.TempDir()
	}
	p := start(t, environment, "dev")
	eventually(t, time.Minute, "the welcome text", func() error {
		if !strings.Contains(p.output(), "See it counted") {
			return fmt.Errorf("not printed yet")
		}
		return nil
	})
	return p
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// eventually polls until f returns nil, and fails with its last error.
func eventually(t *testing.T, within time.Duration, what string, f func() error) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v: %v", what, within, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// envelope is every management answer.
type envelope struct {
	Code      int             `json:"code"`
	Msg       string          `json:"msg"`
	Data      json.RawMessage `json:"data"`
	RequestID string          `json:"requestId"`
}

// client speaks the management interface with one token.
type client struct {
	*process
	token string
}

// try sends a request and returns the status and the envelope.
func (c client) try(method, path string, body any) (int, envelope) {
	c.t.Helper()
	var payload io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		payload = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, c.base+path, payload)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	var e envelope
	if err := json.NewDecoder(resp.Body).Decode(&e); err != nil {
		c.t.Fatalf("%s %s: %d: no envelope: %v", method, path, resp.StatusCode, err)
	}
	return resp.StatusCode, e
}

// do demands a 2xx answer and decodes its data into a T.
func do[T any](c client, method, path string, body any) T {
	c.t.Helper()
	status, e := c.try(method, path, body)
	var data T
	if status/100 != 2 || e.Code != 0 {
		c.t.Fatalf("%s %s: %d %d %s %s", method, path, status, e.Code, e.Msg, e.Data)
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		c.t.Fatalf("%s %s: %v in %s", method, path, err, e.Data)
	}
	return data
}

// caughtCode reads the newest code from the mail page of callgate dev.
func (p *process) caughtCode(email string) (string, error) {
	resp, err := http.Get(p.base + "/dev/mails?to=" + url.QueryEscape(email))
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	var mails struct{ Items []struct{ Code string } }
	if err := json.NewDecoder(resp.Body).Decode(&mails); err != nil {
		return "", err
	}
	if len(mails.Items) == 0 {
		return "", fmt.Errorf("no mail")
	}
	return mails.Items[0].Code, nil
}

// signIn takes the code from the mail catcher, as a person would.
func (p *process) signIn(prefix, email string) client {
	p.t.Helper()
	anonymous := client{process: p}
	do[any](anonymous, "POST", prefix+"/auth/code", map[string]string{"email": email})
	var code string
	eventually(p.t, time.Minute, "the sign-in mail", func() (err error) {
		code, err = p.mails(email)
		return err
	})
	in := do[openapi.UserToken](anonymous, "POST", prefix+"/auth/login", map[string]string{"email": email, "code": code})
	return client{p, in.Token}
}

func (p *process) developer(email string) client { return p.signIn("/api", email) }
func (p *process) administrator() client         { return p.signIn("/api/admin", "admin@callgate.local") }

// connections reads DATA_DIR/connections.env.
func connections(t *testing.T, dataDir string) map[string]string {
	t.Helper()
	file, err := os.Open(filepath.Join(dataDir, "connections.env"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	vars := map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), "="); ok {
			vars[name] = strings.Trim(value, `"'`)
		}
	}
	return vars
}

// object is a JSON object whose fields a test picks.
type object = map[string]any

// application makes an application bound to capabilities and returns its id and Access Key.
func (c client) application(name string, capabilities ...string) (id, key string) {
	c.t.Helper()
	made := do[openapi.NewApplication](c, "POST", "/api/applications", object{"name": name, "capabilityIds": capabilities})
	return made.ID.String(), made.AccessKey
}

// capability makes a group and an enabled capability that points at upstream.
func (c client) capability(id, upstream, key string) {
	c.t.Helper()
	if status, e := c.try("POST", "/api/admin/groups", object{"id": "e2e", "name": "End to end"}); status != 201 && status != 409 {
		c.t.Fatalf("create group: %d %s", status, e.Msg)
	}
	do[any](c, "POST", "/api/admin/capabilities", object{
		"id": id, "name": "Capability " + id, "groupId": "e2e", "status": "enabled", "upstreamBaseUrl": upstream, "upstreamKey": key,
		"upstreamModel": "m", "defaultPath": "/v1/chat/completions",
	})
}
