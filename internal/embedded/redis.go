package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// redisDatabases is how many numbered databases a redis-server child offers; tests take one each.
const redisDatabases = 4096

// realRedis tells whether EMBEDDED_REDIS asks for a redis-server instead of the one in process.
func realRedis() (bool, error) {
	switch kind := os.Getenv("EMBEDDED_REDIS"); kind {
	case "", "memory":
		return false, nil
	case "server":
		return true, nil
	default:
		return false, fmt.Errorf("EMBEDDED_REDIS is %q: it must be memory or server", kind)
	}
}

// startMiniredis runs Redis inside this process, spoken to over TCP like any other.
func startMiniredis(listen, password string) (*miniredis.Miniredis, error) {
	server := miniredis.NewMiniRedis()
	server.ClockTTL(true) // keys expire by the clock, as in a real server
	if password != "" {
		server.RequireAuth(password)
	}
	if err := server.StartAddr(listen); err != nil {
		return nil, fmt.Errorf("start redis: %w", err)
	}
	return server, nil
}

func redisURL(address, password string, database int) string {
	u := url.URL{Scheme: "redis", Host: address, Path: "/" + strconv.Itoa(database)}
	if password != "" {
		u.User = url.UserPassword("", password)
	}
	return u.String()
}

// redisServer is a redis-server child. It keeps nothing on disk: Redis is a cache here.
type redisServer struct {
	dir      string
	password string
	ports    *ports
}

func (r *redisServer) engine() engine {
	return engine{
		name:    "redis",
		log:     filepath.Join(r.dir, "server.log"),
		command: r.command,
		repick:  func() error { return r.ports.repick("redis") },
		ready: func(ctx context.Context) error {
			return onRedis(redisURL(address(r.ports.of("redis")), r.password, 0), func(client *redis.Client) error {
				return client.Ping(ctx).Err()
			})
		},
		interrupt: func(pid int, _ io.Closer) error { return syscall.Kill(pid, syscall.SIGTERM) },
	}
}

// command writes the configuration to a file, so that no command line shows the password.
func (r *redisServer) command() (*exec.Cmd, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("EMBEDDED_REDIS=server needs redis-server on the PATH: %w", err)
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, fmt.Errorf("redis directory: %w", err)
	}
	lines := []string{
		"bind 127.0.0.1", "port " + strconv.Itoa(r.ports.of("redis")), "requirepass " + r.password,
		"databases " + strconv.Itoa(redisDatabases), `save ""`, "appendonly no", "daemonize no", "dir " + r.dir,
	}
	config := filepath.Join(r.dir, "redis.conf")
	if err := writeFile(config, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(program, config)
	cmd.Dir = r.dir
	cmd.SysProcAttr = childAttributes(syscall.SIGKILL, nil)
	return cmd, nil
}

// onRedis opens a client for the length of one use.
func onRedis(dsn string, use func(*redis.Client) error) error {
	options, err := redis.ParseURL(dsn)
	if err != nil {
		return fmt.Errorf("redis address: %w", err)
	}
	client := redis.NewClient(options)
	err = use(client)
	if err != nil {
		err = fmt.Errorf("redis: %w", err)
	}
	return errors.Join(err, client.Close())
}
