package budget

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

// server is a redis-server that a test kills, stops and starts again; it keeps nothing.
type server struct {
	t    testing.TB
	port string
	cmd  *exec.Cmd
}

func startRedis(t testing.TB) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, port: strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)}
	_ = listener.Close()
	s.start()
	t.Cleanup(func() { s.kill() })
	return s
}

func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command("redis-server", "--port", s.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", os.TempDir())
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatalf("redis-server: %v", err)
	}
	client := s.client()
	defer func() { _ = client.Close() }()
	for deadline := time.Now().Add(10 * time.Second); client.Ping(s.t.Context()).Err() != nil; {
		if time.Now().After(deadline) {
			s.t.Fatal("redis-server does not answer")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (s *server) signal(sig syscall.Signal) { _ = s.cmd.Process.Signal(sig) }

func (s *server) kill() {
	s.signal(syscall.SIGKILL)
	_ = s.cmd.Wait()
}

func (s *server) client() redis.UniversalClient {
	return redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + s.port, ContextTimeoutEnabled: true, MaxRetries: -1})
}
