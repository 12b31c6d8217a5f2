package boot

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/google/uuid"

	"callgate/internal/access"
	"callgate/internal/alerts"
	"callgate/internal/application"
	"callgate/internal/audit"
	"callgate/internal/beijing"
	"callgate/internal/budget"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/days"
	"callgate/internal/calls/ledger/ship"
	"callgate/internal/calls/ledger/upkeep"
	"callgate/internal/calls/spool"
	"callgate/internal/catalog"
	"callgate/internal/config"
	"callgate/internal/console"
	"callgate/internal/fault"
	"callgate/internal/gateway"
	"callgate/internal/identity"
	"callgate/internal/limits"
	"callgate/internal/pricing"
	"callgate/internal/report"
	"callgate/internal/saved"
	"callgate/internal/secret"
	"callgate/internal/stats"
	"callgate/internal/telemetry"
	"callgate/internal/traces"
)

func (n *Node) startGateway(ctx context.Context) (err error) {
	c := n.config
	n.resolver, err = access.Open(ctx, access.Config{StaleOnError: c.StaleOnError}, n.pool, n.redis, n.pepper, n.logger, n.registry)
	if err != nil {
		return fmt.Errorf("access: %w", err)
	}
	n.spool, err = spool.Open(ctx, spool.Config{
		Dir: c.SpoolDir, RingBytes: c.RecordRingBytes, MaxBytes: c.SpoolMaxBytes, SealAfter: c.SpoolSealAfter,
	}, n.logger, n.registry)
	if err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	host, _ := os.Hostname()
	n.shipper, err = ship.Start(ctx, ship.Config{
		Node: host, Role: string(c.Role), Version: Version, WatchTLS: func(c *tls.Config) { n.certificates.Watch("clickhouse", c) },
	}, n.spool, n.pool, c.ClickHouseURL, n.logger, n.registry)
	if err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	if n.traces, err = n.newTracer(host); err != nil {
		return fmt.Errorf("traces: %w", err)
	}
	from, err := newClients(c)
	if err != nil {
		return err
	}
	n.callLog = telemetry.NewCallLog(os.Stderr, telemetry.CallsLogged(c.CallLog), n.registry)
	n.limits = limits.Open(ctx, limits.Config{
		Gateway: n.spool.ID(), Snapshot: limits.New(n.pool).ReadSnapshot, Pool: n.pool, Redis: n.redis, Spent: n.spent,
		Logger: n.logger, Registry: n.registry,
	})
	// Questions about calls have connections of their own, to the calls' database and nothing else.
	if n.lookups, err = stats.Open(ctx, c.ClickHouseURL, n.logger); err != nil {
		return fmt.Errorf("calls: %w", err)
	}
	n.lookups.Keep(c.Retention())
	n.lookups.WatchTLS(func(c *tls.Config) { n.certificates.Watch("clickhouse", c) })
	prices := pricing.New(n.pool)
	n.spending = &report.BudgetReader{Stats: n.lookups, Prices: prices, Pool: n.pool, Batches: spool.BatchPrefix}
	n.budgets = budget.Open(ctx, budget.Config{
		Gateway: n.spool.ID(), Snapshot: budget.New(n.pool).ReadSnapshot, Book: prices.Book, Gateways: n.liveGateways, Settled: n.settledGateways, Read: n.spending.Read,
		CallTimeout: c.CallTimeout, Redis: n.redis, Logger: n.logger, Registry: n.registry,
	})
	n.gateway = gateway.New(gateway.Config{
		LookUpCall:       n.lookUpCall(prices),
		TellUsage:        n.tellUsage,
		Grant:            n.resolver.GrantFor,
		Capability:       n.resolver.Capability,
		OpenKey:          n.openUpstreamKey,
		CallerAddress:    from.of,
		OpenUpstreamKey:  n.openSharedKey,
		Record:           n.spool.Add,
		Log:              n.callLog,
		Traces:           n.traces,
		Limits:           n.limits,
		Budgets:          n.budgets,
		TokenUsage:       c.TokenUsage,
		EndUser:          n.endUsers(),
		Origins:          c.GatewayCORSOrigins,
		AllowPrivate:     c.AllowPrivate,
		ConnectTimeout:   c.ConnectTimeout,
		HeaderTimeout:    c.HeaderTimeout,
		IdleTimeout:      c.IdleTimeout,
		CallTimeout:      c.CallTimeout,
		MaxBodyBytes:     c.MaxBodyBytes,
		MaxInflightBytes: c.MaxInflightBytes, FailoverBodyBytes: c.FailoverBodyBytes,
		MaxUpstreamConns: c.MaxUpstreamConns,
		OwnerShare:       c.MaxApplicationShare,
		Logger:           n.logger,
		Registry:         n.registry,
		WatchTLS:         func(c *tls.Config) { n.certificates.Watch("upstream", c) },
	})
	n.resolver.OnEnding(n.gateway.End)
	n.reports = startReports(catalog.New(n.pool, n.keyring, c.AllowPrivate), n.spool.ID(), n.gateway.Upstreams, n.logger)
	return nil
}

// endUsers makes of the id that a caller gives its user what END_USERS says is kept of it; nil: nothing is.
func (n *Node) endUsers() func(id string) string {
	switch n.config.EndUsers {
	case "plain":
		return func(id string) string { return id }
	case "hashed":
		return n.pepper.EndUser
	}
	return nil
}

// lookUpCall gives callers what is kept of their calls.
func (n *Node) lookUpCall(prices *pricing.Store) func(ctx context.Context, application, call uuid.UUID) ([]byte, error) {
	return func(ctx context.Context, application, call uuid.UUID) ([]byte, error) {
		found, err := report.LookUp(ctx, n.lookups, prices, application, call)
		if fault.KindOf(err) == fault.NotFound {
			return nil, gateway.ErrNoCall
		}
		if err != nil {
			return nil, err
		}
		return json.Marshal(found)
	}
}

// spent asks the ledger for what quotas have to count of a day.
func (n *Node) spent(ctx context.Context, of limits.Subject, except []uuid.UUID, day beijing.Day, counted map[uuid.UUID]time.Time) (calls, tokens int64, err error) {
	switch of.Scope {
	case limits.ForOwner:
		return n.shipper.OwnerSpent(ctx, of.ID, except, day, counted)
	case limits.ForKey:
		return n.shipper.KeySpent(ctx, of.Application, of.ID, day, counted)
	}
	return n.shipper.Spent(ctx, of.ID, day, counted)
}

// tellUsage gives callers the limits and budgets that hold for their key, and what is used of them.
func (n *Node) tellUsage(ctx context.Context, application, owner, key uuid.UUID) ([]byte, error) {
	now := time.Now()
	uses := n.limits.Uses(ctx, limits.Caller{Key: key, Application: application, Owner: owner})
	held, err := budget.New(n.pool).Held(ctx, budget.Caller{Key: key, Application: application, Owner: owner})
	if err != nil {
		return nil, err
	}
	usage := report.OwnUsage(key, uses, now)
	usage.Budgets = n.spending.OwnBudgets(ctx, held, now)
	return json.Marshal(usage)
}

// liveGateways is how many gateways said so in the last seconds.
func (n *Node) liveGateways(ctx context.Context) (live int, err error) {
	err = n.pool.QueryRow(ctx, `SELECT count(*) FROM gateways WHERE seen_at > now() - interval '5 s' AND ended_at IS NULL AND role <> 'console'`).Scan(&live)
	return live, err
}

// settledGateways tells until when the ledger has every call that ended, and of which gateways that ended it has everything.
func (n *Node) settledGateways(ctx context.Context) (through time.Time, ended []uuid.UUID, err error) {
	err = n.pool.QueryRow(ctx, `SELECT coalesce(min(through) FILTER (WHERE NOT retired), now()), coalesce(array_agg(id) FILTER (WHERE retired), '{}') FROM spools`).
		Scan(&through, &ended)
	return through, ended, err
}

// newTracer returns nil where OTEL_EXPORTER_OTLP_ENDPOINT is unset.
func (n *Node) newTracer(host string) (*traces.Tracer, error) {
	c := n.config
	if c.TraceEndpoint == "" {
		return nil, nil
	}
	endpoint, err := url.Parse(c.TraceEndpoint)
	if err != nil {
		return nil, err
	}
	headers, err := traces.ParseHeaders(c.TraceHeaders)
	if err != nil {
		return nil, err
	}
	return traces.New(traces.Config{
		Endpoint: endpoint, Headers: headers, Ratio: c.TraceRatio, Version: Version,
		Instance: fmt.Sprintf("%s-%d", host, os.Getpid()), Logger: n.logger, Registry: n.registry,
	}), nil
}

// openUpstreamKey unseals at call time, after the permission check.
func (n *Node) openUpstreamKey(c *access.Capability) ([]byte, error) {
	return n.keyring.Open(c.UpstreamKey, secret.UpstreamKeyContext(c.ID))
}

// openSharedKey does so for a named upstream.
func (n *Node) openSharedKey(u *access.Upstream) ([]byte, error) {
	return n.keyring.Open(u.Key, secret.SharedUpstreamKeyContext(u.ID))
}

func (n *Node) startConsole(ctx context.Context) (err error) {
	c := n.config
	mail, err := identity.NewMailer(c.SMTPURL, c.MailFrom)
	if err != nil {
		return fmt.Errorf("SMTP_URL: %w", err)
	}
	n.registry.MustRegister(mail.Metrics())
	n.identity, err = identity.New(identityConfig(c, n.pepper), n.pool, mail, n.logger)
	if err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	if c.AuditRetention > 0 {
		n.audit = audit.Keep(n.pool, func() time.Time { return (beijing.Today(time.Now()) - beijing.Day(c.AuditRetention)).Start() }, n.logger)
	}
	if n.stats, err = stats.Open(ctx, c.ClickHouseURL, n.logger); err != nil {
		return fmt.Errorf("statistics: %w", err)
	}
	n.stats.Keep(c.Retention())
	n.stats.Expect(c.CallTimeout)
	n.stats.WatchTLS(func(c *tls.Config) { n.certificates.Watch("clickhouse", c) })
	// What nobody waits for in a page has connections of its own: pages cannot take them.
	if n.standing, err = stats.Open(ctx, c.ClickHouseURL, n.logger); err != nil {
		return fmt.Errorf("statistics: %w", err)
	}
	n.standing.Keep(c.Retention())
	n.standing.Expect(c.CallTimeout)
	if n.maintenance, err = upkeep.Start(n.pool, c.ClickHouseURL, c.Retention(), c.CallTimeout, n.logger, n.registry); err != nil {
		return fmt.Errorf("maintenance: %w", err)
	}
	n.applications = application.New(n.pool, n.keyring, n.pepper)
	n.applications.MaxPerOwner = c.MaxApplications
	n.applications.OnMove(func(ctx context.Context, move application.Moved) {
		for _, to := range []string{move.From, move.To} {
			subject, text := moveNotice(move, to, c.PublicBaseURL)
			n.identity.Tell(ctx, to, subject, text)
		}
	})
	n.catalog = catalog.New(n.pool, n.keyring, c.AllowPrivate)
	n.catalog.OnKeyMove(func(ctx context.Context, move catalog.KeyMove) {
		subject, text := keyMoveNotice(move, c.PublicBaseURL)
		n.identity.TellAdministrators(ctx, move.Actor, subject, text)
	})
	n.guard = startGuard(n.pool)
	store := alerts.New(n.pool, n.keyring, c.AlertAllowPrivate, n.identity.Administrator)
	deps := report.Deps{
		Applications: n.applications, Catalog: n.catalog, Pricing: pricing.New(n.pool), Stats: n.stats, Ledger: ledger.New(n.pool),
		Pool: n.pool, Limits: limits.New(n.pool), LimitsUsage: limits.NewReader(n.redis), Retention: c.Retention(),
	}
	console.New(console.Deps{
		EndUserHash:       n.pepper.EndUser,
		Identity:          n.identity,
		Applications:      n.applications,
		Catalog:           n.catalog,
		Pricing:           deps.Pricing,
		Limits:            deps.Limits,
		Budgets:           budget.New(n.pool),
		Saved:             saved.New(n.pool),
		LimitsUsage:       deps.LimitsUsage,
		Alerts:            store,
		Pool:              n.pool,
		Stats:             n.stats,
		Ledger:            deps.Ledger,
		Days:              days.New(n.pool),
		Report:            report.New(deps),
		Guard:             n.guard.Guard,
		Announcer:         access.NewAnnouncer(n.pool, n.redis, n.logger),
		PublicBaseURL:     c.PublicBaseURL,
		PublicGatewayURL:  c.PublicGatewayURL,
		Version:           Version,
		Retention:         c.Retention(),
		RateLimit:         c.APIRateLimit,
		StrangerRateLimit: c.StrangerRateLimit,
		Logger:            n.logger,
	}).Register(n.app)
	deps.Stats = n.standing
	standing := report.New(deps)
	if n.days, err = days.Start(days.Config{
		Pool: n.pool, ClickHouse: c.ClickHouseURL, Source: standing.DaySource(), Logger: n.logger, Registry: n.registry,
	}); err != nil {
		return fmt.Errorf("closing of days: %w", err)
	}
	reader := &report.BudgetReader{Stats: n.standing, Prices: deps.Pricing, Pool: n.pool}
	n.notifier = budget.StartNotifier(budget.NotifierConfig{Pool: n.pool, Spent: reader.Spent, Logger: n.logger, Notify: n.notifyOfBudget})
	n.alerts, err = alerts.Start(alerts.Config{
		Pool: n.pool, Ring: n.keyring, Source: standing.AlertSource(), Mail: mail.Send, Administrator: n.identity.Administrator,
		AllowPrivate: c.AlertAllowPrivate, Pages: c.PublicBaseURL, Keep: time.Duration(c.AlertRetention) * 24 * time.Hour, Logger: n.logger, Registry: n.registry,
	})
	return err
}

func identityConfig(c config.Config, pepper secret.Pepper) identity.Config {
	var former [][]byte
	for _, secret := range c.JWTSecrets[1:] {
		former = append(former, []byte(secret))
	}
	return identity.Config{
		JWTSecret:         []byte(c.JWTSecrets[0]),
		FormerJWTSecrets:  former,
		Pepper:            pepper,
		TokenTTL:          c.JWTTTL,
		SessionTTL:        c.SessionTTL,
		AdminSessionTTL:   c.AdminSessionTTL,
		AdminEmails:       c.AdminEmails,
		LoginEmailDomains: c.LoginEmailDomains,
		Limits: identity.Limits{
			CodesPerAskerHour: c.CodesPerHour, CodesPerAskerDay: c.CodesPerDay,
			CodesPerClientHour: c.CodesPerNetworkHour, CodesPerAddressDay: c.CodesPerEmailDay,
			WrongPerClientHour: c.WrongPerNetworkHour, WrongPerAddressDay: c.WrongPerEmailDay,
		},
		CompanyTokens: identity.CompanyTokens{JWKSURL: c.JWTJWKSURL, Issuer: c.JWTIssuer, Audience: c.JWTAudience},
		OIDC: identity.OIDC{
			Issuer: c.OIDCIssuer, ClientID: c.OIDCClientID, ClientSecret: c.OIDCClientSecret,
			Name: c.OIDCName, Scopes: c.OIDCScopes, RedirectURL: c.PublicBaseURL + console.OIDCCallbackPath,
			TrustEmail: c.OIDCTrustEmail,
		},
	}
}
