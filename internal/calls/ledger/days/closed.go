package days

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/days"
)

// Closing is what the last closing of a day found.
type Closing struct {
	Day          beijing.Day
	Revision     int
	ClosedAt     time.Time
	Applications int          // with figures
	Figures      days.Figures // of all of them together
	Missing      days.Missing
	Exported     bool // ClickHouse has it
}

// missedNow is how many calls of a day d are known to be missing, of applications that exist or of anybody.
const missedNow = `coalesce((SELECT sum(l.calls) FROM dropped_calls l LEFT JOIN applications a ON a.id = l.application_id
	WHERE l.day = d.day AND (a.id IS NOT NULL OR l.application_id = '00000000-0000-0000-0000-000000000000')), 0)`

// Closings gives the last closings of the days that are closed, in order, but for those that are to be looked at again:
// calls came late to them, or others are known to be missing. Faults: Unavailable.
func (s *Store) Closings(ctx context.Context, r beijing.Range) ([]Closing, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT d.day, d.revision, v.closed_at, v.applications, v.figures, v.missing, v.exported_at IS NOT NULL
		FROM days d JOIN day_revisions v ON v.day = d.day AND v.revision = d.revision JOIN day_checks c ON c.day = d.day
		WHERE d.day BETWEEN $1 AND $2 AND d.state = 'closed' AND c.checked_at <= d.checked_at AND d.missed = `+missedNow+` AND `+notInDoubt+`
		ORDER BY d.day`, r.Start.UTC(), r.End.UTC())
	if err != nil {
		return nil, ledger.Unavailable(err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Closing, err error) {
		var day time.Time
		err = row.Scan(&day, &c.Revision, &c.ClosedAt, &c.Applications, &c.Figures, &c.Missing, &c.Exported)
		c.Day = beijing.Date(day.Date())
		return c, err
	})
	if err != nil {
		return nil, ledger.Unavailable(err)
	}
	return found, nil
}

// Figures gives what a closing found of each application that still exists. Faults: Unavailable.
func (s *Store) Figures(ctx context.Context, c Closing) ([]days.Application, error) {
	figures, _, err := closedFigures(ctx, s.pool, c.Day, c.Revision)
	if err != nil {
		return nil, ledger.Unavailable(err)
	}
	return figures, nil
}

// Rebuilding gives the days of which a rollup may still lack calls: those of doubt, and those of before a rollup was there
// that it was not filled with yet. Faults: Unavailable.
func (s *Store) Rebuilding(ctx context.Context, r beijing.Range) (map[beijing.Day]bool, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT day FROM rollup_doubts WHERE day BETWEEN $1 AND $2
		UNION SELECT day FROM day_checks WHERE day BETWEEN $1 AND $2 AND rollups < $3
		UNION SELECT g::date FROM collection, generate_series($1::date, least($2::date, days_from), interval '1 day') AS g
			WHERE (started_at AT TIME ZONE 'Asia/Shanghai')::date < days_from AND NOT EXISTS (SELECT FROM day_checks c WHERE c.day = g::date)`,
		r.Start.UTC(), r.End.UTC(), ledger.Rollups)
	if err != nil {
		return nil, ledger.Unavailable(err)
	}
	found := map[beijing.Day]bool{}
	var day time.Time
	if _, err := pgx.ForEachRow(rows, []any{&day}, func() error {
		found[beijing.Date(day.Date())] = true
		return nil
	}); err != nil {
		return nil, ledger.Unavailable(err)
	}
	return found, nil
}

// querier is a connection, or a pool of them.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// closedFigures reads what a closing found, of applications that still exist, and the missing calls that may be anybody's.
func closedFigures(ctx context.Context, conn querier, day beijing.Day, revision int) (figures []days.Application, anyones int64, err error) {
	var missing days.Missing
	if err := conn.QueryRow(ctx, `SELECT missing FROM day_revisions WHERE day = $1 AND revision = $2`, day.UTC(), revision).Scan(&missing); err != nil {
		return nil, 0, fmt.Errorf("read the revision: %w", err)
	}
	rows, err := conn.Query(ctx, `SELECT application_id, owner_id, figures FROM day_figures WHERE day = $1 AND revision = $2 ORDER BY application_id`, day.UTC(), revision)
	if err != nil {
		return nil, 0, fmt.Errorf("read the figures: %w", err)
	}
	figures, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (a days.Application, err error) {
		err = row.Scan(&a.ID, &a.Owner, &a.Figures)
		return a, err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read the figures: %w", err)
	}
	return figures, missing.Anyones, nil
}
