package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sys/unix"
)

// subject is one process under measurement.
type subject struct {
	name    string
	address string // host:port of its proxy
	private string // host:port of its own figures; empty when it has none
	prefix  string // before the upstream's path
	query   string
	key     string // Access Key
	method  string // of calls; empty: POST
	cmd     *exec.Cmd
	said    *bytes.Buffer
}

// launch starts a process and waits until it listens.
func launch(ctx context.Context, s *subject, cmd *exec.Cmd) (*subject, error) {
	s.cmd, s.said = cmd, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = s.said, s.said
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		conn, err := net.DialTimeout("tcp", s.address, time.Second)
		if err == nil {
			return s, conn.Close()
		}
		select {
		case <-ctx.Done():
			s.stop()
			return nil, fmt.Errorf("%s does not listen: %w: %s", s.name, err, s.said)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// roleVariable makes a new process of this binary one of the servers of the benchmark.
const roleVariable = "CALLGATE_BENCH_ROLE"

// launchRole starts this binary again as a mock or a reference, which is told extra: where its upstream is,
// or where the mock speaks TLS and with which files.
func launchRole(ctx context.Context, name string, extra ...string) (*subject, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &subject{name: name, address: freeAddress(), private: freeAddress()}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleVariable+"="+strings.Join(append([]string{name, s.address, s.private}, extra...), " "))
	return launch(ctx, s, cmd)
}

// play is the life of such a process.
func play(role string) error {
	part := strings.Split(role, " ")
	listener, err := net.Listen("tcp", part[1])
	if err != nil {
		return err
	}
	http.Handle("/metrics", promhttp.Handler())
	http.HandleFunc("/debug/pprof/heap", func(http.ResponseWriter, *http.Request) { runtime.GC() })
	private := &http.Server{Addr: part[2], ReadHeaderTimeout: time.Second}
	go func() { _ = private.ListenAndServe() }()
	switch part[0] {
	case "fasthttp":
		return serveFasthttp(listener, part[3])
	case "fasthttps":
		return serveFasthttps(listener, part[3])
	case "fiber":
		return serveFiber(listener, part[3])
	case "loop":
		return serveLoop(listener, part[3])
	}
	go func() { fail(serveSecurely(part[3], part[4])) }()
	return serveUpstream(listener)
}

// launchNginx starts nginx with its configuration in dir; nil when it is not installed.
func launchNginx(ctx context.Context, dir, upstream string) (*subject, error) {
	binary, err := exec.LookPath("nginx")
	if errors.Is(err, exec.ErrNotFound) {
		return nil, nil
	}
	s := &subject{name: "nginx", address: freeAddress()}
	config, err := nginxConfig(dir, s.address, upstream)
	if err != nil {
		return nil, err
	}
	return launch(ctx, s, exec.Command(binary, "-p", dir, "-e", dir+"/error.log", "-c", config))
}

func (s *subject) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	ended := make(chan struct{})
	go func() { _ = s.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = s.cmd.Process.Kill()
		<-ended
	}
}

// freeAddress is a loopback address nobody listened on a moment ago.
func freeAddress() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:0"
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// cpu is the user and system time the process has used.
func (s *subject) cpu() (time.Duration, error) {
	const schedulers = 2 // of a process's clocks the one that counts nanoseconds, of threads that ended too
	var used unix.Timespec
	if err := unix.ClockGettime(int32(^s.cmd.Process.Pid<<3|schedulers), &used); err != nil { //nolint:gosec // a process's number has 22 bits
		return 0, fmt.Errorf("CPU time of %s: %w", s.name, err)
	}
	return time.Duration(used.Nano()), nil
}

// resident is the process's memory, in bytes, after a collection where there is a collector.
func (s *subject) resident() (int64, error) {
	if s.private != "" {
		if _, err := s.fetch("/debug/pprof/heap?gc=1"); err != nil {
			return 0, err
		}
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0, errors.New("/proc/<pid>/status has no VmRSS")
	}
	kilobytes, err := strconv.ParseInt(fields[0], 10, 64)
	return kilobytes << 10, err
}

// mallocs is how many objects the process has allocated.
func (s *subject) mallocs() (float64, error) {
	text, err := s.fetch("/metrics")
	if err != nil {
		return 0, err
	}
	_, after, ok := strings.Cut(string(text), "\ngo_memstats_mallocs_total ")
	if !ok {
		return 0, fmt.Errorf("%s does not tell its allocations", s.name)
	}
	number, _, _ := strings.Cut(after, "\n")
	return strconv.ParseFloat(number, 64)
}

func (s *subject) fetch(path string) ([]byte, error) {
	client := http.Client{Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://" + s.private + path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return io.ReadAll(resp.Body)
}
