package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/config"
	"callgate/internal/console"
	"callgate/internal/http1"
)

// checkTimeout bounds one question to one store.
const checkTimeout = time.Second

// health answers the probes of an orchestrator. What a process needs, it needs once: secrets that fit what PostgreSQL holds, and
// a gateway its grants. A store that is away afterwards takes no process out of rotation: all would go at once, and callers
// would get a balancer's page instead of a 503 that says when to come again.
type health struct {
	draining atomic.Bool
	needed   map[string]func(context.Context) error
}

func (h *health) register(app *fiber.App) {
	app.Use("/health", console.Identify)
	app.Get("/health/live", func(c *fiber.Ctx) error { return c.JSON(fiber.Map{"status": "live"}) })
	app.Get("/health/ready", h.ready)
}

// ready answers 503 while draining or when a needed part is down, and says which.
func (h *health) ready(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	status, parts := "ready", fiber.Map{}
	for name, check := range h.needed {
		parts[name] = "up"
		if check(ctx) != nil {
			parts[name], status = "down", "unavailable"
		}
	}
	if h.draining.Load() {
		status = "draining"
	}
	if status != "ready" {
		c.Status(fiber.StatusServiceUnavailable)
	}
	return c.JSON(fiber.Map{"status": status, "parts": parts})
}

func (n *Node) newHealth() *health {
	h := &health{needed: map[string]func(context.Context) error{"secrets": n.fit.ready}}
	if n.config.Role != config.Console {
		h.needed["access"] = func(context.Context) error { return n.resolver.Ready() }
	}
	return h
}

// Health asks the process that listens on LISTEN of environ whether it is ready; the error says
// what it answered. Container health checks need no other program in the image.
func Health(ctx context.Context, environ []string) error {
	_, port, err := net.SplitHostPort(lookup(environ, "LISTEN", config.DefaultListen))
	if err != nil {
		return errors.New("LISTEN must be host:port")
	}
	ctx, cancel := context.WithTimeout(ctx, 2*checkTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort("127.0.0.1", port)+"/health/ready", nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: &http.Transport{DialContext: dialer(environ), DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return fmt.Errorf("not ready: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", answer)
	}
	return nil
}

// dialer connects, and where the process expects it of loopback says that no proxy's client connects.
func dialer(environ []string) func(ctx context.Context, network, address string) (net.Conn, error) {
	proxies, _ := http1.ParseProxies(strings.Split(lookup(environ, "TRUSTED_PROXIES", ""), ","))
	expected, _ := strconv.ParseBool(lookup(environ, "PROXY_PROTOCOL", "false"))
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil && expected && proxies.Trust(http1.AddrOf(conn.LocalAddr())) {
			_, err = conn.Write(http1.OwnProxyHeader())
		}
		return conn, err
	}
}

// lookup is the value of a variable of environ, or absent when it is unset or empty.
func lookup(environ []string, name, absent string) string {
	for _, pair := range environ {
		if value, ok := strings.CutPrefix(pair, name+"="); ok && value != "" {
			return value
		}
	}
	return absent
}
