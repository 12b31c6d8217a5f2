package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"callgate/internal/beijing"
	"callgate/internal/boot"
	"callgate/internal/config"
	"callgate/internal/progress"
	"callgate/internal/telemetry"
)

func devCommand() *cobra.Command {
	sample := false
	c := &cobra.Command{
		Use:   "dev",
		Short: "Run the whole product on embedded stores, with demo data",
		Long:  "Runs the whole product on embedded stores, with demo data, until Ctrl-C. DATA_DIR (.callgate) keeps the data.\nIn binaries of \"make build\" only.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return boot.Dev(c.Context(), os.Environ(), sample, c.OutOrStdout(), progress.To(os.Stderr), sentences())
		},
	}
	c.Flags().BoolVar(&sample, "sample", sample, "on a first start, price the demo capabilities and make some calls, so that the pages show tokens and cost")
	return c
}

// errLogged ends the process where its log says why.
var errLogged = errors.New("see the log")

func serveCommand() *cobra.Command {
	role := string(config.All)
	c := &cobra.Command{
		Use:     "serve",
		Short:   "Run a production process",
		Long:    "Runs a production process until SIGTERM; stores and secrets come from the environment. It logs JSON lines.",
		Example: "  callgate serve --role gateway",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			logger := telemetry.NewLogger(os.Stderr, os.Getenv("LOG_LEVEL"))
			slog.SetDefault(logger)
			settings, err := config.Load(os.Environ(), config.Role(role))
			var faults config.Faults
			if errors.As(err, &faults) {
				logger.Error(config.Unusable, "faults", []string(faults))
				return errLogged
			}
			if err := boot.Serve(c.Context(), settings, logger); err != nil {
				logger.Error("the process ends", "error", err)
				return errLogged
			}
			return nil
		},
	}
	c.Flags().StringVar(&role, "role", role, "what it serves: all, gateway or console")
	complete(c, "role", string(config.All), string(config.Gateway), string(config.Console))
	return c
}

func migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring PostgreSQL and ClickHouse to this binary's version",
		Long:  "Brings PostgreSQL and ClickHouse to this binary's version; safe to repeat, and by several nodes at once.\nCalls are kept as long as STATISTICS_RETENTION_DAYS, CALL_RETENTION_DAYS and FAILURE_RETENTION_DAYS say from then on.\nCLICKHOUSE_READER_PASSWORD makes the data team's account too.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			stores, err := config.LoadMigration(os.Environ())
			if err != nil {
				return err
			}
			return boot.Migrate(c.Context(), stores, progress.To(os.Stderr))
		},
	}
}

func verifyCommand() *cobra.Command {
	var from, to, account string
	c := &cobra.Command{
		Use:   "verify",
		Short: "Recount every statistic from raw calls and compare it with the API's answers",
		Long: "Recounts every statistic from raw calls and compares it with the API's answers, among them what invoices of providers are held\n" +
			"against; with the rollups by the hour; and with what closed days were closed with. It may run beside serving processes.\n" +
			"A difference is a line, and the exit status is 1. Days are Beijing's, at most 366; the default is the last 7.",
		Example: "  callgate verify --from 2026-11-01 --to 2026-11-30",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			stores, err := config.LoadKeptStores(os.Environ())
			if err != nil {
				return err
			}
			return boot.Verify(c.Context(), stores, from, to, account, c.OutOrStdout(), progress.To(os.Stderr), sentences())
		},
	}
	c.Flags().StringVar(&from, "from", "", "first day, YYYY-MM-DD")
	c.Flags().StringVar(&to, "to", "", "last day, YYYY-MM-DD")
	c.Flags().StringVar(&account, "account", "", "e-mail address of the only account to verify; all without it")
	today := beijing.Today(time.Now())
	for _, flag := range []string{"from", "to"} {
		complete(c, flag, today.String(), (today - 1).String(), (today - 7).String())
	}
	complete(c, "account")
	return c
}

func spoolsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "spools",
		Short: "List the gateways' spools, the one furthest behind first",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			stores, err := config.LoadStores(os.Environ())
			if err != nil {
				return err
			}
			return boot.ListSpools(c.Context(), stores, c.OutOrStdout())
		},
	}
	c.AddCommand(&cobra.Command{
		Use:   "retire <id>",
		Short: "Give up a spool that will never come back",
		Long:  "Gives up a spool whose disk will never come back: its calls that were not shipped are lost, and the statistics go on without them.",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := uuid.Parse(args[0])
			if err != nil {
				return fmt.Errorf(`%q is no id of a spool; "callgate spools" lists them`, args[0])
			}
			stores, err := config.LoadStores(os.Environ())
			if err != nil {
				return err
			}
			return boot.RetireSpool(c.Context(), stores, id, c.OutOrStdout())
		},
	})
	return c
}

func rotateKeysCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rotate-keys",
		Short: "Seal all stored keys under the first of ENCRYPTION_KEYS",
		Long:  "Seals all stored keys under the first of ENCRYPTION_KEYS. It may run beside serving processes, once all of them have the new key.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			settings, err := config.LoadRotation(os.Environ())
			if err != nil {
				return err
			}
			return boot.RotateKeys(c.Context(), settings, c.OutOrStdout(), progress.To(os.Stderr), sentences())
		},
	}
}

func signInCodeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "sign-in-code <e-mail>",
		Short: "Print a code by which an administrator signs in while no mail can be sent",
		Long: "Prints a code by which one of ADMIN_EMAILS signs in to the back office once, within five minutes: for when no mail can be sent.\n" +
			"The audit trail has it. It reads what a console does, so run it where one runs.",
		Example: "  docker compose exec console callgate sign-in-code root@example.com",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			settings, err := config.Load(os.Environ(), config.Console)
			if err != nil {
				return err
			}
			return boot.SignInCode(c.Context(), settings, args[0], c.OutOrStdout(), sentences())
		},
	}
}

func healthCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "health",
		Short: "Ask the process on LISTEN whether it is ready",
		Long:  "Asks the process on LISTEN whether it is ready; the exit status is 1 when it is not. For container health checks.",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return boot.Health(c.Context(), os.Environ()) },
	}
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), boot.Version)
			return err
		},
	}
}

// sentences is the log of commands that people run.
func sentences() *slog.Logger {
	logger := telemetry.NewPlainLogger(os.Stderr, os.Getenv("LOG_LEVEL"))
	slog.SetDefault(logger)
	return logger
}

// complete makes shells offer these values of a flag, and no file names.
func complete(c *cobra.Command, flag string, values ...string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // no such flag
	}
}
