// Command callgate is the gateway, call ledger, capability catalog and console in one binary.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"callgate/internal/boot"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root().ExecuteContext(ctx); err != nil {
		if !errors.Is(err, errLogged) {
			fmt.Fprintln(os.Stderr, "callgate: "+err.Error())
		}
		os.Exit(1)
	}
}

// root is the command line: it says what may follow where, helps, and completes in shells.
func root() *cobra.Command {
	c := &cobra.Command{
		Use:           "callgate",
		Short:         "A gateway for AI model services that records every call",
		Long:          "Callgate is a gateway for AI model services, a ledger of their calls with exact statistics, and the console of both.\nStores and secrets come from the environment: deploy/docs/variables.md has the list.",
		Version:       boot.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(c *cobra.Command, _ []string) error {
			_ = c.Help()
			return errors.New("a command is missing")
		},
	}
	c.SetFlagErrorFunc(func(of *cobra.Command, err error) error {
		return fmt.Errorf(`%w; "%s --help" lists the flags`, err, of.CommandPath())
	})
	c.SetVersionTemplate("{{.Version}}\n")
	c.AddCommand(devCommand(), serveCommand(), migrateCommand(), verifyCommand(), backupCommand(), restoreCommand(), spoolsCommand(), rotateKeysCommand(), signInCodeCommand(), healthCommand(), versionCommand())
	return c
}
