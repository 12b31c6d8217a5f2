package checks

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// dev is a running callgate dev, as its welcome text shows it.
type dev struct {
	base      string // http://127.0.0.1:port
	accessKey string // of the demo application
	token     string // of the demo developer
}

// startDev builds the real binary from the product's own module and runs it on engines of its own
// until the test ends. environment is set besides what it needs.
func startDev(t *testing.T, environment ...string) dev {
	t.Helper()
	return startDevWith(t, nil, environment...)
}

// startDevWith is startDev with flags.
func startDevWith(t *testing.T, flags []string, environment ...string) dev {
	t.Helper()
	binary := os.Getenv("CALLGATE_BINARY") // another version, to compare with
	if binary == "" {
		binary = filepath.Join(t.TempDir(), "callgate")
		build := exec.CommandContext(t.Context(), "go", "-C", root, "build", "-tags", "embedded", "-o", binary, "./cmd/callgate")
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as the image is built
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
	}
	address := freeAddress(t)
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"dev"}, flags...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "ENGINES_DIR=" + os.Getenv("ENGINES_DIR"),
		"LISTEN=" + address, "DATA_DIR=" + t.TempDir(), "API_RATE_LIMIT=0"}, environment...) // tests ask faster than people
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Wait(); !cmd.ProcessState.Success() {
			t.Errorf("callgate dev ended with %v", err)
		}
		if t.Failed() {
			t.Logf("stderr of callgate dev:\n%s", stderr.String())
		}
	})
	late := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	accessKey, token := welcomed(t, stdout)
	return dev{"http://" + address, accessKey, token}
}

var bearer = regexp.MustCompile(`Authorization: Bearer ([^']+)'`)

// welcomed reads what callgate dev prints when it is ready: a call with an Access Key, then a question
// with a user token.
func welcomed(t *testing.T, stdout io.Reader) (accessKey, token string) {
	t.Helper()
	var found []string
	for lines := bufio.NewScanner(stdout); len(found) < 2; {
		if !lines.Scan() {
			t.Fatalf("callgate dev did not become ready: %v", lines.Err())
		}
		if match := bearer.FindStringSubmatch(lines.Text()); match != nil {
			found = append(found, match[1])
		}
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	return found[0], found[1]
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

// ask reads one answer of the console's interface into data.
func ask[T any](ctx context.Context, d dev, path string) (data T, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.base+path, nil)
	if err != nil {
		return data, err
	}
	request.Header.Set("Authorization", "Bearer "+d.token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return data, err
	}
	defer func() { _ = response.Body.Close() }()
	answer := struct{ Data *T }{&data}
	if response.StatusCode != http.StatusOK {
		return data, fmt.Errorf("GET %s: %s", path, response.Status)
	}
	return data, json.NewDecoder(response.Body).Decode(&answer)
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
