package ledger

import (
	"context"
	"fmt"
	"time"
)

// silentAfter is how long a spool that reports every second must have been silent to count as such.
const silentAfter = time.Minute

// Standing is how far the whole ledger is.
type Standing struct {
	Through time.Time // as Ledger.Through
	Silent  int       // spools that hold Through back and have not reported for a minute
}

// Standing tells how far the ledger is, for those who watch over it.
func (l *Ledger) Standing(ctx context.Context) (s Standing, err error) {
	s.Through = time.Now()
	var through *time.Time
	err = l.pool.QueryRow(ctx, `SELECT min(through), count(*) FILTER (WHERE updated_at < now() - make_interval(secs => $1))
		FROM spools WHERE NOT retired`, silentAfter.Seconds()).Scan(&through, &s.Silent)
	if err != nil {
		return Standing{}, unavailable(err)
	}
	if through != nil {
		s.Through = *through
	}
	return s, nil
}

// Ping asks ClickHouse whether it answers, on a connection of the shipper's.
func (s *Shipper) Ping(ctx context.Context) error {
	if err := s.conn.Ping(ctx); err != nil {
		return fmt.Errorf("ask clickhouse: %w", err)
	}
	return nil
}
