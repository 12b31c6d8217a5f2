// Package boot is the only room that imports everything: it assembles what a role needs, starts it
// and stops it in order. Stopping is the hard part: the listener goes first, then the calls in
// flight, then the recorder that still holds their records, and the connections it writes to last;
// any other order loses records.
package boot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"callgate/internal/access"
	"callgate/internal/application"
	"callgate/internal/calls"
	"callgate/internal/catalog"
	"callgate/internal/config"
	"callgate/internal/console"
	"callgate/internal/gateway"
	"callgate/internal/identity"
	"callgate/internal/secret"
	"callgate/internal/stats"
	"callgate/internal/telemetry"
)

// Version is what GET /api/config tells; the build sets it.
var Version = "dev"

// Node is one running process of a role.
type Node struct {
	config   config.Config
	logger   *slog.Logger
	registry *prometheus.Registry
	keyring  *secret.Keyring
	pepper   secret.Pepper

	pool         *pgxpool.Pool
	redis        redis.UniversalClient
	resolver     *access.Resolver
	recorder     *calls.Recorder
	gateway      *gateway.Gateway
	identity     *identity.Service
	applications *application.Store
	catalog      *catalog.Store
	stats        *stats.Reader
	maintenance  *calls.Maintenance

	app     *fiber.App
	health  *health
	private *http.Server
	serving chan error
}

// Start assembles c's role and begins to serve. extra, when given, adds routes before the pages
// (callgate dev shows its mails there). What fails half-way is stopped again.
func Start(ctx context.Context, c config.Config, logger *slog.Logger, extra func(*fiber.App)) (_ *Node, err error) {
	n := &Node{config: c, logger: logger, registry: telemetry.NewRegistry(), pepper: secret.Pepper(c.AccessKeyPepper), serving: make(chan error, 2)}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Stop())
		}
	}()
	if err := n.connect(ctx); err != nil {
		return nil, err
	}
	n.app = n.newApp()
	if c.Role != config.Console { // first: its calls pass no other handler
		if err := n.startGateway(ctx); err != nil {
			return nil, err
		}
	}
	n.app.Use(finishRequest)
	n.health = n.newHealth()
	n.health.register(n.app)
	if c.Role != config.Gateway {
		if err := n.startConsole(ctx); err != nil {
			return nil, err
		}
	}
	if extra != nil {
		extra(n.app)
	}
	if c.Role != config.Gateway {
		serveDocs(n.app)
		if err := servePages(n.app); err != nil {
			return nil, err
		}
	}
	return n, n.listen()
}

func (n *Node) connect(ctx context.Context) (err error) {
	if n.keyring, err = secret.ParseKeyring(n.config.EncryptionKeys); err != nil {
		return fmt.Errorf("ENCRYPTION_KEYS: %w", err)
	}
	if n.pool, err = openPostgres(ctx, n.config.DatabaseURL); err != nil {
		return err
	}
	n.redis, err = openRedis(n.config.RedisURL)
	return err
}

func (n *Node) newApp() *fiber.App {
	settings := fiber.Config{
		DisableStartupMessage: true,
		Immutable:             true, // what handlers keep must not be overwritten by the next request
		ErrorHandler:          console.Fail(n.logger),

		EnableTrustedProxyCheck: true,
		TrustedProxies:          n.config.TrustedProxies,
		ProxyHeader:             "X-Real-Ip",
		EnableIPValidation:      true,
	}
	gateway.ServerConfig(&settings)
	return fiber.New(settings)
}

func (n *Node) listen() error {
	public, err := net.Listen("tcp", n.config.Listen)
	if err != nil {
		return fmt.Errorf("LISTEN: %w", err)
	}
	private, err := net.Listen("tcp", n.config.MetricsListen)
	if err != nil {
		_ = public.Close()
		return fmt.Errorf("METRICS_LISTEN: %w", err)
	}
	n.private = &http.Server{Handler: telemetry.PrivateHandler(n.registry), ReadHeaderTimeout: 10 * time.Second}
	go func() { n.serving <- n.app.Listener(gateway.Listener(public)) }()
	go func() {
		if err := n.private.Serve(private); !errors.Is(err, http.ErrServerClosed) {
			n.serving <- err
		}
	}()
	n.logger.Info("serving", "role", n.config.Role, "listen", public.Addr().String(), "metrics", private.Addr().String(), "version", Version)
	return nil
}

// Wait returns when ctx is done, or with the error of a listener that died.
func (n *Node) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-n.serving:
		return fmt.Errorf("serve: %w", err)
	}
}

// Stop ends the node in order: no new calls, calls in flight finished or cut after DRAIN_TIMEOUT,
// records written and shipped, connections closed. It may be called on a half-started node.
func (n *Node) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), n.config.DrainTimeout)
	defer cancel()
	var faults []error
	failed := func(what string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", what, err))
		}
	}
	if n.health != nil {
		n.health.draining.Store(true)
	}
	if n.gateway != nil {
		n.gateway.Shutdown(ctx)
	}
	if n.app != nil {
		failed("stop listening", n.app.ShutdownWithContext(ctx))
	}
	if n.recorder != nil {
		failed("drain records", n.drain(ctx))
	}
	if n.maintenance != nil {
		failed("stop maintenance", n.maintenance.Close())
	}
	if n.identity != nil {
		n.identity.Close(ctx)
	}
	if n.resolver != nil {
		n.resolver.Close()
	}
	if n.stats != nil {
		failed("close statistics", n.stats.Close())
	}
	if n.private != nil {
		failed("stop metrics", n.private.Close())
	}
	if n.redis != nil {
		failed("close redis", n.redis.Close())
	}
	if n.pool != nil {
		n.pool.Close()
	}
	return errors.Join(faults...)
}

// recordDrain is what the recorder gets to write and ship, even when calls took all of DRAIN_TIMEOUT.
const recordDrain = 10 * time.Second

func (n *Node) drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordDrain)
	defer cancel()
	return n.recorder.Close(ctx)
}

// Serve runs a node until ctx is done.
func Serve(ctx context.Context, c config.Config, logger *slog.Logger) error {
	n, err := Start(ctx, c, logger, nil)
	if err != nil {
		return err
	}
	return errors.Join(n.Wait(ctx), n.Stop())
}
