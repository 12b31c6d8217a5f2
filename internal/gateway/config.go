package gateway

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/access"
	"callgate/internal/budget"
	"callgate/internal/calls"
	"callgate/internal/http1"
	"callgate/internal/limits"
	"callgate/internal/telemetry"
	"callgate/internal/traces"
)

// Config says what a gateway works with. Zero limits take the defaults.
type Config struct {
	// Grant resolves an Access Key; its errors are access.ErrUnknownKey and others, which mean that
	// the key could not be checked.
	Grant func(ctx context.Context, recent *access.Recent, accessKey []byte) (*access.Grant, error)
	// Capability returns nil for an identifier that names none.
	Capability func(id string) *access.Capability
	// OpenKey unseals a capability's upstream key. What it returns is the caller's.
	OpenKey func(*access.Capability) ([]byte, error)
	// CallerAddress is where a request comes from, for keys that may be used from some networks only; the zero Addr
	// where nobody knows. Default: its connection's peer.
	CallerAddress func(*http1.Exchange) netip.Addr
	// OpenUpstreamKey unseals the key of a named upstream, likewise.
	OpenUpstreamKey func(*access.Upstream) ([]byte, error)
	// LookUpCall gives what is kept of a call of an application as JSON, or ErrNoCall; nil: nobody can ask.
	LookUpCall func(ctx context.Context, application, call uuid.UUID) ([]byte, error)
	// TellUsage gives as JSON what holds for a key, and how much of it is used; nil: nobody can ask.
	TellUsage func(ctx context.Context, application, owner, key uuid.UUID) ([]byte, error)
	// Record takes a finished record and never blocks.
	Record func(*calls.Record)
	// Log writes a line for each call; nil: none.
	Log *telemetry.CallLog
	// Traces makes sampled calls spans; nil: no call is, and traceparent is a header as any other.
	Traces *traces.Tracer
	// Limits holds applications to their limits; nil: nobody has any.
	Limits *limits.Limiter
	// Budgets, if set, holds calls to what may be spent.
	Budgets *budget.Enforcer
	// TokenUsage says that answers are read for the tokens they report.
	TokenUsage bool

	// EndUser makes of the id that a caller gives its user what is kept of it; nil: nothing is.
	EndUser func(id string) string

	// Origins are those whose pages may call: anyOrigin, or as browsers write them; none: no page of another origin may.
	Origins []string

	AllowPrivate      bool          // upstreams on loopback and private addresses
	ConnectTimeout    time.Duration // name, connection and TLS; 10 s
	HeaderTimeout     time.Duration // silence until the upstream's response head; 300 s
	IdleTimeout       time.Duration // silence between bytes; 300 s
	CallTimeout       time.Duration // the whole call; 30 min
	MaxBodyBytes      int64         // of a request body; 64 MiB
	MaxInflightBytes  int64         // of the kept bodies of all calls in flight; 512 MiB
	FailoverBodyBytes int64         // of a body that is kept for an attempt at another upstream; 1 MiB
	MaxUpstreamConns  int           // per scheme, host and port; 4,096
	OwnerShare        float64       // of the two above, that the others leave to an owner of applications; 0.25

	Logger   *slog.Logger
	Registry prometheus.Registerer
	// WatchTLS is given the TLS configuration of every upstream before it is used; nil: nobody watches.
	WatchTLS func(*tls.Config)
}

func (c *Config) defaults() {
	orDuration := func(d *time.Duration, fallback time.Duration) {
		if *d <= 0 {
			*d = fallback
		}
	}
	orDuration(&c.ConnectTimeout, 10*time.Second)
	orDuration(&c.HeaderTimeout, 300*time.Second)
	orDuration(&c.IdleTimeout, 300*time.Second)
	orDuration(&c.CallTimeout, 30*time.Minute)
	if c.MaxBodyBytes <= 0 {
		c.MaxBodyBytes = 64 << 20
	}
	if c.MaxInflightBytes <= 0 {
		c.MaxInflightBytes = 512 << 20
	}
	if c.FailoverBodyBytes <= 0 {
		c.FailoverBodyBytes = 1 << 20
	}
	if c.MaxUpstreamConns <= 0 {
		c.MaxUpstreamConns = 4096
	}
	if c.OwnerShare <= 0 {
		c.OwnerShare = 0.25
	}
	if c.CallerAddress == nil {
		c.CallerAddress = func(x *http1.Exchange) netip.Addr { return http1.AddrOf(x.Peer.RemoteAddr()) }
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
}
