package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Status is how far the whole ledger is.
type Status struct {
	Through time.Time // as Ledger.Through
	Silent  int       // spools that are Silent
	Held    int64     // bytes that these held when they last reported
}

// Status tells how far the ledger is, for those who watch over it.
func (l *Ledger) Status(ctx context.Context) (s Status, err error) {
	s.Through = time.Now()
	var through *time.Time
	err = l.pool.QueryRow(ctx, `
		WITH known AS (
			SELECT s.through, s.updated_at <= now() - make_interval(secs => $1) AS silent, g.held_bytes
			FROM spools s LEFT JOIN gateways g ON g.spool_id = s.id WHERE NOT s.retired)
		SELECT min(through), count(*) FILTER (WHERE silent), coalesce(sum(held_bytes) FILTER (WHERE silent), 0)::bigint FROM known`,
		SilentAfter.Seconds()).Scan(&through, &s.Silent, &s.Held)
	if err != nil {
		return Status{}, Unavailable(err)
	}
	if through != nil {
		s.Through = *through
	}
	return s, nil
}

// Silence is how long nobody has reported a spool that is waited for.
type Silence struct {
	ID   uuid.UUID
	Node string
	For  time.Duration
}

// MostSilent gives the spool that has been Silent for longest, or nil where none is.
func (l *Ledger) MostSilent(ctx context.Context) (*Silence, error) {
	var s Silence
	var seconds float64
	err := l.pool.QueryRow(ctx, `
		SELECT id, node, extract(epoch FROM now() - updated_at)::float8 FROM spools
		WHERE NOT retired AND updated_at <= now() - make_interval(secs => $1) ORDER BY updated_at, id LIMIT 1`,
		SilentAfter.Seconds()).Scan(&s.ID, &s.Node, &seconds)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, Unavailable(err)
	}
	s.For = time.Duration(seconds * float64(time.Second))
	return &s, nil
}
