package days

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/days"
)

// State is how a Beijing day stands.
type State string

// The states.
const (
	Open     State = "open"
	Closed   State = "closed"
	Reopened State = "reopened" // was closed, and has other figures since
)

// What a day that is not closed waits for.
const (
	WaitsForTime   = "time"   // calls that began on it may still be under way
	WaitsForSpools = "spools" // Day.HeldBy may hold records of it
	WaitsForCheck  = "check"  // its rollups are to be compared with its calls, or it is closed next
)

// daysListed is how many days are told, today among them.
const daysListed = 14

// Day is how one Beijing day stands.
type Day struct {
	Day      beijing.Day
	State    State
	Since    *time.Time      // of State; nil: open
	Revision int             // of the last closing; 0: none
	ClosedAt *time.Time      // of the last closing
	WaitsFor string          // empty: closed
	HeldBy   []ledger.Holder // spools that hold it up

	Applications int           // with figures
	Figures      *days.Figures // of the last closing
	Missing      *days.Missing // of the last closing
}

// Source is asked for figures. An error says that nothing is known.
type Source interface {
	// Through is before which everything that ended is in the figures, as ledger.Ledger.Through, of a cluster also on the replicas
	// that answer.
	Through(ctx context.Context) (time.Time, error)
	// Day gives the figures of every application that exists and has calls on the day, without what is missing.
	Day(ctx context.Context, day beijing.Day) ([]days.Application, error)
}

// Store reads what is known of days.
type Store struct {
	pool   *pgxpool.Pool
	ledger *ledger.Ledger
}

// New reads through pool.
func New(pool *pgxpool.Pool) *Store { return &Store{pool, ledger.New(pool)} }

// List gives the days of the last two weeks, today first. Faults: Unavailable.
func (s *Store) List(ctx context.Context, now time.Time) (found []Day, err error) {
	today := beijing.Today(now)
	rows, err := s.pool.Query(ctx, `
		SELECT g::date, coalesce(d.state, 'open'), d.since, coalesce(d.revision, 0), r.closed_at, coalesce(r.applications, 0), r.figures, r.missing
		FROM generate_series($1::date, greatest($2::date, (SELECT days_from FROM collection)), interval '-1 day') AS g
		LEFT JOIN days d ON d.day = g::date LEFT JOIN day_revisions r ON r.day = d.day AND r.revision = d.revision
		ORDER BY g DESC`, today.UTC(), (today - daysListed + 1).UTC())
	if err != nil {
		return nil, ledger.Unavailable(err)
	}
	found, err = pgx.CollectRows(rows, scanDay)
	if err != nil {
		return nil, ledger.Unavailable(err)
	}
	holders, err := s.ledger.Holders(ctx)
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i].wait(holders, now)
	}
	return found, nil
}

func scanDay(row pgx.CollectableRow) (d Day, err error) {
	var at time.Time
	var figures, missing []byte
	if err := row.Scan(&at, &d.State, &d.Since, &d.Revision, &d.ClosedAt, &d.Applications, &figures, &missing); err != nil {
		return d, err
	}
	d.Day = beijing.Date(at.Date())
	if figures == nil {
		return d, nil
	}
	d.Figures, d.Missing = &days.Figures{}, &days.Missing{}
	return d, errors.Join(json.Unmarshal(figures, d.Figures), json.Unmarshal(missing, d.Missing))
}

// wait tells what a day waits for.
func (d *Day) wait(holders []ledger.Holder, now time.Time) {
	if d.State == Closed {
		return
	}
	if now.Before(ledger.SafeFrom(d.Day)) {
		d.WaitsFor = WaitsForTime
		return
	}
	for _, h := range holders {
		if h.Through.Before(ledger.SafeFrom(d.Day)) {
			d.HeldBy = append(d.HeldBy, h)
		}
	}
	if d.WaitsFor = WaitsForCheck; len(d.HeldBy) > 0 {
		d.WaitsFor = WaitsForSpools
	}
}

// missingOf tells what is missing of a day: of it all, and of each application that exists.
func missingOf(ctx context.Context, conn *pgx.Conn, day beijing.Day) (m days.Missing, of []days.Application, err error) {
	rows, err := conn.Query(ctx, `
		SELECT d.application_id, coalesce(a.owner_id, $2), sum(d.calls)::bigint FROM dropped_calls d LEFT JOIN applications a ON a.id = d.application_id
		WHERE d.day = $1 AND (a.id IS NOT NULL OR d.application_id = $2) GROUP BY 1, 2 HAVING sum(d.calls) > 0`, day.UTC(), uuid.Nil)
	if err != nil {
		return m, nil, fmt.Errorf("missed calls: %w", err)
	}
	var lost days.Application
	_, err = pgx.ForEachRow(rows, []any{&lost.ID, &lost.Owner, &lost.Missing}, func() error {
		if m.Calls += lost.Missing; lost.ID == uuid.Nil {
			m.Anyones = lost.Missing
		} else {
			of = append(of, lost)
		}
		return nil
	})
	if err != nil {
		return m, nil, fmt.Errorf("missed calls: %w", err)
	}
	rows, err = conn.Query(ctx, `
		SELECT s.id, coalesce(nullif(g.host, ''), s.node), s.given_up_at, s.given_up_by,
			CASE WHEN s.given_up_calls IS NOT NULL THEN coalesce((SELECT sum(d.calls) FROM dropped_calls d WHERE d.spool_id = s.id AND d.day = $1), 0)::bigint END AS calls
		FROM spools s LEFT JOIN gateways g ON g.spool_id = s.id
		WHERE s.given_up_at IS NOT NULL AND s.retired AND s.through < $2 AND (g.started_at IS NULL OR g.started_at < $3)
		ORDER BY s.given_up_at, s.id`, day.UTC(), ledger.SafeFrom(day), day.End())
	if err != nil {
		return m, nil, fmt.Errorf("spools given up: %w", err)
	}
	parts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[days.Spool])
	if err != nil {
		return m, nil, fmt.Errorf("spools given up: %w", err)
	}
	m.Spools = []days.Spool{}
	for _, part := range parts {
		if part.Calls == nil || *part.Calls > 0 {
			m.Spools = append(m.Spools, part)
		}
	}
	return m, of, nil
}
