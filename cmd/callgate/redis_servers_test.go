package main

import (
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

func (f *redisFleet) inProcess() *miniredis.Miniredis {
	f.t.Helper()
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	if err := m.StartTLS(&tls.Config{Certificates: []tls.Certificate{f.pair}, MinVersion: tls.VersionTLS12}); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(m.Close)
	return m
}

// playSentinel names whoever is the master now.
func (f *redisFleet) playSentinel(master *atomic.Int64) (port int) {
	f.t.Helper()
	s, err := server.NewServerTLS("127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{f.pair}, MinVersion: tls.VersionTLS12})
	if err == nil {
		err = s.Register("SENTINEL", func(c *server.Peer, _ string, args []string) {
			if strings.EqualFold(args[0], "get-master-addr-by-name") {
				c.WriteStrings([]string{"127.0.0.1", fmt.Sprint(master.Load())})
				return
			}
			c.WriteLen(0)
		})
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(s.Close)
	return s.Addr().Port
}

// run starts a redis-server, or with that as the first line a sentinel.
func (f *redisFleet) run(lines ...string) (port int) {
	f.t.Helper()
	dir := f.t.TempDir()
	port = clusterPort(f.t)
	var role []string
	if lines[0] == "sentinel" {
		lines, role = lines[1:], []string{"--sentinel"}
	}
	certificate, key := filepath.Join(f.authority.dir, "server.crt"), filepath.Join(f.authority.dir, "server.key")
	lines = append([]string{"bind 127.0.0.1", "port 0", fmt.Sprintf("tls-port %d", port), "tls-auth-clients no", "tls-cert-file " + certificate,
		"tls-key-file " + key, "tls-ca-cert-file " + f.authority.file, `save ""`, "dir " + dir}, lines...)
	config := filepath.Join(dir, "redis.conf")
	if err := os.WriteFile(config, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		f.t.Fatal(err)
	}
	child := exec.Command("redis-server", append([]string{config}, role...)...)
	if err := child.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.children[port] = child
	f.t.Cleanup(func() { f.kill(port) })
	return port
}

func (f *redisFleet) kill(port int) {
	child := f.children[port]
	_ = child.Process.Kill()
	_ = child.Wait()
}

// clusterPort is a free port, as is the one 10,000 above, which a cluster's node uses too.
func clusterPort(t *testing.T) int {
	t.Helper()
	for range 1000 {
		port := 15_000 + rand.IntN(17_000)
		free := true
		for _, each := range []int{port, port + 10_000} {
			listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", each))
			if err != nil {
				free = false
				break
			}
			_ = listener.Close()
		}
		if free {
			return port
		}
	}
	t.Fatal("no free port on 127.0.0.1")
	return 0
}
