//go:build embedded

package boot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"callgate/internal/embedded"
	"callgate/internal/progress"
)

// embeddedStores gives the environment of DATA_DIR with its stores, which are started unless shared is true and callgate
// dev runs on them, and what ends them. Secrets are those of DATA_DIR: none are made.
func embeddedStores(ctx context.Context, environ []string, shared bool, display progress.Output, logger *slog.Logger) (filled []string, end func() error, err error) {
	dataDir := lookup(environ, "DATA_DIR", "")
	secrets := filepath.Join(dataDir, "secrets.env")
	if _, err := os.Stat(secrets); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("there is no %s: name a DATA_DIR that callgate dev made or, to restore to a new one, copy the secrets.env of the one that was backed up there first; no backup holds it", secrets)
	}
	if shared {
		if running, ok := embedded.Running(dataDir); ok {
			filled, err = devEnviron(environ, dataDir, running)
			return filled, func() error { return nil }, err
		}
	}
	engines, err := embedded.Start(ctx, embedded.Options{DataDir: dataDir, Progress: display, Logger: logger})
	if err != nil {
		return nil, nil, err
	}
	if filled, err = devEnviron(environ, dataDir, addresses(engines)); err != nil {
		return nil, nil, errors.Join(err, engines.Close())
	}
	return filled, engines.Close, nil
}

// addresses are the variables that name engines.
func addresses(engines *embedded.Engines) map[string]string {
	return map[string]string{
		"DATABASE_URL": engines.DatabaseURL(), "CLICKHOUSE_URL": engines.ClickHouseURL(),
		"REDIS_URL": engines.RedisURL(), "SMTP_URL": engines.Mailbox().URL(),
	}
}
