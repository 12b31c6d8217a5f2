// Package redistest starts redis-servers that tests kill, stop and start again.
package redistest

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server is one; it keeps nothing, and ends with its test.
type Server struct {
	t    testing.TB
	port string
	cmd  *exec.Cmd
}

// Start starts one on a port that it keeps.
func Start(t testing.TB) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, port: strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)}
	_ = listener.Close()
	s.Start()
	t.Cleanup(func() { s.Kill() })
	return s
}

// Start starts it again.
func (s *Server) Start() {
	s.t.Helper()
	s.cmd = exec.Command("redis-server", "--port", s.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", os.TempDir())
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatalf("redis-server: %v", err)
	}
	client := s.Client()
	defer func() { _ = client.Close() }()
	for deadline := time.Now().Add(10 * time.Second); client.Ping(s.t.Context()).Err() != nil; {
		if time.Now().After(deadline) {
			s.t.Fatal("redis-server does not answer")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Signal sends it a signal.
func (s *Server) Signal(sig syscall.Signal) { _ = s.cmd.Process.Signal(sig) }

// Kill ends it at once.
func (s *Server) Kill() {
	s.Signal(syscall.SIGKILL)
	_ = s.cmd.Wait()
}

// Client is a new client, which is the caller's.
func (s *Server) Client() redis.UniversalClient {
	return redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + s.port, ContextTimeoutEnabled: true, MaxRetries: -1})
}
