// Package days closes Beijing days: it keeps what each came to, tells what a day that is not closed waits for, and copies
// closings to ClickHouse for data teams.
package days

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/shards"
	"callgate/internal/days"
	"callgate/internal/leader"
)

const (
	// closingLock is the advisory lock of PostgreSQL under which one console at a time closes days.
	closingLock = 0x6461797300000001 // "days"

	closingEvery = 10 * time.Second
	// closingQuiet is how long a day that was reopened must have been left alone: late calls come in batches.
	closingQuiet = 2 * time.Minute
	// closedAtOnce bounds the days of one round.
	closedAtOnce = 7
)

// Config is what a Closer is told.
type Config struct {
	Pool       *pgxpool.Pool
	ClickHouse string // address
	Source     Source
	Logger     *slog.Logger
	Registry   prometheus.Registerer // may be nil
}

// Closer closes Beijing days: some time after one has ended, when everything of it is confirmed and its rollups
// agree with its calls, it keeps what the day came to. A day whose figures change after that is reopened, and closed
// again under the next revision. Every console may run one; they take turns, and each change of a day is one
// transaction on the connection that holds the turn: there is neither half a change nor two of a kind.
type Closer struct {
	pool    *pgxpool.Pool
	servers *shards.Servers
	source  Source
	log     *slog.Logger
	now     func() time.Time
	quiet   time.Duration
	metrics *closingMetrics

	cancel context.CancelFunc
	done   sync.WaitGroup
}

type closingMetrics struct {
	closed, reopened prometheus.Counter
	waiting          prometheus.Gauge
}

// Start starts to close days; it succeeds while the stores are down.
func Start(c Config) (*Closer, error) {
	closer, err := newCloser(c)
	if err != nil {
		return nil, err
	}
	if c.Registry != nil {
		m := closer.metrics
		if err := errors.Join(c.Registry.Register(m.closed), c.Registry.Register(m.reopened), c.Registry.Register(m.waiting)); err != nil {
			return nil, errors.Join(fmt.Errorf("register metrics of days: %w", err), closer.servers.Close())
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	closer.cancel = cancel
	closer.done.Go(func() { closer.run(ctx) })
	return closer, nil
}

func newCloser(c Config) (*Closer, error) {
	servers, err := shards.Open(c.ClickHouse)
	if err != nil {
		return nil, err
	}
	options := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "callgate", Subsystem: "days", Name: name, Help: help}
	}
	return &Closer{
		pool: c.Pool, servers: servers, source: c.Source, log: c.Logger, now: time.Now, quiet: closingQuiet,
		metrics: &closingMetrics{
			closed:   prometheus.NewCounter(prometheus.CounterOpts(options("closed_total", "Closings of days that this console has made."))),
			reopened: prometheus.NewCounter(prometheus.CounterOpts(options("reopened_total", "Closed days that this console has reopened, because their figures changed."))),
			waiting:  prometheus.NewGauge(prometheus.GaugeOpts(options("waiting", "Days that are over and not closed, or reopened, at this console's last turn."))),
		},
	}, nil
}

// Close breaks off what is being done, which is safe at any point, and ends.
func (c *Closer) Close() error {
	c.cancel()
	c.done.Wait()
	if err := c.servers.Close(); err != nil {
		return fmt.Errorf("close the closing of days: %w", err)
	}
	return nil
}

func (c *Closer) run(ctx context.Context) {
	tick := time.NewTicker(closingEvery)
	defer tick.Stop()
	for failed := 0; ; {
		if err := leader.Turn(ctx, c.pool, closingLock, c.round); err == nil {
			failed = 0
		} else if ctx.Err() == nil {
			if failed%30 == 0 {
				c.log.Warn("days cannot be closed; it is tried again", "error", err)
			}
			failed++
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// round does what is due, and counts the days that wait, above all when something fails.
func (c *Closer) round(ctx context.Context, conn *pgx.Conn) error {
	return errors.Join(c.work(ctx, conn), c.countWaiting(ctx, conn))
}

// work exports first what was closed and not yet exported, by whomever.
func (c *Closer) work(ctx context.Context, conn *pgx.Conn) error {
	exporting := c.export(ctx, conn)
	through, err := c.source.Through(ctx)
	if err != nil {
		return errors.Join(exporting, err)
	}
	if err := c.reopenChanged(ctx, conn); err != nil {
		return errors.Join(exporting, err)
	}
	last := min(ledger.ClosedDay(c.now()), ledger.ClosedDay(through))
	closed, err := c.closeDue(ctx, conn, last)
	if err != nil || closed == 0 {
		return errors.Join(exporting, err)
	}
	return errors.Join(c.export(ctx, conn), c.forget(ctx, conn))
}

// forget removes the figures of applications on days that are never compared again, for their calls are gone. ClickHouse
// has them.
func (c *Closer) forget(ctx context.Context, conn *pgx.Conn) error {
	left, err := ledger.New(c.pool).Left(ctx, beijing.Today(c.now()))
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `DELETE FROM day_figures f USING day_revisions r
		WHERE f.day < $1 AND r.day = f.day AND r.revision = f.revision AND r.exported_at IS NOT NULL`, left.Calls.UTC()); err != nil {
		return fmt.Errorf("forget figures of days: %w", err)
	}
	return nil
}

// snapshot is a day as it was before it is changed: the change is made only of what it was.
type snapshot struct {
	day       beijing.Day
	revision  int       // 0: never closed
	checkedAt time.Time // of the newest comparison
}

func snapshots(ctx context.Context, conn *pgx.Conn, query string, args ...any) ([]snapshot, error) {
	rows, err := conn.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("days: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s snapshot, err error) {
		var day time.Time
		err = row.Scan(&day, &s.revision, &s.checkedAt)
		s.day = beijing.Date(day.Date())
		return s, err
	})
	if err != nil {
		return nil, fmt.Errorf("days: %w", err)
	}
	return found, nil
}

// notInDoubt is the condition that a day of day_checks was compared as it is.
const notInDoubt = ` NOT EXISTS (SELECT FROM rollup_doubts r WHERE r.day = c.day) `

// closeDue closes the days up to last that are due, the oldest first.
func (c *Closer) closeDue(ctx context.Context, conn *pgx.Conn, last beijing.Day) (closed int, err error) {
	due, err := snapshots(ctx, conn, `
		SELECT c.day, coalesce(d.revision, 0), c.checked_at FROM day_checks c LEFT JOIN days d ON d.day = c.day
		WHERE c.day BETWEEN (SELECT days_from FROM collection) AND $1 AND c.rollups >= $2 AND `+notInDoubt+`
		  AND (d.day IS NULL OR d.state = 'reopened' AND c.checked_at > d.since AND d.since <= now() - make_interval(secs => $3))
		ORDER BY c.day LIMIT $4`, last.UTC(), ledger.Rollups, c.quiet.Seconds(), closedAtOnce)
	if err != nil {
		return 0, err
	}
	for _, day := range due {
		done, err := c.closeDay(ctx, conn, day)
		if err != nil {
			return closed, fmt.Errorf("close %s: %w", day.day, err)
		}
		if done {
			closed++
		}
	}
	return closed, nil
}

// figuresNow reads what a day comes to now.
func (c *Closer) figuresNow(ctx context.Context, conn *pgx.Conn, day beijing.Day) (figures []days.Application, missing days.Missing, err error) {
	if figures, err = c.source.Day(ctx, day); err != nil {
		return nil, missing, err
	}
	missing, lost, err := missingOf(ctx, conn, day)
	if err != nil {
		return nil, missing, err
	}
	at := make(map[uuid.UUID]int, len(figures))
	for i, f := range figures {
		at[f.ID] = i
	}
	for _, l := range lost {
		if i, found := at[l.ID]; found {
			figures[i].Missing = l.Missing
			continue
		}
		l.Costs = []days.Cost{}
		figures = append(figures, l)
	}
	return figures, missing, nil
}

// closeDay closes a day under the next revision; false: it is not as it was any more.
func (c *Closer) closeDay(ctx context.Context, conn *pgx.Conn, s snapshot) (closed bool, err error) {
	figures, missing, err := c.figuresNow(ctx, conn, s.day)
	if err != nil {
		return false, err
	}
	total := days.Sum(figures)
	total.Missing += missing.Anyones
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			INSERT INTO days AS d (day, state, revision, checked_at, missed)
			SELECT c.day, 'closed', 1, c.checked_at, $4 FROM day_checks c WHERE c.day = $1 AND c.checked_at = $3 AND `+notInDoubt+`
			ON CONFLICT (day) DO UPDATE SET state = 'closed', since = now(), revision = d.revision + 1, checked_at = excluded.checked_at, missed = excluded.missed
			WHERE d.state = 'reopened' AND d.revision = $2`, s.day.UTC(), s.revision, s.checkedAt, missing.Calls)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		closed = true
		return keepRevision(ctx, tx, s.day, s.revision+1, figures, total, missing)
	})
	if err != nil || !closed {
		return false, err
	}
	c.metrics.closed.Inc()
	c.log.Info("a day is closed", "day", s.day, "revision", s.revision+1, "calls", total.Calls, "missing", missing.Calls, "unknown", missing.Unknown())
	return true, nil
}

// keepRevision keeps what a closing found, and that it is to be told.
func keepRevision(ctx context.Context, tx pgx.Tx, day beijing.Day, revision int, figures []days.Application, total days.Figures, missing days.Missing) error {
	if _, err := tx.Exec(ctx, `INSERT INTO day_revisions (day, revision, applications, figures, missing) VALUES ($1, $2, $3, $4, $5)`,
		day.UTC(), revision, len(figures), total, missing); err != nil {
		return fmt.Errorf("keep the revision: %w", err)
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"day_figures"}, []string{"day", "revision", "application_id", "owner_id", "figures"},
		pgx.CopyFromSlice(len(figures), func(i int) ([]any, error) {
			f := figures[i]
			return []any{day.UTC(), revision, f.ID, f.Owner, f.Figures}, nil
		}))
	if err != nil {
		return fmt.Errorf("keep the figures: %w", err)
	}
	return tell(ctx, tx, day, revision, "closed", nil)
}

// tell keeps an event for whoever asked to be told.
func tell(ctx context.Context, tx pgx.Tx, day beijing.Day, revision int, kind string, found map[string]int64) error {
	if found == nil {
		found = map[string]int64{}
	}
	if _, err := tx.Exec(ctx, `INSERT INTO day_events (day, revision, kind, found) VALUES ($1, $2, $3, $4)`, day.UTC(), revision, kind, found); err != nil {
		return fmt.Errorf("keep the event: %w", err)
	}
	return nil
}

// reopenChanged looks at closed days that were compared with their calls again, as they are when calls came late, or
// of which another number of calls is known to be missing. Days whose calls are no longer kept stay what they were.
func (c *Closer) reopenChanged(ctx context.Context, conn *pgx.Conn) error {
	changed, err := snapshots(ctx, conn, `
		SELECT c.day, d.revision, c.checked_at FROM days d JOIN day_checks c ON c.day = d.day
		WHERE d.state = 'closed' AND `+notInDoubt+` AND (c.checked_at > d.checked_at
			OR d.missed <> `+missedNow+`)
		ORDER BY c.day LIMIT $1`, closedAtOnce)
	if err != nil {
		return err
	}
	for _, day := range changed {
		if err := c.recheck(ctx, conn, day); err != nil {
			return fmt.Errorf("look at %s again: %w", day.day, err)
		}
	}
	return nil
}

// recheck reopens a closed day whose figures are other ones than they were.
func (c *Closer) recheck(ctx context.Context, conn *pgx.Conn, s snapshot) error {
	now, missing, err := c.figuresNow(ctx, conn, s.day)
	if err != nil {
		return err
	}
	then, anyones, err := closedFigures(ctx, conn, s.day, s.revision)
	if err != nil {
		return err
	}
	same := days.SameOf(now, then) && missing.Anyones == anyones
	reopened := false
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if same {
			_, err := tx.Exec(ctx, `UPDATE days SET checked_at = $3, missed = $4 WHERE day = $1 AND state = 'closed' AND revision = $2`,
				s.day.UTC(), s.revision, s.checkedAt, missing.Calls)
			return err
		}
		tag, err := tx.Exec(ctx, `UPDATE days SET state = 'reopened', since = now(), checked_at = $3 WHERE day = $1 AND state = 'closed' AND revision = $2`,
			s.day.UTC(), s.revision, s.checkedAt)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		reopened = true
		// It is compared once more before it is closed again.
		if _, err := tx.Exec(ctx, `INSERT INTO rollup_doubts (day) VALUES ($1) ON CONFLICT (day) DO UPDATE SET noted_at = now()`, s.day.UTC()); err != nil {
			return fmt.Errorf("days of doubt: %w", err)
		}
		return tell(ctx, tx, s.day, s.revision, "reopened", map[string]int64{
			"calls": days.Sum(now).Calls, "callsBefore": days.Sum(then).Calls, "missingCalls": missing.Calls,
		})
	})
	if err == nil && reopened {
		c.metrics.reopened.Inc()
		c.log.Warn("a closed day is reopened: its figures have changed", "day", s.day, "revision", s.revision,
			"calls", days.Sum(now).Calls, "before", days.Sum(then).Calls, "missing", missing.Calls)
	}
	return err
}

// countWaiting counts the days that should be closed by the clock and are not.
func (c *Closer) countWaiting(ctx context.Context, conn *pgx.Conn) error {
	var waiting int
	err := conn.QueryRow(ctx, `
		SELECT count(*) FROM generate_series((SELECT days_from FROM collection), $1::date, interval '1 day') AS g
		WHERE NOT EXISTS (SELECT FROM days d WHERE d.day = g::date AND d.state = 'closed')`, ledger.ClosedDay(c.now()).UTC()).Scan(&waiting)
	if err != nil {
		return fmt.Errorf("count days: %w", err)
	}
	c.metrics.waiting.Set(float64(waiting))
	return nil
}
