package stats

import (
	"context"
	"fmt"
)

// Ping asks ClickHouse whether it answers; of a cluster every shard.
func (r *Reader) Ping(ctx context.Context) error {
	if err := r.conn.Ping(ctx); err != nil {
		return fmt.Errorf("ask clickhouse: %w", err)
	}
	return nil
}
