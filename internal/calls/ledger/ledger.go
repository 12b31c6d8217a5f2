package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/beijing"
	"callgate/internal/fault"
)

// Ledger says how complete the statistics are. Its methods fail with fault.Unavailable when
// PostgreSQL cannot be asked.
type Ledger struct {
	pool *pgxpool.Pool
}

// New reads the ledger through pool.
func New(pool *pgxpool.Pool) *Ledger { return &Ledger{pool: pool} }

// Through is the time before which every ended call is in ClickHouse or counted as missed
// (dataThrough in openapi.yaml). Read it before ClickHouse is asked. Without any live spool it is now.
func (l *Ledger) Through(ctx context.Context) (time.Time, error) {
	now := time.Now()
	var through *time.Time
	if err := l.pool.QueryRow(ctx, `SELECT min(through) FROM spools WHERE NOT retired`).Scan(&through); err != nil {
		return time.Time{}, Unavailable(err)
	}
	if through == nil {
		return now, nil
	}
	return *through, nil
}

// Coverage says how whole the statistics of some applications and days are.
type Coverage struct {
	Through time.Time // as Ledger.Through
	Missed  int64     // calls known to be missing
	Since   time.Time // when this installation began to collect calls
	Left    Left
}

// Coverage is asked before ClickHouse is, as Through. Records so damaged that they name no
// application count as missed for everybody: they may be anybody's.
func (l *Ledger) Coverage(ctx context.Context, applications []uuid.UUID, r beijing.Range) (Coverage, error) {
	return l.coverage(ctx, r, `application_id = ANY($4)`, bare(applications))
}

// EveryonesCoverage is Coverage of all applications that exist.
func (l *Ledger) EveryonesCoverage(ctx context.Context, r beijing.Range) (Coverage, error) {
	return l.coverage(ctx, r, `application_id IN (SELECT id FROM applications)`)
}

func (l *Ledger) coverage(ctx context.Context, r beijing.Range, whose string, more ...any) (c Coverage, err error) {
	now := time.Now()
	var through *time.Time
	var kept keeping
	err = l.pool.QueryRow(ctx, `
		SELECT (SELECT min(through) FROM spools WHERE NOT retired),
			(SELECT coalesce(sum(calls), 0)::bigint FROM dropped_calls
			 WHERE day BETWEEN $1 AND $2 AND (application_id = $3 OR `+whose+`)),
			started_at, `+keepingColumns+` FROM collection`,
		append([]any{r.Start.UTC(), r.End.UTC(), uuid.Nil}, more...)...).Scan(append([]any{&through, &c.Missed, &c.Since}, kept.fields()...)...)
	if err != nil {
		return Coverage{}, Unavailable(err)
	}
	c.Through, c.Left = now, kept.left(beijing.Today(now))
	if through != nil {
		c.Through = *through
	}
	return c, nil
}

// bare are ids as PostgreSQL's driver takes them soonest: it would ask each for its text, and an administrator has thousands.
func bare(ids []uuid.UUID) [][16]byte {
	bare := make([][16]byte, len(ids))
	for i, id := range ids {
		bare[i] = id
	}
	return bare
}

// Known tells of applications whether they exist, true, or were deleted, false; those that never were are left out.
// Faults: Unavailable.
func (l *Ledger) Known(ctx context.Context, applications []uuid.UUID) (map[uuid.UUID]bool, error) {
	rows, err := l.pool.Query(ctx, `
		SELECT id, false FROM deleted_applications WHERE id = ANY($1) UNION ALL SELECT id, true FROM applications WHERE id = ANY($1)`, bare(applications))
	if err != nil {
		return nil, Unavailable(err)
	}
	known := map[uuid.UUID]bool{}
	var id uuid.UUID
	var exists bool
	if _, err := pgx.ForEachRow(rows, []any{&id, &exists}, func() error {
		known[id] = exists
		return nil
	}); err != nil {
		return nil, Unavailable(err)
	}
	return known, nil
}

// Unavailable is the fault of a ledger that cannot be read.
func Unavailable(err error) error {
	return fault.Wrap(fault.Unavailable, fmt.Errorf("read the ledger: %w", err), "the call ledger is unavailable")
}
