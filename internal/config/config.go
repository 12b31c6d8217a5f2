// Package config reads the environment into one validated struct. Every fault is reported at once,
// because an operator who fixes them one restart at a time loses an afternoon; secrets are never
// part of a message.
package config

import (
	"errors"
	"fmt"
	"net"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"callgate/internal/cluster"
	"callgate/internal/secret"
)

// Role is what one process serves.
type Role string

// The roles of `callgate serve --role`.
const (
	All     Role = "all"
	Gateway Role = "gateway"
	Console Role = "console"
)

// DefaultListen is LISTEN when it is unset.
const DefaultListen = "127.0.0.1:8080"

// Config is the whole configuration. Durations are Go durations ("300s"), sizes are bytes.
type Config struct {
	Listen        string `env:"LISTEN" envDefault:"127.0.0.1:8080"`
	MetricsListen string `env:"METRICS_LISTEN" envDefault:"127.0.0.1:9090"`
	PublicBaseURL string `env:"PUBLIC_BASE_URL"` // of a gateway alone it may be unset: http://<LISTEN>
	// PublicGatewayURL is where applications reach the gateway: PUBLIC_BASE_URL, or a host of its own,
	// which then serves nothing of the console.
	PublicGatewayURL string `env:"PUBLIC_GATEWAY_URL"`
	LogLevel         string `env:"LOG_LEVEL" envDefault:"info"`
	// TrustedProxies are addresses or CIDRs that are believed about the client's address: in
	// ClientAddressHeader, X-Real-IP or X-Forwarded-For, and with ProxyProtocol in the header (version 2) that
	// each of their connections must begin with. From anybody else both are ignored or refused.
	TrustedProxies      []string `env:"TRUSTED_PROXIES"`
	ClientAddressHeader string   `env:"CLIENT_ADDRESS_HEADER" envDefault:"X-Real-IP"`
	ProxyProtocol       bool     `env:"PROXY_PROTOCOL" envDefault:"false"`

	DatabaseURL string `env:"DATABASE_URL"`
	// ClickHouseURL is CLICKHOUSE_URL and, when it is loaded, holds the name of the cluster too (cluster.Address).
	ClickHouseURL     string `env:"CLICKHOUSE_URL"`
	ClickHouseCluster string `env:"CLICKHOUSE_CLUSTER"` // one of the servers' remote_servers; empty: one server
	RedisURL          string `env:"REDIS_URL"`

	// JWTSecrets: the first signs, all verify.
	JWTSecrets      []string `env:"JWT_SECRET"`
	EncryptionKeys  string   `env:"ENCRYPTION_KEYS"`
	AccessKeyPepper string   `env:"ACCESS_KEY_PEPPER"`

	AdminEmails       []string      `env:"ADMIN_EMAILS"`
	LoginEmailDomains []string      `env:"LOGIN_EMAIL_DOMAINS"`
	JWTTTL            time.Duration `env:"JWT_TTL" envDefault:"1h"`
	SessionTTL        time.Duration `env:"SESSION_TTL" envDefault:"720h"`
	AdminSessionTTL   time.Duration `env:"ADMIN_SESSION_TTL" envDefault:"12h"`
	APIRateLimit      int           `env:"API_RATE_LIMIT" envDefault:"1200"`      // requests a minute of each principal; 0: unlimited
	StrangerRateLimit int           `env:"STRANGER_RATE_LIMIT" envDefault:"1200"` // the same of each network address without a credential
	MaxApplications   int           `env:"MAX_APPLICATIONS_PER_ACCOUNT" envDefault:"1000"`
	// Sign-in limits, see identity.Limits: codes for one e-mail address from one network, or by one
	// browser that has signed in before; from one network for all; for one address from everywhere; wrong codes.
	CodesPerHour        int    `env:"SIGN_IN_CODES_PER_HOUR" envDefault:"10"`
	CodesPerDay         int    `env:"SIGN_IN_CODES_PER_DAY" envDefault:"30"`
	CodesPerNetworkHour int    `env:"SIGN_IN_CODES_PER_NETWORK_HOUR" envDefault:"1000"`
	CodesPerEmailDay    int    `env:"SIGN_IN_CODES_PER_EMAIL_DAY" envDefault:"300"`
	WrongPerNetworkHour int    `env:"SIGN_IN_WRONG_PER_NETWORK_HOUR" envDefault:"60"`
	WrongPerEmailDay    int    `env:"SIGN_IN_WRONG_PER_EMAIL_DAY" envDefault:"150"`
	SMTPURL             string `env:"SMTP_URL"`
	MailFrom            string `env:"MAIL_FROM"`
	// AlertAllowPrivate lets alerts' webhooks, which every developer enters, go to addresses that are not public.
	AlertAllowPrivate bool `env:"ALERT_WEBHOOK_ALLOW_PRIVATE" envDefault:"false"`

	// A company's issuer, whose tokens are taken besides our own. All three or none.
	JWTJWKSURL  string `env:"JWT_JWKS_URL"`
	JWTIssuer   string `env:"JWT_ISSUER"`
	JWTAudience string `env:"JWT_AUDIENCE"`

	// A company's OpenID provider to sign in at. OIDCScopes are asked for besides openid and email.
	OIDCIssuer       string   `env:"OIDC_ISSUER"`
	OIDCClientID     string   `env:"OIDC_CLIENT_ID"`
	OIDCClientSecret string   `env:"OIDC_CLIENT_SECRET"`
	OIDCName         string   `env:"OIDC_NAME" envDefault:"Single sign-on"`
	OIDCScopes       []string `env:"OIDC_SCOPES"`
	// OIDCTrustEmail takes the address of a provider that sends no email_verified; one it calls
	// unverified is refused all the same.
	OIDCTrustEmail bool `env:"OIDC_TRUST_EMAIL" envDefault:"false"`

	// SpoolDir may be shared by any number of gateways; SpoolMaxBytes bounds what each of them wrote and adopted.
	SpoolDir         string        `env:"SPOOL_DIR"`
	RecordRingBytes  int           `env:"RECORD_RING_BYTES" envDefault:"67108864"`
	SpoolMaxBytes    int64         `env:"SPOOL_MAX_BYTES"` // default: what the disk holds
	SpoolSealAfter   time.Duration `env:"SPOOL_SEAL_AFTER" envDefault:"500ms"`
	StaleOnError     time.Duration `env:"ACCESS_STALE_ON_ERROR" envDefault:"60s"`
	AllowPrivate     bool          `env:"UPSTREAM_ALLOW_PRIVATE" envDefault:"false"`
	ConnectTimeout   time.Duration `env:"UPSTREAM_CONNECT_TIMEOUT" envDefault:"10s"`
	HeaderTimeout    time.Duration `env:"UPSTREAM_HEADER_TIMEOUT" envDefault:"300s"`
	IdleTimeout      time.Duration `env:"UPSTREAM_IDLE_TIMEOUT" envDefault:"300s"`
	CallTimeout      time.Duration `env:"CALL_TIMEOUT" envDefault:"30m"`
	MaxBodyBytes     int64         `env:"MAX_BODY_BYTES" envDefault:"67108864"`
	MaxInflightBytes int64         `env:"MAX_INFLIGHT_BYTES" envDefault:"536870912"`
	// FailoverBodyBytes is up to how many bytes a body is kept for an attempt at another upstream.
	FailoverBodyBytes int64 `env:"FAILOVER_BODY_BYTES" envDefault:"1048576"`
	MaxUpstreamConns  int   `env:"MAX_UPSTREAM_CONNS" envDefault:"4096"`
	// GatewayCORSOrigins are the origins whose pages may call the gateway; * is every one.
	GatewayCORSOrigins []string `env:"GATEWAY_CORS_ORIGINS"`
	// MaxApplicationShare is how much of MAX_UPSTREAM_CONNS and MAX_INFLIGHT_BYTES is left to each owner of
	// applications: more than 0, at most 1.
	MaxApplicationShare float64 `env:"MAX_APPLICATION_SHARE" envDefault:"0.25"`

	// StatisticsRetention and the others are retention.Days; CallRetention 0 is as StatisticsRetention.
	StatisticsRetention int `env:"STATISTICS_RETENTION_DAYS" envDefault:"399"`
	CallRetention       int `env:"CALL_RETENTION_DAYS" envDefault:"0"`
	FailureRetention    int `env:"FAILURE_RETENTION_DAYS" envDefault:"30"`

	// AuditRetention is for how many days the audit trail is kept, 0 for ever; AlertRetention the events of alerts and to whom they
	// were sent.
	AuditRetention int `env:"AUDIT_RETENTION_DAYS" envDefault:"0"`
	AlertRetention int `env:"ALERT_RETENTION_DAYS" envDefault:"30"`

	TokenUsage bool `env:"UPSTREAM_USAGE" envDefault:"true"` // read answers for the tokens they report

	CallLog  string `env:"CALL_LOG" envDefault:"off"`     // off, failures or all
	EndUsers string `env:"END_USERS" envDefault:"hashed"` // plain, hashed or off: what is kept of the ids that callers give their users
	// TraceEndpoint is an OpenTelemetry collector's OTLP/HTTP address; empty: calls are not traced. TraceHeaders are
	// name=value pairs separated by commas; TraceRatio is of the calls without a trace of their caller's.
	TraceEndpoint string  `env:"OTEL_EXPORTER_OTLP_ENDPOINT"`
	TraceHeaders  string  `env:"OTEL_EXPORTER_OTLP_HEADERS"`
	TraceProtocol string  `env:"OTEL_EXPORTER_OTLP_PROTOCOL" envDefault:"http/protobuf"`
	TraceRatio    float64 `env:"OTEL_TRACES_SAMPLER_ARG" envDefault:"0.01"`

	MaxConns           int           `env:"MAX_CONNS" envDefault:"0"` // 0: what the limit of open files allows, at most 65536
	ClientWriteTimeout time.Duration `env:"CLIENT_WRITE_TIMEOUT" envDefault:"30s"`
	DrainDelay         time.Duration `env:"DRAIN_DELAY" envDefault:"5s"`
	DrainTimeout       time.Duration `env:"DRAIN_TIMEOUT" envDefault:"30s"`

	// ClickHouseReaderPassword is for the data team's read-only account; empty: none is made.
	ClickHouseReaderPassword string `env:"-"`

	Role Role `env:"-"`
}

// Load reads environ ("NAME=value" pairs as os.Environ gives them) for role and validates it. The
// error joins every fault, one line each, and holds no value of a secret.
func Load(environ []string, role Role) (Config, error) {
	var c Config
	err := env.ParseWithOptions(&c, env.Options{Environment: env.ToMap(environ)})
	c.Role = role
	if err := joined(append(parseFaults(err), c.faults()...)); err != nil {
		return Config{}, err
	}
	c.normalise()
	return c, nil
}

// LoadMigration reads only what `callgate migrate` needs: the stores, how long calls are kept and, for the data team's account,
// CLICKHOUSE_READER_PASSWORD.
func LoadMigration(environ []string) (Config, error) {
	c, err := LoadKeptStores(environ)
	c.ClickHouseReaderPassword = env.ToMap(environ)["CLICKHOUSE_READER_PASSWORD"]
	if err == nil && c.ClickHouseReaderPassword != "" && len(c.ClickHouseReaderPassword) < 16 {
		err = joined([]string{"CLICKHOUSE_READER_PASSWORD must be at least 16 characters, or unset for no such account"})
	}
	return c, err
}

// LoadStores reads only what commands on the stores alone need: DATABASE_URL and CLICKHOUSE_URL.
func LoadStores(environ []string) (Config, error) {
	variables := env.ToMap(environ)
	c := Config{DatabaseURL: variables["DATABASE_URL"], ClickHouseURL: variables["CLICKHOUSE_URL"], ClickHouseCluster: variables["CLICKHOUSE_CLUSTER"]}
	var faults []string
	c.storeFaults(func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) })
	c.ClickHouseURL = cluster.Address(c.ClickHouseURL, c.ClickHouseCluster)
	return c, joined(faults)
}

// LoadRotation reads only what `callgate rotate-keys` needs: DATABASE_URL and ENCRYPTION_KEYS.
func LoadRotation(environ []string) (Config, error) {
	variables := env.ToMap(environ)
	c := Config{DatabaseURL: variables["DATABASE_URL"], EncryptionKeys: variables["ENCRYPTION_KEYS"]}
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	needDatabase(fault, c.DatabaseURL)
	c.keyringFaults(fault)
	return c, joined(faults)
}

// Faults are all that is wrong with an environment, a sentence each, in a stable order.
type Faults []string

// Unusable is what is said before them.
const Unusable = "the configuration is not usable"

func (f Faults) Error() string { return Unusable + ":\n  - " + strings.Join(f, "\n  - ") }

// joined makes one error of all faults.
func joined(faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	sort.Strings(faults)
	return Faults(faults)
}

// with is joined of the faults that an error of joined has, and more.
func with(err error, more []string) error {
	var faults Faults
	_ = errors.As(err, &faults)
	return joined(append(faults, more...))
}

// written says how a variable of a type is written.
func written(of reflect.Type) string {
	switch {
	case of == reflect.TypeFor[time.Duration]():
		return "a duration such as 30s, 5m or 1h"
	case of.Kind() == reflect.Bool:
		return "true or false"
	case of.Kind() == reflect.Float64:
		return "a number such as 0.25"
	}
	return "a whole number"
}

// parseFaults words type errors without the value, which may be a secret put in the wrong place.
func parseFaults(err error) []string {
	if err == nil {
		return nil
	}
	var several env.AggregateError
	if !errors.As(err, &several) {
		return []string{"the environment cannot be read"}
	}
	var faults []string
	for _, one := range several.Errors {
		var parse env.ParseError
		if errors.As(one, &parse) {
			faults = append(faults, nameOf(parse.Name)+" must be "+written(parse.Type))
			continue
		}
		faults = append(faults, "a variable cannot be read")
	}
	return faults
}

func (c *Config) faults() []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }

	if _, ok := map[Role]bool{All: true, Gateway: true, Console: true}[c.Role]; !ok {
		fault("--role must be all, gateway or console")
	}
	for name, address := range map[string]string{"LISTEN": c.Listen, "METRICS_LISTEN": c.MetricsListen} {
		if _, _, err := net.SplitHostPort(address); err != nil {
			fault("%s must be host:port", name)
		}
	}
	c.storeFaults(fault)
	needURL(fault, "REDIS_URL", c.RedisURL, "redis", "rediss", "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster")
	c.proxyFaults(fault)
	if c.PublicBaseURL != "" {
		needURL(fault, "PUBLIC_BASE_URL", c.PublicBaseURL, "http", "https")
	} else if c.Role != Gateway {
		fault("PUBLIC_BASE_URL must be set: the address at which people open the console, such as https://callgate.example.com")
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, strings.ToLower(c.LogLevel)) {
		fault("LOG_LEVEL must be debug, info, warn or error")
	}
	if c.PublicGatewayURL != "" {
		needURL(fault, "PUBLIC_GATEWAY_URL", c.PublicGatewayURL, "http", "https")
	}
	c.pepperFaults(fault)
	c.keyringFaults(fault)
	if c.Role != Gateway {
		c.consoleFaults(fault)
	}
	if c.Role != Console && c.SpoolDir == "" {
		fault("SPOOL_DIR must be set: a directory that outlives the process, such as /var/lib/callgate/spool")
	}
	c.limitFaults(fault)
	c.Retention().Faults(fault)
	return faults
}

func (c *Config) storeFaults(fault func(string, ...any)) {
	needDatabase(fault, c.DatabaseURL)
	needURL(fault, "CLICKHOUSE_URL", c.ClickHouseURL, "clickhouse", "tcp", "http", "https")
	c.clusterFaults(fault)
}

func (c *Config) pepperFaults(fault func(string, ...any)) {
	if len(c.AccessKeyPepper) < 32 {
		fault("ACCESS_KEY_PEPPER must be at least 32 characters (make one: openssl rand -base64 32)")
	}
}

func (c *Config) keyringFaults(fault func(string, ...any)) {
	if c.EncryptionKeys == "" {
		fault("ENCRYPTION_KEYS must be set: id:base64 of 32 bytes, several separated by commas")
	} else if _, err := secret.ParseKeyring(c.EncryptionKeys); err != nil {
		fault("ENCRYPTION_KEYS: %v", err)
	}
}

func (c *Config) normalise() {
	c.ClickHouseURL = cluster.Address(c.ClickHouseURL, c.ClickHouseCluster)
	if c.PublicBaseURL == "" {
		c.PublicBaseURL = "http://" + c.Listen
	}
	c.PublicBaseURL = strings.TrimRight(c.PublicBaseURL, "/")
	if c.PublicGatewayURL == "" {
		c.PublicGatewayURL = c.PublicBaseURL
	}
	c.PublicGatewayURL = strings.TrimRight(c.PublicGatewayURL, "/")
}

// nameOf gives the environment variable of a field of Config.
func nameOf(field string) string {
	f, ok := reflect.TypeFor[Config]().FieldByName(field)
	if !ok {
		return field
	}
	return f.Tag.Get("env")
}
