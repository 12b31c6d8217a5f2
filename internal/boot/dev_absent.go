//go:build !embedded

package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"callgate/internal/progress"
)

// Dev says how to get a binary that has the engines: what runs in production, this one, has no part
// of them.
func Dev(context.Context, []string, bool, io.Writer, progress.Output, *slog.Logger) error {
	return errors.New("this binary is for production and has no embedded stores: " +
		"`make build` makes one that has, or go build -tags embedded ./cmd/callgate")
}

func embeddedStores(ctx context.Context, _ []string, _ bool, _ progress.Output, logger *slog.Logger) ([]string, func() error, error) {
	return nil, nil, fmt.Errorf("DATA_DIR names embedded stores, and %w", Dev(ctx, nil, false, nil, progress.Output{}, logger))
}
