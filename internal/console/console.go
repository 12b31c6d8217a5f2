// Package console is the HTTP API of the console and the back office (internal/openapi): routes, credentials,
// the envelope, faults as statuses, and handlers that read a request, ask, and show what is answered. What
// is asked of several packages at once, they ask internal/report. Handlers hold no rules of their own:
// ownership is decided in the SQL of the packages they ask, so that no route can forget it.
package console

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/access"
	"callgate/internal/alerts"
	"callgate/internal/application"
	"callgate/internal/budget"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/days"
	"callgate/internal/catalog"
	"callgate/internal/identity"
	"callgate/internal/limits"
	"callgate/internal/pricing"
	"callgate/internal/report"
	"callgate/internal/retention"
	"callgate/internal/saved"
	"callgate/internal/stats"
)

// Deps is everything the handlers ask.
type Deps struct {
	Identity     *identity.Service
	Applications *application.Store
	Catalog      *catalog.Store
	Pricing      *pricing.Store
	Limits       *limits.Store
	LimitsUsage  *limits.Reader // nil: not known
	Budgets      *budget.Store
	Saved        *saved.Store
	Alerts       *alerts.Store
	Pool         *pgxpool.Pool // for the audit list
	Report       *report.Report
	Stats        *stats.Reader // nil: last calls and last uses of keys are not known
	Ledger       *ledger.Ledger
	Days         *days.Store
	Announcer    *access.Announcer
	EndUserHash  func(id string) string // what is kept of an end user's id where it is hashed; nil: the id
	// Guard, if set, tells whether PostgreSQL answers: an error when not, else a context that ends
	// when it stops to, and what releases it.
	Guard func(context.Context) (context.Context, context.CancelFunc, error)

	PublicGatewayURL  string // where applications reach the gateway, without a trailing slash
	PublicBaseURL     string // without a trailing slash; https makes cookies Secure
	Version           string
	Retention         retention.Days // zero: retention.Default
	RateLimit         int            // requests a minute of each user or administrator; 0: unlimited
	StrangerRateLimit int            // requests a minute of each network address without a credential; 0: unlimited
	Now               func() time.Time
	Logger            *slog.Logger
}

// Console answers /api.
type Console struct {
	Deps
	limiter *limiter

	// Anonymous requests are counted apart where codes are asked for and tried, so that a flood there does not
	// keep those behind the same address from going on with sessions they have.
	anonymous, signIns *limiter
	guesses            *limiter // management tokens that are none, by network address

	exports   *exports
	questions *questions
	previews  *questions // of alerts
}

// New returns a console that asks d; a nil Now is time.Now.
func New(d Deps) *Console {
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.EndUserHash == nil {
		d.EndUserHash = func(id string) string { return id }
	}
	if d.Retention == (retention.Days{}) {
		d.Retention = retention.Default
	}
	return &Console{
		Deps: d, limiter: newLimiter(d.RateLimit, d.Now),
		anonymous: newLimiter(d.StrangerRateLimit, d.Now), signIns: newLimiter(d.StrangerRateLimit, d.Now),
		guesses: newLimiter(d.StrangerRateLimit, d.Now),
		exports: newExports(), questions: newQuestions(questionsAtATime, questionsWaiting), previews: newQuestions(previewsAtATime, previewsWaiting),
	}
}

// Register adds every route of the management interface to app, whose ErrorHandler must be Fail.
func (c *Console) Register(app *fiber.App) {
	api := app.Group("/api", c.common)
	c.routes(api)
	api.Use(unmatched(app.GetRoutes(true)))
}

// unmatched tells a path that does not exist from one that takes other methods, which it names.
// Fiber would do so itself, but for the pages that stand behind /api on the same listener.
func unmatched(routes []fiber.Route) fiber.Handler {
	return func(ctx *fiber.Ctx) error {
		var allowed []string
		for _, r := range routes {
			if strings.HasPrefix(r.Path, "/api/") && fiber.RoutePatternMatch(ctx.Path(), r.Path) {
				allowed = append(allowed, r.Method)
			}
		}
		if len(allowed) == 0 {
			return fiber.ErrNotFound
		}
		ctx.Set(fiber.HeaderAllow, strings.Join(allowed, ", "))
		return fiber.ErrMethodNotAllowed
	}
}
