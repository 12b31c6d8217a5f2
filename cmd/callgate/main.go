// Command callgate is the gateway, call ledger, capability catalog and console in one binary.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"callgate/internal/boot"
	"callgate/internal/config"
	"callgate/internal/telemetry"
)

const usage = `usage: callgate <command>

  dev                                 the whole product on embedded stores, with demo data; in binaries of "make build" only
  serve [--role all|gateway|console]  production process; stores and secrets from the environment
  migrate                             bring PostgreSQL and ClickHouse to this binary's version
  verify [--from day] [--to day] [--account e-mail]
                                      recount every statistic from raw calls and compare it with the API's answers;
                                      days as YYYY-MM-DD in Beijing, at most 366, default the last 7; of all accounts or one
  spools [retire <id>]                list the gateways' spools, or give up one that will never come back
  rotate-keys                         seal all stored keys under the first of ENCRYPTION_KEYS; safe while serving
  health                              ask the process on LISTEN whether it is ready; for container health checks
  version                             print the version
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "callgate: "+err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, args, environ []string, out, errs io.Writer) error {
	if len(args) == 0 {
		_, _ = io.WriteString(errs, usage)
		return fmt.Errorf("a command is missing")
	}
	logger := telemetry.NewLogger(errs, os.Getenv("LOG_LEVEL"))
	slog.SetDefault(logger)
	flags := flag.NewFlagSet("callgate "+args[0], flag.ContinueOnError)
	flags.SetOutput(errs)
	role := flags.String("role", string(config.All), "all, gateway or console")
	from, to := flags.String("from", "", "first day"), flags.String("to", "", "last day")
	account := flags.String("account", "", "e-mail address of the only account to verify")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "dev":
		return boot.Dev(ctx, environ, out, logger)
	case "serve":
		c, err := config.Load(environ, config.Role(*role))
		if err != nil {
			return err
		}
		return boot.Serve(ctx, c, logger)
	case "migrate":
		stores, err := config.LoadMigration(environ)
		if err != nil {
			return err
		}
		return boot.Migrate(ctx, stores.DatabaseURL, stores.ClickHouseURL, stores.ClickHouseReaderPassword)
	case "verify":
		stores, err := config.LoadStores(environ)
		if err != nil {
			return err
		}
		return boot.Verify(ctx, stores, *from, *to, *account, out, logger)
	case "spools":
		stores, err := config.LoadStores(environ)
		if err != nil {
			return err
		}
		return boot.Spools(ctx, stores, flags.Args(), out)
	case "rotate-keys":
		c, err := config.LoadRotation(environ)
		if err != nil {
			return err
		}
		return boot.RotateKeys(ctx, c, out, logger)
	case "health":
		return boot.Health(ctx, environ)
	case "version":
		_, err := fmt.Fprintln(out, boot.Version)
		return err
	}
	_, _ = io.WriteString(errs, usage)
	return fmt.Errorf("unknown command %q", args[0])
}
