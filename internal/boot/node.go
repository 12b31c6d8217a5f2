// Package boot is the only package that imports everything: it assembles what a role needs, starts it
// and stops it in order. Stopping is the hard part: the listener goes first, once balancers know, then
// the calls in flight, then the spool and the shipper that still hold their records, and the connections
// they write to last; any other order loses records.
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
	"callgate/internal/alerts"
	"callgate/internal/application"
	"callgate/internal/audit"
	"callgate/internal/budget"
	"callgate/internal/calls/ledger/days"
	"callgate/internal/calls/ledger/ship"
	"callgate/internal/calls/ledger/upkeep"
	"callgate/internal/calls/spool"
	"callgate/internal/catalog"
	"callgate/internal/config"
	"callgate/internal/console"
	"callgate/internal/gateway"
	"callgate/internal/identity"
	"callgate/internal/limits"
	"callgate/internal/report"
	"callgate/internal/secret"
	"callgate/internal/stats"
	"callgate/internal/telemetry"
	"callgate/internal/traces"
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
	spool        *spool.Spool
	shipper      *ship.Shipper
	limits       *limits.Limiter
	budgets      *budget.Enforcer
	spending     *report.BudgetReader
	notifier     *budget.Notifier
	gateway      *gateway.Gateway
	reports      *reports
	traces       *traces.Tracer     // nil: calls are not traced
	callLog      *telemetry.CallLog // nil: calls are not logged
	identity     *identity.Service
	audit        *audit.Keeper // nil: the trail is kept for ever
	applications *application.Store
	catalog      *catalog.Store
	stats        *stats.Reader
	lookups      *stats.Reader // for callers who ask about their calls
	standing     *stats.Reader // for alerts and the closing of days
	maintenance  *upkeep.Maintenance
	days         *days.Closer
	alerts       *alerts.Service
	guard        *guard
	fit          *fit
	watch        *watch
	certificates *telemetry.Certificates

	app     *fiber.App
	health  *health
	front   *front // once the node serves
	private *http.Server
	serving chan error
}

// Start assembles c's role and begins to serve. extra is callgate dev's: it adds routes before the pages
// that show its mails, for which reason every host name but its own is refused. What fails half-way is stopped again.
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
	n.fit = startFit(n.pool, n.keyring, n.pepper, logger)
	n.app = n.newApp()
	if c.Role != config.Console {
		if err := n.startGateway(ctx); err != nil {
			return nil, err
		}
	}
	n.app.Use(finishRequest)
	if extra != nil {
		n.app.Use(ownHosts(c).guard)
	}
	n.health = n.newHealth()
	n.health.register(n.app)
	if host := gatewayHost(c); host != "" {
		n.app.Use(host.guard)
	}
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
	n.watch = n.startWatch()
	return n, n.listen()
}

func (n *Node) connect(ctx context.Context) (err error) {
	if n.keyring, err = secret.ParseKeyring(n.config.EncryptionKeys); err != nil {
		return fmt.Errorf("ENCRYPTION_KEYS: %w", err)
	}
	n.certificates = telemetry.NewCertificates(n.registry)
	if n.pool, err = openPostgres(ctx, n.config.DatabaseURL, n.certificates.Watch); err != nil {
		return err
	}
	if err = refuseTransactionPooling(ctx, n.pool); err != nil {
		return err
	}
	n.redis, err = openRedis(n.config.RedisURL, n.certificates.Watch)
	return err
}

func (n *Node) newApp() *fiber.App {
	c := fiber.Config{
		DisableStartupMessage: true,
		Immutable:             true, // what handlers keep must not be overwritten by the next request
		ErrorHandler:          console.Fail(n.logger),

		// Fiber would believe whoever connects; what proxies say of the client is in its address already (clients).
		EnableTrustedProxyCheck: true,
	}
	settings(&c)
	return fiber.New(c)
}

func (n *Node) listen() error {
	private, err := net.Listen("tcp", n.config.MetricsListen)
	if err != nil {
		return fmt.Errorf("METRICS_LISTEN: %w", err)
	}
	public, err := openFront(n.config, n.logger, n.registry)
	if err != nil {
		_ = private.Close()
		return err
	}
	n.front = public
	n.private = &http.Server{Handler: telemetry.PrivateHandler(n.registry), ReadHeaderTimeout: 10 * time.Second}
	go func() { n.serving <- public.serve(n.gateway, n.app) }()
	go func() {
		if err := n.private.Serve(private); !errors.Is(err, http.ErrServerClosed) {
			n.serving <- err
		}
	}()
	n.logger.Info("serving", "role", n.config.Role, "listen", public.listener.Addr().String(), "metrics", private.Addr().String(), "version", Version)
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

// Stop ends the node in order: not ready any more, but serving, for DRAIN_DELAY; no new connections,
// and calls in flight finished, or cut after DRAIN_TIMEOUT; records written and shipped, connections
// closed. It may be called on a half-started node.
func (n *Node) Stop() error {
	if n.health != nil {
		n.health.draining.Store(true)
	}
	began := time.Now()
	if n.front != nil {
		n.logger.Info("draining: not ready any more, and serving until balancers know", "for", n.config.DrainDelay)
		n.front.lameDuck(n.config.DrainDelay)
	}
	ctx, cancel := context.WithTimeout(context.Background(), n.config.DrainTimeout)
	defer cancel()
	var faults []error
	failed := func(what string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", what, err))
		}
	}
	failed("stop serving", n.stopServing(ctx))
	if n.front != nil {
		n.logger.Info("drained: nothing is served any more", "after", time.Since(began).Round(time.Millisecond))
	}
	if n.reports != nil {
		n.reports.Close()
	}
	n.closeTraces()
	n.callLog.Close()
	if n.spool != nil {
		failed("drain records", n.drain(ctx))
	}
	if n.alerts != nil {
		n.closeAlerts()
	}
	if n.notifier != nil {
		n.notifier.Close()
	}
	if n.days != nil {
		failed("stop closing days", n.days.Close())
	}
	if n.maintenance != nil {
		failed("stop maintenance", n.maintenance.Close())
	}
	if n.identity != nil {
		n.identity.Close(ctx)
	}
	if n.audit != nil {
		n.audit.Close()
	}
	if n.guard != nil {
		n.guard.Close()
	}
	if n.watch != nil {
		n.watch.Close()
	}
	if n.fit != nil {
		n.fit.Close()
	}
	if n.resolver != nil {
		n.resolver.Close()
	}
	if n.stats != nil {
		failed("close statistics", n.stats.Close())
	}
	if n.lookups != nil {
		failed("close calls", n.lookups.Close())
	}
	if n.standing != nil {
		failed("close statistics", n.standing.Close())
	}
	if n.private != nil {
		failed("stop metrics", n.private.Close())
	}
	if n.redis != nil {
		failed("close redis", n.redis.Close())
	}
	if n.pool != nil {
		within(straggle, n.pool.Close) // it waits for those who still ask
	}
	if n.front != nil && len(faults) == 0 {
		n.logger.Info("ended", "after", time.Since(began).Round(time.Millisecond))
	}
	return errors.Join(faults...)
}

// lastAlerts is what attempts to deliver an alert get to end; another console, or the next start, delivers the rest.
const lastAlerts = 3 * time.Second

func (n *Node) closeAlerts() {
	ctx, cancel := context.WithTimeout(context.Background(), lastAlerts)
	defer cancel()
	n.alerts.Close(ctx)
}

// lastSpans is what the last spans get to reach their collector, which is no fault of ours when it is away.
const lastSpans = 3 * time.Second

func (n *Node) closeTraces() {
	ctx, cancel := context.WithTimeout(context.Background(), lastSpans)
	defer cancel()
	if err := n.traces.Close(ctx); err != nil {
		n.logger.Warn("the last spans were not sent", "error", err)
	}
}

// straggle is what a request that outlived its connection gets to notice it.
const straggle = 2 * time.Second

// stopServing ends connections: at once those that nobody is answered on, the others when they are
// answered or ctx is done. That clients keep theirs open is no fault.
func (n *Node) stopServing(ctx context.Context) (err error) {
	if n.front != nil {
		if open := n.front.listener.Drain(ctx); open > 0 {
			n.logger.Warn("cutting what did not end within DRAIN_TIMEOUT", "connections", open)
		}
	}
	if n.gateway != nil {
		err = n.gateway.Shutdown(ctx)
	}
	if n.limits != nil {
		n.limits.Close()
	}
	if n.budgets != nil {
		n.budgets.Close()
	}
	if n.front == nil {
		return err
	}
	n.front.listener.CloseAll()
	if !n.front.server.Wait(straggle) {
		n.logger.Warn("requests were still being handled when their connections were closed")
	}
	return err
}

// within runs do, and waits no longer than limit for it.
func within(limit time.Duration, do func()) {
	done := make(chan struct{})
	go func() { do(); close(done) }()
	select {
	case <-done:
	case <-time.After(limit):
	}
}

// recordDrain is what records get to be written and shipped, even when calls took all of DRAIN_TIMEOUT.
const recordDrain = 10 * time.Second

func (n *Node) drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordDrain)
	defer cancel()
	n.spool.Drain(ctx)
	var shipped error
	if n.shipper != nil {
		shipped = n.shipper.Close(ctx)
	}
	var left ship.Waiting
	switch {
	case errors.As(shipped, &left):
		n.logger.Warn("records wait in the spool: the next gateway on SPOOL_DIR ships them", "segments", left.Segments, "cause", left.Cause)
		shipped = nil
	case shipped == nil && n.front != nil:
		n.logger.Info("shipped: no record waits")
	}
	return errors.Join(shipped, n.spool.Close())
}

// Serve runs a node until ctx is done.
func Serve(ctx context.Context, c config.Config, logger *slog.Logger) error {
	n, err := Start(ctx, c, logger, nil)
	if err != nil {
		return err
	}
	return errors.Join(n.Wait(ctx), n.Stop())
}
