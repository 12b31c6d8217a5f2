package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"callgate/internal/traces"
)

func (c *Config) consoleFaults(fault func(string, ...any)) {
	if len(c.JWTSecrets) == 0 || slices.ContainsFunc(c.JWTSecrets, func(secret string) bool { return len(secret) < 32 }) {
		fault("JWT_SECRET must be at least 32 characters (make one: openssl rand -base64 32), several separated by commas")
	}
	c.companyFaults(fault)
	needURL(fault, "SMTP_URL", c.SMTPURL, "smtp", "smtps", "smtp+starttls")
	if !strings.Contains(c.MailFrom, "@") {
		fault("MAIL_FROM must be an e-mail address")
	}
	if len(c.AdminEmails) == 0 {
		fault("ADMIN_EMAILS must list at least one administrator")
	}
	for name, n := range map[string]int{"API_RATE_LIMIT": c.APIRateLimit, "STRANGER_RATE_LIMIT": c.StrangerRateLimit} {
		if n < 0 || n > 1_000_000 {
			fault("%s must be requests per minute, 0 (unlimited) to 1000000", name)
		}
	}
	for name, n := range map[string]int{
		"MAX_APPLICATIONS_PER_ACCOUNT": c.MaxApplications,
		"SIGN_IN_CODES_PER_HOUR":       c.CodesPerHour, "SIGN_IN_CODES_PER_DAY": c.CodesPerDay,
		"SIGN_IN_CODES_PER_NETWORK_HOUR": c.CodesPerNetworkHour, "SIGN_IN_CODES_PER_EMAIL_DAY": c.CodesPerEmailDay,
		"SIGN_IN_WRONG_PER_NETWORK_HOUR": c.WrongPerNetworkHour, "SIGN_IN_WRONG_PER_EMAIL_DAY": c.WrongPerEmailDay,
	} {
		if n < 1 || n > 1_000_000 {
			fault("%s must be a number from 1 to 1000000", name)
		}
	}
	for _, address := range c.AdminEmails {
		if !strings.Contains(address, "@") {
			fault("ADMIN_EMAILS holds something that is not an e-mail address")
		}
	}
}

// The values of CLIENT_ADDRESS_HEADER.
const (
	RealIP       = "X-Real-IP"
	ForwardedFor = "X-Forwarded-For"
)

func (c *Config) proxyFaults(fault func(string, ...any)) {
	for _, proxy := range c.TrustedProxies {
		if _, err := netip.ParsePrefix(proxy); err == nil {
			continue
		}
		if _, err := netip.ParseAddr(proxy); err != nil {
			fault("TRUSTED_PROXIES must list addresses or CIDRs")
		}
	}
	if c.ClientAddressHeader != RealIP && c.ClientAddressHeader != ForwardedFor {
		fault("CLIENT_ADDRESS_HEADER must be X-Real-IP or X-Forwarded-For: the one that your proxies write")
	}
	if c.ProxyProtocol && len(c.TrustedProxies) == 0 {
		fault("PROXY_PROTOCOL=true needs TRUSTED_PROXIES: the addresses or CIDRs of the proxies that send its header")
	}
}

// companyFaults judges the company's login. What it fetches decides who is let in, so it must not be
// changed on its way.
func (c *Config) companyFaults(fault func(string, ...any)) {
	if c.JWTJWKSURL+c.JWTIssuer+c.JWTAudience != "" {
		if c.JWTIssuer == "" || c.JWTAudience == "" {
			fault("JWT_JWKS_URL, JWT_ISSUER and JWT_AUDIENCE must be set together")
		}
		needHTTPS(fault, "JWT_JWKS_URL", c.JWTJWKSURL)
	}
	if c.OIDCIssuer+c.OIDCClientID+c.OIDCClientSecret != "" {
		if c.OIDCClientID == "" || c.OIDCClientSecret == "" {
			fault("OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set together")
		}
		needHTTPS(fault, "OIDC_ISSUER", c.OIDCIssuer)
	}
}

func needHTTPS(fault func(string, ...any), name, text string) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Hostname() == "" || parsed.User != nil {
		fault("%s must be a URL such as https://host/…", name)
		return
	}
	ip, err := netip.ParseAddr(parsed.Hostname())
	loopback := parsed.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	if parsed.Scheme != "https" && (parsed.Scheme != "http" || !loopback) {
		fault("%s must begin with https:// (http:// on loopback only)", name)
	}
}

func (c *Config) limitFaults(fault func(string, ...any)) {
	for name, d := range map[string]time.Duration{
		"JWT_TTL": c.JWTTTL, "SESSION_TTL": c.SessionTTL, "ADMIN_SESSION_TTL": c.AdminSessionTTL,
		"UPSTREAM_CONNECT_TIMEOUT": c.ConnectTimeout, "UPSTREAM_HEADER_TIMEOUT": c.HeaderTimeout,
		"UPSTREAM_IDLE_TIMEOUT": c.IdleTimeout, "CALL_TIMEOUT": c.CallTimeout, "DRAIN_TIMEOUT": c.DrainTimeout,
		"CLIENT_WRITE_TIMEOUT": c.ClientWriteTimeout, "ACCESS_STALE_ON_ERROR": c.StaleOnError, "SPOOL_SEAL_AFTER": c.SpoolSealAfter,
	} {
		if d <= 0 {
			fault("%s must be a positive duration such as 30s", name)
		}
	}
	for name, n := range map[string]int64{
		"MAX_BODY_BYTES": c.MaxBodyBytes, "MAX_INFLIGHT_BYTES": c.MaxInflightBytes,
		"FAILOVER_BODY_BYTES": c.FailoverBodyBytes,
		"MAX_UPSTREAM_CONNS":  int64(c.MaxUpstreamConns),
		"RECORD_RING_BYTES":   int64(c.RecordRingBytes),
	} {
		if n <= 0 {
			fault("%s must be a positive number", name)
		}
	}
	if c.AuditRetention != 0 && (c.AuditRetention < 90 || c.AuditRetention > 36500) {
		fault("AUDIT_RETENTION_DAYS must be a number of days from 90 to 36500; 0 or none keeps the trail for ever")
	}
	if c.AlertRetention < 2 || c.AlertRetention > 3650 {
		fault("ALERT_RETENTION_DAYS must be a number of days from 2 to 3650")
	}
	if c.DrainDelay < 0 {
		fault("DRAIN_DELAY must be a duration such as 5s, or 0s")
	}
	if c.MaxConns < 0 {
		fault("MAX_CONNS must be a number of connections; 0 or none means what the limit of open files allows")
	}
	if !(c.MaxApplicationShare > 0 && c.MaxApplicationShare <= 1) {
		fault("MAX_APPLICATION_SHARE must be more than 0 and at most 1, such as 0.25")
	}
	for _, origin := range c.GatewayCORSOrigins {
		if origin != "*" && !isOrigin(origin) {
			fault("GATEWAY_CORS_ORIGINS must be * or origins as browsers send them, such as https://app.example.com or http://localhost:3000, separated by commas")
			break
		}
	}
	c.traceFaults(fault)
	if !slices.Contains([]string{"plain", "hashed", "off"}, c.EndUsers) {
		fault("END_USERS must be plain, hashed or off")
	}
	if !slices.Contains([]string{"off", "failures", "all"}, c.CallLog) {
		fault("CALL_LOG must be off, failures or all")
	}
	if c.SpoolMaxBytes < 0 {
		fault("SPOOL_MAX_BYTES must be a number of bytes; 0 or none means what the disk holds")
	}
}

// isOrigin tells whether a text is an origin as browsers write it: a scheme and a host in lower case, a port where it is not the
// scheme's own, and nothing behind. Pages of extensions and of programs made of pages have schemes of their own.
func isOrigin(text string) bool {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Hostname() == "" || strings.Contains(text, "*") || text != strings.ToLower(parsed.Scheme+"://"+parsed.Host) {
		return false
	}
	own := map[string]string{"http": "80", "https": "443"}
	return !strings.HasSuffix(parsed.Host, ":") && (parsed.Port() == "" || parsed.Port() != own[parsed.Scheme])
}

func (c *Config) traceFaults(fault func(string, ...any)) {
	if c.TraceEndpoint == "" {
		return
	}
	needURL(fault, "OTEL_EXPORTER_OTLP_ENDPOINT", c.TraceEndpoint, "http", "https")
	if _, err := traces.ParseHeaders(c.TraceHeaders); err != nil {
		fault("OTEL_EXPORTER_OTLP_HEADERS must be name=value, several separated by commas, other characters percent-encoded")
	}
	if c.TraceProtocol != "http/protobuf" {
		fault("OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf; collectors take it on port 4318")
	}
	if !(c.TraceRatio >= 0 && c.TraceRatio <= 1) {
		fault("OTEL_TRACES_SAMPLER_ARG must be a ratio from 0 to 1, such as 0.01")
	}
}

// needDatabase judges DATABASE_URL. Of several hosts a standby would take connections too, and refuse every write.
func needDatabase(fault func(string, ...any), text string) {
	needURL(fault, "DATABASE_URL", text, "postgres", "postgresql")
	parsed, err := url.Parse(text)
	if err != nil || !strings.Contains(parsed.Host, ",") {
		return
	}
	if wanted := parsed.Query().Get("target_session_attrs"); wanted != "read-write" && wanted != "primary" {
		fault("DATABASE_URL names several hosts: add target_session_attrs=read-write, so that only the one that takes writes is used")
	}
}

// clusterFaults judges the two settings of ClickHouse together. Several servers that are no cluster would each
// get a part of the calls, and every answer would be of a part.
func (c *Config) clusterFaults(fault func(string, ...any)) {
	parsed, err := url.Parse(c.ClickHouseURL)
	if err != nil {
		return // needURL says so
	}
	query := parsed.Query()
	several := strings.Contains(parsed.Host, ",") || query.Has("hosts") || query.Has("alt_hosts")
	switch {
	case c.ClickHouseCluster == "" && several:
		fault("CLICKHOUSE_URL names several hosts without CLICKHOUSE_CLUSTER: each would get a part of the calls, and every statistic would show a part; name one, or set CLICKHOUSE_CLUSTER to their cluster in remote_servers")
	case c.ClickHouseCluster != "" && parsed.Scheme != "clickhouse" && parsed.Scheme != "tcp":
		fault("CLICKHOUSE_CLUSTER needs a CLICKHOUSE_URL that begins with clickhouse://, for nodes are reached at the native ports that remote_servers gives")
	case c.ClickHouseCluster != "" && strings.Trim(parsed.Path, "/") == "":
		fault("CLICKHOUSE_URL must name the database when CLICKHOUSE_CLUSTER is set, such as clickhouse://user:password@host:9000,host2:9000/callgate")
	}
}

func needURL(fault func(string, ...any), name, text string, schemes ...string) {
	parsed, err := url.Parse(text)
	if text == "" || err != nil || parsed.Host == "" {
		fault("%s must be a URL such as %s://host:port/…", name, schemes[0])
		return
	}
	for _, scheme := range schemes {
		if parsed.Scheme == scheme {
			return
		}
	}
	fault("%s must begin with %s://", name, strings.Join(schemes, ":// or "))
}
