// Package gateway is the hot path: it finds out whose Access Key a call carries and what that may
// call, forwards the call to the upstream byte for byte, relays the answer as it arrives, and hands
// over one record of every attributed call. The relay implements fasthttp.BodyWriterTo, because only
// there an end can be told from a break: whatever is read by the server first has no end of its own.
package gateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"callgate/internal/access"
	"callgate/internal/calls"
)

// Config says what a gateway works with. Zero limits take the defaults of design section 4.
type Config struct {
	// Grant resolves an Access Key; its errors are access.ErrUnknownKey and others, which mean that
	// the key could not be checked.
	Grant func(ctx context.Context, accessKey string) (*access.Grant, error)
	// Capability returns nil for an identifier that names none.
	Capability func(id string) *access.Capability
	// OpenKey unseals a capability's upstream key.
	OpenKey func(*access.Capability) (string, error)
	// Record takes a finished record and never blocks.
	Record func(*calls.Record)

	AllowPrivate     bool          // upstreams on loopback and private addresses
	ConnectTimeout   time.Duration // name, connection and TLS; 10 s
	HeaderTimeout    time.Duration // silence until the upstream's response head; 300 s
	IdleTimeout      time.Duration // silence between bytes; 300 s
	CallTimeout      time.Duration // the whole call; 30 min
	MaxBodyBytes     int64         // of a request body; 64 MiB
	MaxInflightBytes int64         // of the kept bodies of all calls in flight; 512 MiB
	MaxUpstreamConns int           // per scheme, host and port; 4,096
	ApplicationShare float64       // of the two above, that one application may take; 0.25

	Logger   *slog.Logger
	Registry prometheus.Registerer
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
	if c.MaxUpstreamConns <= 0 {
		c.MaxUpstreamConns = 4096
	}
	if c.ApplicationShare <= 0 {
		c.ApplicationShare = 0.25
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
}

// Gateway serves /gateway/*.
type Gateway struct {
	config    Config
	logger    *slog.Logger
	metrics   *metrics
	upstreams upstreams
	sweeper   *sweeper
	awaited   awaited
	shares    shares
	reserved  atomic.Int64
	stopping  atomic.Bool // no time is left for new calls
	closed    atomic.Bool
}

// New returns a gateway; Close or Shutdown ends its goroutines.
func New(config Config) *Gateway {
	config.defaults()
	g := &Gateway{
		config: config,
		logger: config.Logger,
		upstreams: upstreams{
			allowPrivate: config.AllowPrivate, timeout: config.ConnectTimeout, limit: config.MaxUpstreamConns, quiet: (*probe).quiet,
			sessions: tls.NewLRUClientSessionCache(256), pools: map[string]*connPool{},
		},
	}
	g.shares.bytes = part(config.ApplicationShare, config.MaxInflightBytes)
	g.shares.conns = int32(part(config.ApplicationShare, int64(config.MaxUpstreamConns)))
	g.sweeper = newSweeper(limits{header: config.HeaderTimeout, idle: config.IdleTimeout, whole: config.CallTimeout}, func(now time.Time) {
		g.upstreams.each(func(p *connPool) { p.evict(now.Add(-idleConnLife)) })
		g.shares.tidy(now)
	})
	g.metrics = newMetrics(config.Registry, g)
	return g
}

// ServerConfig sets what the listener must have for the gateway: streamed bodies in both directions,
// responses as they are, room for long headers, any method.
func ServerConfig(c *fiber.Config) {
	c.StreamRequestBody = true
	c.DisablePreParseMultipartForm = true
	c.DisableDefaultContentType = true
	c.DisableDefaultDate = true // the upstream's own date is relayed
	c.ServerHeader = ""
	c.ETag = false
	c.BodyLimit = 1                  // with streaming: how much is read before the handler; the rooms enforce their own limits
	c.ReadTimeout = 60 * time.Second // for a request's head; the gateway lifts it for bodies
	c.WriteTimeout = 0               // a stream may take as long as it takes
	c.IdleTimeout = 5 * time.Minute
	c.ReadBufferSize = 16 << 10 // bounds a request's head
	c.WriteBufferSize = 4 << 10
	c.DisableKeepalive = false
	c.RequestMethods = append(append([]string(nil), fiber.DefaultMethods...),
		"QUERY", "PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "SEARCH", "PURGE", "LINK", "UNLINK")
}

// Register mounts the gateway on an app made with ServerConfig and served on a Listener, without which
// chunked bodies are refused. It comes before the app's own routes: a call needs none of what a router
// finds out, and does not pay for it. It also keeps the server from repeating a malformed request,
// Access Key included, in its error answer.
func (g *Gateway) Register(app *fiber.App) {
	server := app.Server()
	server.SecureErrorLogMessage = true
	routes, fail := server.Handler, server.ErrorHandler
	server.Handler = func(ctx *fasthttp.RequestCtx) {
		if g.serve(ctx) {
			return
		}
		routes(ctx)
		if caller, ok := ctx.Conn().(*callerConn); ok {
			caller.answered()
		}
	}
	server.HeaderReceived = g.note
	server.ExpectHandler = g.expect
	server.ErrorHandler = func(ctx *fasthttp.RequestCtx, err error) {
		if g.serveLeft(ctx, err) || g.serveUnread(ctx, err) {
			return
		}
		fail(ctx, discreet(err))
		if !connectionEnded(err) && !timedOut(err) {
			answerLast(ctx, bytes.Clone(ctx.Response.Body()))
		}
	}
}

var errUnreadable = errors.New("the request cannot be read")

// discreet replaces an error of the server that may quote the request, Access Key included.
func discreet(err error) error {
	var head *fasthttp.ErrSmallBuffer
	if errors.As(err, &head) || errors.Is(err, fasthttp.ErrBodyTooLarge) || timedOut(err) {
		return err
	}
	return errUnreadable
}

const (
	shutdownLook = 5 * time.Millisecond
	// cutTime is how long calls have to end once they are cut. One that is stuck even so is given up.
	cutTime = 3 * time.Second
)

// Shutdown waits until no call is in flight; calls that still come are served. Once ctx is done, new
// calls are refused, the rest is cut, and what does not end within 3 s is given up: the error says
// how many. It closes the gateway. Every call but those has its record handed over when it returns.
func (g *Gateway) Shutdown(ctx context.Context) error {
	defer g.Close()
	ticker := time.NewTicker(shutdownLook)
	defer ticker.Stop()
	var end time.Time
	for done := ctx.Done(); !g.sweeper.finish(); {
		select {
		case <-done:
			g.stopping.Store(true)
			done, end = nil, time.Now().Add(cutTime)
		case <-ticker.C:
		}
		if !g.stopping.Load() {
			continue
		}
		// Again each time: some were between two steps when the others were cut.
		g.sweeper.each(func(c *call) { c.cut(shuttingDown) })
		if time.Now().After(end) {
			return fmt.Errorf("%d calls did not end %v after they were cut", g.sweeper.len(), cutTime)
		}
	}
	return nil
}

// Close ends the gateway's goroutines and closes idle connections. Calls in flight are not waited for.
func (g *Gateway) Close() {
	if g.closed.Swap(true) {
		return
	}
	g.sweeper.close()
	g.upstreams.each(func(p *connPool) { p.evict(time.Now().Add(time.Hour)) })
}

// reserve takes n bytes of the budget for kept bodies, and of the application's share of it where
// there is one, or gives back -n.
func (g *Gateway) reserve(of *share, n int64) error {
	if n == 0 {
		return nil
	}
	if of != nil && !of.reserve(n, g.shares.bytes) {
		return errShareExhausted
	}
	if g.reserved.Add(n) <= g.config.MaxInflightBytes || n < 0 {
		return nil
	}
	g.reserved.Add(-n)
	if of != nil {
		of.reserve(-n, 0)
	}
	return errNoBudget
}

// serve answers a request to the gateway; it reports false for any other.
func (g *Gateway) serve(ctx *fasthttp.RequestCtx) bool {
	path, query, ok := splitTarget(ctx.Request.Header.RequestURI())
	if !ok {
		return false
	}
	if ctx.Request.Header.ContentLength() > 0 {
		g.awaited.take(ctx)
	}
	var head requestHead
	if !head.scan(ctx.Request.Header.RawHeaders()) {
		g.refuse(ctx, refusedMalformed, false)
		return true
	}
	c, refused := g.admit(ctx, &head, path, query, ctx.Time())
	if refused != nil {
		g.refuse(ctx, *refused, g.drainUnattributed(ctx, head.chunked))
		return true
	}
	c.handle()
	if !c.relaying {
		c.release()
	}
	return true
}

// admit attributes a request to the application of its key: from here on it is a call in flight,
// which ends with one record. Otherwise it returns the refusal.
func (g *Gateway) admit(ctx *fasthttp.RequestCtx, head *requestHead, path, query []byte, start time.Time) (*call, *refusal) {
	accessKey := string(head.bearer)
	grant, err := g.grant(accessKey)
	switch {
	case errors.Is(err, access.ErrUnknownKey) && head.shown:
		return nil, &refusedShown
	case errors.Is(err, access.ErrUnknownKey):
		return nil, &refusedKey
	case err != nil:
		g.logger.Warn("access key cannot be checked", "error", err)
		return nil, &refusedAccess
	}
	c := takeCall()
	c.gateway, c.ctx, c.client, c.start, c.id = g, ctx, ctx.Conn(), start, calls.NewCallID(start)
	c.head, c.path, c.query, c.accessKey, c.grant, c.firstByte = *head, path, query, accessKey, grant, -1
	if !g.sweeper.add(c) { // after Shutdown: the process ends, nobody takes a record any more
		c.release()
		return nil, &refusedStopping
	}
	c.share = g.shares.enter(grant.ApplicationID)
	c.request.share = c.share
	return c, nil
}

func (g *Gateway) grant(accessKey string) (grant *access.Grant, err error) {
	defer func() {
		if p := recover(); p != nil {
			g.logger.Error("panic while checking a key", "panic", p, "stack", string(debug.Stack()))
			err = errors.New("panic while checking a key")
		}
	}()
	if accessKey == "" {
		return nil, access.ErrUnknownKey
	}
	return g.config.Grant(context.Background(), accessKey)
}

// refuse answers a request that is attributed to nobody.
func (g *Gateway) refuse(ctx *fasthttp.RequestCtx, r refusal, bodyRead bool) {
	g.metrics.refused.WithLabelValues(r.code).Inc()
	r.answer(ctx, bodyRead)
}

// drainUnattributed reads the small body of a request that is refused, so that its connection lives.
func (g *Gateway) drainUnattributed(ctx *fasthttp.RequestCtx, chunked bool) bool {
	var b requestBody
	if err := b.open(g, ctx, chunked); err != nil {
		b.release(g)
		return false
	}
	b.drain(ctx.Conn())
	b.release(g)
	return b.complete.Load()
}

// handle takes a call through every check to the upstream and back; each exit makes one record.
func (c *call) handle() {
	defer c.recover()
	opened := c.request.open(c.gateway, c.ctx, c.head.chunked)
	if refused := c.check(); refused != nil {
		c.refuse(*refused)
		return
	}
	switch {
	case c.gateway.stopping.Load():
		c.refuse(refusedStopping)
		return
	case errors.Is(opened, errTooLarge):
		c.refuse(refusedLarge)
		return
	case errors.Is(opened, errShareExhausted):
		c.refuse(refusedShare)
		return
	case opened != nil:
		c.refuse(refusedBudget)
		return
	}
	secret, err := c.gateway.config.OpenKey(c.capability)
	if err == nil && strings.ContainsAny(secret, "\r\n\x00") {
		err = errors.New("the upstream key cannot stand in a header")
	}
	if err != nil {
		c.gateway.logger.Error("upstream key cannot be used", "capability", c.capability.ID, "error", err)
		c.refuse(refusedInternal)
		return
	}
	c.secret = secret
	t, err := c.gateway.upstreams.target(c.capability.UpstreamBaseURL)
	if err != nil {
		c.gateway.logger.Warn("upstream may not be called", "capability", c.capability.ID, "cause", logged(err))
		c.refuse(refusedUnreachable)
		return
	}
	c.request.unhurried(c)
	switch err = c.request.receive(&c.progress, c.gateway.config.MaxBodyBytes); {
	case errors.Is(err, errTooLarge):
		c.refuse(refusedLarge)
		return
	case errors.Is(err, errChunks):
		c.refuse(refusedChunks)
		return
	case c.why() == callerSlow || timedOut(err) && c.why() == uncut:
		c.refuse(refusedStalled)
		return
	case err != nil || !c.enter(waiting):
		c.abandon()
		return
	}
	conn, err := c.forward(t)
	if err != nil {
		c.failed(err)
		return
	}
	c.begin(conn)
}

// check finds the first reason to refuse the call, in the order of design section 4. A capability
// that is named and exists is recorded whatever the reason.
func (c *call) check() *refusal {
	rest, model, count := splitModel(c.query, c.head.bearer)
	c.restQuery = rest
	if count == 1 && model != "" {
		c.capability = c.gateway.config.Capability(model)
	}
	switch {
	case !c.grant.Active:
		return &refusedDisabled
	case count > 1:
		return &refusedModels
	case model == "":
		return &refusedNoModel
	case c.capability == nil:
		return &refusedUnknown
	case !c.capability.Enabled:
		return &refusedOff
	case !c.grant.Bound(c.capability.ID):
		return &refusedUnbound
	case c.head.shown:
		return &refusedShown
	case !isMethod(c.ctx.Method()):
		return &refusedMethod
	case !allowsMethod(c.capability.AllowedMethods, c.ctx.Method()):
		refused := refusedMethod
		refused.allow = strings.Join(c.capability.AllowedMethods, ", ")
		refused.message = "The capability does not allow this method. Use " + refused.allow + "."
		return &refused
	case checkPath(c.path) != nil:
		return &refusedPath
	case !allowsPath(c.capability.AllowedPaths, c.path):
		return &refusedElsewhere
	}
	return nil
}

// refuse ends the call with an answer of our own. What is small of the body is read first: the
// developer is shown it, and the connection can be used again.
func (c *call) refuse(r refusal) {
	if r.status != fasthttp.StatusRequestEntityTooLarge && r.status != fasthttp.StatusRequestTimeout {
		c.request.finishReading(c)
	}
	c.nameIn(&c.ctx.Response.Header)
	r.answer(c.ctx, c.request.complete.Load())
	endedBy := r.endedBy
	if endedBy == "" {
		endedBy = calls.Denied
	}
	c.finish(outcome{status: r.status, endedBy: endedBy, kind: r.reason, code: r.reasonCode, message: r.message})
}

// failed ends a call whose request could not be exchanged for a response head.
func (c *call) failed(err error) {
	switch why := c.why(); {
	case why == tooLong || errors.Is(err, errTooLarge):
		c.refuse(refusedLarge)
	case why == malformed:
		c.refuse(refusedChunks)
	case why == tooSlow || why == uncut && timedOut(err):
		c.refuse(refusedTimeout)
	case why == callerSlow:
		c.refuse(refusedStalled)
	case why != uncut:
		c.abandon()
	case errors.Is(err, errShareExhausted):
		c.refuse(refusedShare)
	case errors.Is(err, errPoolExhausted):
		c.refuse(refusedPool)
	default:
		c.gateway.logger.Info("upstream failed", "call", c.id, "capability", c.capability.ID, "cause", logged(err))
		if http2Only(err) {
			c.refuse(refusedHTTP2)
			return
		}
		if errors.Is(err, errAnswer) {
			c.refuse(refusedAnswer)
			return
		}
		c.refuse(refusedUnreachable)
	}
}

// abandon ends a call whose caller left before the answer began, or that a shutdown cut: nothing is
// answered, the connection is closed.
func (c *call) abandon() {
	_ = c.client.SetWriteDeadline(past) // the server's own empty response must not go out
	c.ctx.SetConnectionClose()
	c.finish(c.interrupted(true))
}

// recover turns a panic into a recorded 500.
func (c *call) recover() {
	p := recover()
	if p == nil {
		return
	}
	c.gateway.logger.Error("panic in a call", "call", c.id, "panic", p, "stack", string(debug.Stack()))
	c.mu.Lock()
	conn, ended := c.conn, c.ended
	c.conn = nil
	c.mu.Unlock()
	if conn != nil {
		c.stopSending(conn, 0)
		conn.pool.drop(conn)
	}
	if !ended {
		c.ctx.Response.ResetBody()
		c.refuse(refusedInternal)
	}
}
