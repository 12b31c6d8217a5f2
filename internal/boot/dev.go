//go:build embedded

package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/config"
	"callgate/internal/embedded"
	"callgate/internal/progress"
)

// Dev runs the whole product on embedded stores until ctx is done: engines, migrations, demo data,
// every role on LISTEN. environ is the environment; what it leaves unset is filled in. When
// everything answers, out gets the addresses, a sign-in and a curl line that works; shown tells how far a first start is.
// sample has the demo capabilities priced and called on a first start, so that the pages have something to show.
func Dev(ctx context.Context, environ []string, sample bool, out io.Writer, display progress.Output, logger *slog.Logger) error {
	began := time.Now()
	dataDir := lookup(environ, "DATA_DIR", ".callgate")
	engines, err := embedded.Start(ctx, embedded.Options{DataDir: dataDir, Logger: logger, Progress: display})
	if err != nil {
		return err
	}
	err = dev(ctx, environ, sample, dataDir, engines, out, display, logger, began)
	return errors.Join(err, engines.Close())
}

func dev(ctx context.Context, environ []string, sample bool, dataDir string, engines *embedded.Engines, out io.Writer, display progress.Output, logger *slog.Logger, began time.Time) error {
	filled, err := devEnviron(environ, dataDir, addresses(engines))
	if err != nil {
		return err
	}
	c, err := config.Load(filled, config.All)
	if err != nil {
		return err
	}
	if err := Migrate(ctx, c, display); err != nil { // the engine comes with its reader
		return err
	}
	n, err := Start(ctx, c, logger, func(app *fiber.App) { serveMails(app, engines.Mailbox()) })
	if err != nil {
		return err
	}
	found, err := n.seed(ctx, dataDir, engines)
	if err == nil && sample {
		if wrong := n.sample(ctx, engines.Upstream(), &found); wrong != nil {
			logger.Warn("sample data could not be made; everything else works", "error", wrong)
		}
	}
	if err == nil {
		welcome(out, c, found, dataDir, time.Since(began))
		err = n.Wait(ctx)
	}
	return errors.Join(err, n.Stop())
}

// devEnviron fills in what the environment leaves unset. Stores are always those given.
func devEnviron(environ []string, dataDir string, stores map[string]string) ([]string, error) {
	secrets, err := devSecrets(dataDir)
	if err != nil {
		return nil, err
	}
	defaults := map[string]string{
		"METRICS_LISTEN":         "127.0.0.1:0",
		"PUBLIC_BASE_URL":        "http://" + lookup(environ, "LISTEN", config.DefaultListen),
		"DRAIN_DELAY":            "0s", // nobody is to be led elsewhere
		"ADMIN_EMAILS":           demoAdmin,
		"MAIL_FROM":              "callgate@callgate.local",
		"UPSTREAM_ALLOW_PRIVATE": "true",
		"GATEWAY_CORS_ORIGINS":   "*", // so that a page under development can call

		"ALERT_WEBHOOK_ALLOW_PRIVATE": "true",
		"SPOOL_DIR":                   filepath.Join(dataDir, "spool"),
	}
	for name, value := range secrets {
		defaults[name] = value
	}
	filled := append([]string(nil), environ...)
	for name, value := range defaults {
		if lookup(environ, name, "") == "" {
			filled = append(filled, name+"="+value)
		}
	}
	for _, name := range []string{"DATABASE_URL", "CLICKHOUSE_URL", "REDIS_URL", "SMTP_URL"} {
		filled = append(filled, name+"="+stores[name])
	}
	return filled, nil
}

func welcome(out io.Writer, c config.Config, d seeded, dataDir string, took time.Duration) {
	base, gateway := c.PublicBaseURL, c.PublicGatewayURL
	fmt.Fprintf(out, `
Callgate is ready (%.1f s). Data is kept in %[8]s (DATA_DIR); stop with Ctrl-C.

  Console        %[2]s/
  Sign in        %[3]s (developer) or %[4]s (back office)
  Sign-in codes  %[2]s/dev/mails
  API            %[2]s/docs

Call a capability:

  curl '%[9]s/gateway/v1/chat/completions?model=%[5]s' \
    -H 'Authorization: Bearer %[6]s' -H 'Content-Type: application/json' \
    -d '{"model":"demo","messages":[{"role":"user","content":"Hello"}]}'

See it counted:

  curl '%[2]s/api/statistics/applications/overview' -H 'Authorization: Bearer %[7]s'

`, took.Seconds(), base, demoDeveloper, demoAdmin, demoChat, d.accessKey, d.token, dataDir, gateway)
}
