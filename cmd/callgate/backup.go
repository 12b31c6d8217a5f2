package main

import (
	"os"

	"github.com/spf13/cobra"

	"callgate/internal/boot"
	"callgate/internal/progress"
)

func backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup <directory>",
		Short: "Write what PostgreSQL, ClickHouse and the spools hold to a directory",
		Long: "Writes what PostgreSQL, ClickHouse and the spools in SPOOL_DIR hold to a directory that is not there yet. It may run beside\n" +
			"serving processes: every call that was recorded before it began is in it. ENCRYPTION_KEYS and ACCESS_KEY_PEPPER must open\n" +
			"what is stored and are not in the backup: keep them apart from it. DATA_DIR instead of the addresses names the embedded\n" +
			"stores of callgate dev.",
		Example: "  callgate backup /backups/2026-11-22\n  DATA_DIR=.callgate callgate backup /backups/dev",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return boot.Backup(c.Context(), os.Environ(), args[0], c.OutOrStdout(), progress.To(os.Stderr), sentences())
		},
	}
}

func restoreCommand() *cobra.Command {
	overwrite := false
	c := &cobra.Command{
		Use:   "restore <directory>",
		Short: "Build an installation from a backup",
		Long: "Builds an installation from what callgate backup has written, brings it to this binary's version, and puts records that were\n" +
			"not in ClickHouse yet into SPOOL_DIR, where the first gateway sends them. No process may run on the stores, which must be empty.\n" +
			"ENCRYPTION_KEYS and ACCESS_KEY_PEPPER must be those of the backup. When it was interrupted, run it again.",
		Example: "  callgate restore /backups/2026-11-22 && callgate verify",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return boot.Restore(c.Context(), os.Environ(), args[0], overwrite, c.OutOrStdout(), progress.To(os.Stderr), sentences())
		},
	}
	c.Flags().BoolVar(&overwrite, "overwrite", false, "remove what the stores hold; spools keep what they have")
	return c
}
