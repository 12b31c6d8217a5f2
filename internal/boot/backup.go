package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"callgate/internal/backup"
	"callgate/internal/config"
	"callgate/internal/progress"
	"callgate/internal/secret"
)

// Backup writes a backup of what environ names to a directory that is not there yet: the stores of its addresses or,
// without any, the embedded ones of DATA_DIR, whether or not callgate dev runs on them.
func Backup(ctx context.Context, environ []string, dir string, out io.Writer, display progress.Output, logger *slog.Logger) error {
	return onStores(ctx, environ, true, display, logger, func(c config.Config, of backup.Installation) error {
		return backup.Write(ctx, of, dir, out, display)
	})
}

// Restore builds what environ names from a backup, and migrates it.
func Restore(ctx context.Context, environ []string, dir string, overwrite bool, out io.Writer, display progress.Output, logger *slog.Logger) error {
	return onStores(ctx, environ, false, display, logger, func(c config.Config, to backup.Installation) error {
		if err := backup.Restore(ctx, to, dir, overwrite, out, display); err != nil {
			return err
		}
		return Migrate(ctx, c, display)
	})
}

// onStores does something with the installation that environ names. Embedded stores may be shared with a running
// callgate dev, or not.
func onStores(ctx context.Context, environ []string, shared bool, display progress.Output, logger *slog.Logger, do func(config.Config, backup.Installation) error) (err error) {
	if lookup(environ, "DATABASE_URL", "") == "" && lookup(environ, "CLICKHOUSE_URL", "") == "" && lookup(environ, "DATA_DIR", "") != "" {
		filled, end, err := embeddedStores(ctx, environ, shared, display, logger)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, end()) }()
		environ = filled
	}
	c, err := config.LoadBackup(environ)
	if err != nil {
		return err
	}
	ring, err := secret.ParseKeyring(c.EncryptionKeys)
	if err != nil {
		return fmt.Errorf("ENCRYPTION_KEYS: %w", err)
	}
	return do(c, backup.Installation{
		DatabaseURL: c.DatabaseURL, ClickHouseURL: c.ClickHouseURL, SpoolDir: c.SpoolDir, Retention: c.Retention(),
		Secrets: backup.Secrets{Keyring: ring, Pepper: secret.Pepper(c.AccessKeyPepper)}, Version: Version,
	})
}
