package calls

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/beijing"
	"callgate/internal/fault"
)

// Ledger says how complete the statistics are. Its methods fail with fault.Unavailable when
// PostgreSQL cannot be asked.
type Ledger struct {
	pool *pgxpool.Pool
}

// NewLedger reads the ledger through pool.
func NewLedger(pool *pgxpool.Pool) *Ledger { return &Ledger{pool: pool} }

// Through is the time before which every ended call is in ClickHouse or counted as missed
// (dataThrough of api.md). Read it before ClickHouse is asked. Without any live spool it is now.
func (l *Ledger) Through(ctx context.Context) (time.Time, error) {
	now := time.Now()
	var through *time.Time
	if err := l.pool.QueryRow(ctx, `SELECT min(through) FROM spools WHERE NOT retired`).Scan(&through); err != nil {
		return time.Time{}, unavailable(err)
	}
	if through == nil {
		return now, nil
	}
	return *through, nil
}

// Missed is how many calls of these applications are known to be missing from the days of r.
// Records so damaged that they name no application count for everybody: they may be anybody's.
func (l *Ledger) Missed(ctx context.Context, applications []uuid.UUID, r beijing.Range) (int64, error) {
	var calls int64
	err := l.pool.QueryRow(ctx, `
		SELECT coalesce(sum(calls), 0)::bigint FROM dropped_calls
		WHERE day BETWEEN $1 AND $2 AND (application_id = ANY($3) OR application_id = $4)`,
		date(r.Start), date(r.End), applications, uuid.Nil).Scan(&calls)
	if err != nil {
		return 0, unavailable(err)
	}
	return calls, nil
}

// CollectedSince is when this installation began to collect calls (spec section 4.1, rule 10).
func (l *Ledger) CollectedSince(ctx context.Context) (time.Time, error) {
	var since time.Time
	if err := l.pool.QueryRow(ctx, `SELECT started_at FROM collection`).Scan(&since); err != nil {
		return time.Time{}, unavailable(err)
	}
	return since, nil
}

// Retire declares a spool whose gateway will never come back lost, so that it no longer holds
// Through back. NotFound when there is no such spool.
func (l *Ledger) Retire(ctx context.Context, spool uuid.UUID) error {
	tag, err := l.pool.Exec(ctx, `UPDATE spools SET retired = true, updated_at = now() WHERE id = $1`, spool)
	if err != nil {
		return unavailable(err)
	}
	if tag.RowsAffected() == 0 {
		return fault.Absent()
	}
	return nil
}

// Spool is one gateway's spool as the ledger knows it.
type Spool struct {
	ID        uuid.UUID
	Node      string
	Through   time.Time
	UpdatedAt time.Time
}

// Spools lists the spools that are not retired, the one furthest behind first.
func (l *Ledger) Spools(ctx context.Context) ([]Spool, error) {
	rows, err := l.pool.Query(ctx, `SELECT id, node, through, updated_at FROM spools WHERE NOT retired ORDER BY through, id`)
	if err != nil {
		return nil, unavailable(err)
	}
	defer rows.Close()
	var spools []Spool
	for rows.Next() {
		var s Spool
		if err := rows.Scan(&s.ID, &s.Node, &s.Through, &s.UpdatedAt); err != nil {
			return nil, unavailable(err)
		}
		spools = append(spools, s)
	}
	if err := rows.Err(); err != nil {
		return nil, unavailable(err)
	}
	return spools, nil
}

func unavailable(err error) error {
	return fault.Wrap(fault.Unavailable, fmt.Errorf("read the ledger: %w", err), "the call ledger is unavailable")
}

// date is a day as PostgreSQL's driver takes it.
func date(d beijing.Day) time.Time { return time.Unix(int64(d)*24*60*60, 0).UTC() }
