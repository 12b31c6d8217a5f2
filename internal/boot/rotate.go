package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"callgate/internal/config"
	"callgate/internal/progress"
	"callgate/internal/secret"
)

// RotateKeys brings every sealed value under the newest encryption key and writes to out how many
// those were; shown tells how far it is. It is an error when some are not: then the older keys must stay in ENCRYPTION_KEYS.
func RotateKeys(ctx context.Context, c config.Config, out io.Writer, display progress.Output, logger *slog.Logger) error {
	ring, err := secret.ParseKeyring(c.EncryptionKeys)
	if err != nil {
		return fmt.Errorf("ENCRYPTION_KEYS: %w", err)
	}
	pool, err := openPostgres(ctx, c.DatabaseURL, nil)
	if err != nil {
		return err
	}
	defer pool.Close()
	var faults []error
	for _, column := range secret.Columns {
		total, err := ring.CountStale(ctx, pool, column)
		if err != nil {
			return err
		}
		meter := display.Begin(column.String()+" sealed again", int64(total))
		done, err := ring.Reseal(ctx, pool, column, func(n int) { meter.Add(int64(n)) }, logger)
		meter.End()
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, "%s: %d sealed again, %d cannot be opened, %d left\n", column, done.Sealed, done.Unopened, done.Left)
		if done.Unopened > 0 {
			faults = append(faults, fmt.Errorf("%s: %d values cannot be opened under ENCRYPTION_KEYS; the log names their rows", column, done.Unopened))
		}
		if done.Left > 0 {
			faults = append(faults, fmt.Errorf("%s: %d values came under an older key meanwhile: give every process the new ENCRYPTION_KEYS, then run this again", column, done.Left))
		}
	}
	return errors.Join(faults...)
}
