package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// enginesVariable names the connections.env of engines that several test processes share.
const enginesVariable = "CALLGATE_TEST_ENGINES"

// shardsVariable makes the tests' ClickHouse a cluster of so many shards.
const shardsVariable = "EMBEDDED_SHARDS"

func shardsOfTests() int {
	shards, _ := strconv.Atoi(os.Getenv(shardsVariable))
	return shards
}

// hostTimeout covers an installation of the engines on a slow line.
const hostTimeout = 5 * time.Minute

// RunWithEngines starts throw-away engines, calls run with the environment that makes test
// processes use them, and removes everything afterwards.
func RunWithEngines(ctx context.Context, logger *slog.Logger, run func(environment []string) error) error {
	dir, err := temporaryDir()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	engines, err := Start(ctx, Options{DataDir: dir, Logger: logger, Ephemeral: true, Shards: shardsOfTests()})
	if err != nil {
		return err
	}
	err = run([]string{enginesVariable + "=" + filepath.Join(dir, connectionsFile)})
	return errors.Join(err, engines.Close(), engines.removeOutside())
}

// enginesPrefix begins the names of throw-away engines' directories.
const enginesPrefix = "callgate-engines-"

// temporaryDir can be entered by the user PostgreSQL runs as.
func temporaryDir() (string, error) {
	parent := throwAway()
	removeAbandoned(parent)
	dir, err := os.MkdirTemp(parent, enginesPrefix)
	if err == nil {
		err = os.Chmod(dir, 0o711) //nolint:gosec // passed through, not listed
	}
	if err != nil {
		return "", fmt.Errorf("directory for the engines: %w", err)
	}
	return dir, nil
}

// abandonedAfter is longer than any test has its engines stopped.
const abandonedAfter = time.Hour

// removeAbandoned removes the directories of throw-away engines whose processes were killed before they could.
func removeAbandoned(parent string) {
	locks, _ := filepath.Glob(filepath.Join(parent, enginesPrefix+"*", lockName))
	for _, path := range locks {
		info, err := os.Stat(path)
		if err != nil || time.Since(info.ModTime()) < abandonedAfter {
			continue
		}
		if lock, err := tryLockFile(path); err == nil {
			_ = os.RemoveAll(filepath.Dir(path))
			_ = lock.Close()
		}
	}
}

// removeOutside removes what an ephemeral instance had to put outside of its DATA_DIR.
func (e *Engines) removeOutside() error {
	if filepath.Dir(e.pg.dir) != outside {
		return nil
	}
	return os.RemoveAll(e.pg.dir)
}

// host is the life of the helper process that owns the engines of one test process. It lives
// apart because a test process cannot be relied upon to clean up: it may panic, time out or call
// os.Exit. Its standard input is a pipe whose end says that the test process is gone.
func host(ready string) error {
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(gone)
		cancel()
	}()
	return RunWithEngines(ctx, logger, func(environment []string) error {
		_, file, _ := strings.Cut(environment[0], "=")
		if err := os.Symlink(file, ready); err != nil {
			return fmt.Errorf("announce the engines: %w", err)
		}
		<-gone
		return os.RemoveAll(filepath.Dir(ready))
	})
}

// shared returns the addresses of this test run's engines, starting them if nobody did.
var shared = sync.OnceValues(func() (map[string]string, error) {
	if file := os.Getenv(enginesVariable); file != "" {
		return readConnections(file)
	}
	dir, err := os.MkdirTemp("", "callgate-test-")
	if err != nil {
		return nil, fmt.Errorf("directory for the engines: %w", err)
	}
	found, err := startHost(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return found, nil
})

// hostPipe keeps the host alive: the kernel closes it when this process ends.
var hostPipe io.Closer //nolint:unused // held, so that it is not collected and closed

func startHost(dir string) (map[string]string, error) {
	self, err := selfExecutable()
	if err != nil {
		return nil, fmt.Errorf("own executable: %w", err)
	}
	logPath := filepath.Join(dir, "host.log")
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log of the engines: %w", err)
	}
	defer func() { _ = log.Close() }()
	ready := filepath.Join(dir, "ready")
	cmd := exec.Command(self)
	cmd.Args = []string{"callgate-test-engines", ready}
	cmd.Env = append(os.Environ(), roleVariable+"="+roleHost)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if hostPipe, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("pipe to the engines: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the engines: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), hostTimeout)
	defer cancel()
	var found map[string]string
	err = poll(ctx, func() (err error) {
		if found, err = readConnections(ready); err != nil && hasEnded(cmd.Process.Pid) {
			cancel()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("start the engines: %w: %s", err, tail(logPath))
	}
	return found, nil
}

// hasEnded looks without waiting: a goroutine in Wait would stay for the whole test process, and
// tests that look for leaked goroutines would find it.
func hasEnded(pid int) bool {
	ended, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	return err == nil && ended == pid
}
