package ledger

import (
	"context"
	"fmt"
	"time"
)

// Standing is how far the whole ledger is.
type Standing struct {
	Through time.Time // as Ledger.Through
	Silent  int       // spools that are Silent
	Held    int64     // bytes that these held when they last reported
}

// Standing tells how far the ledger is, for those who watch over it.
func (l *Ledger) Standing(ctx context.Context) (s Standing, err error) {
	s.Through = time.Now()
	var through *time.Time
	err = l.pool.QueryRow(ctx, `
		WITH known AS (
			SELECT s.through, s.updated_at <= now() - make_interval(secs => $1) AS silent, g.held_bytes
			FROM spools s LEFT JOIN gateways g ON g.spool_id = s.id WHERE NOT s.retired)
		SELECT min(through), count(*) FILTER (WHERE silent), coalesce(sum(held_bytes) FILTER (WHERE silent), 0)::bigint FROM known`,
		silentAfter.Seconds()).Scan(&through, &s.Silent, &s.Held)
	if err != nil {
		return Standing{}, unavailable(err)
	}
	if through != nil {
		s.Through = *through
	}
	return s, nil
}

// Ping asks ClickHouse whether it answers, on a connection of the shipper's; of a cluster every shard.
func (s *Shipper) Ping(ctx context.Context) error {
	err := s.servers.each(ctx, func(ctx context.Context, on *shard) error { return on.conn().Ping(ctx) })
	if err != nil {
		return fmt.Errorf("ask clickhouse: %w", err)
	}
	return nil
}
