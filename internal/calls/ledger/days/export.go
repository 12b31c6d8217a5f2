package days

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger/shards"
	"callgate/internal/cluster"
	"callgate/internal/days"
)

const insertDays = `INSERT INTO days_closed (application_id, day, revision, user_id, closed_at, calls, successes, duration_ms, reported, partial, absent, unreadable,
	input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, currencies, amounts, unpriced_calls, missing_calls, missing_unknown)`

// revision is a closing that ClickHouse is to have.
type revision struct {
	day      beijing.Day
	number   int
	closedAt time.Time
	missing  days.Missing
	figures  []days.Application
}

// export copies closings to ClickHouse, the oldest first: under tokens that any process derives alike, into a table
// that keeps one of each row, so that one that is copied again counts once.
func (c *Closer) export(ctx context.Context, conn *pgx.Conn) error {
	due, err := unexported(ctx, conn)
	if err != nil {
		return err
	}
	for _, r := range due {
		if err := c.exportOne(ctx, conn, r); err != nil {
			return fmt.Errorf("export %s, revision %d: %w", r.day, r.number, err)
		}
	}
	return nil
}

func unexported(ctx context.Context, conn *pgx.Conn) ([]revision, error) {
	rows, err := conn.Query(ctx, `SELECT day, revision, closed_at, missing FROM day_revisions WHERE exported_at IS NULL ORDER BY day, revision LIMIT $1`, closedAtOnce)
	if err != nil {
		return nil, fmt.Errorf("closings to be exported: %w", err)
	}
	due, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r revision, err error) {
		var day time.Time
		err = row.Scan(&day, &r.number, &r.closedAt, &r.missing)
		r.day = beijing.Date(day.Date())
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("closings to be exported: %w", err)
	}
	return due, nil
}

func (c *Closer) exportOne(ctx context.Context, conn *pgx.Conn, r revision) (err error) {
	if r.figures, _, err = closedFigures(ctx, conn, r.day, r.number); err != nil {
		return err
	}
	found, err := c.servers.Shards(ctx)
	if err != nil {
		return err
	}
	for i, on := range found {
		columns, rows := r.columns(func(application uuid.UUID) bool {
			return len(found) == 1 || cluster.Of(application, len(found)) == i
		})
		if rows == 0 {
			continue
		}
		token := on.Token(text("days"), r.day, r.number)
		if err := on.Try(ctx, func(ctx context.Context, on *shards.Shard) error { return on.Insert(ctx, insertDays, token, columns) }); err != nil {
			return err
		}
	}
	if _, err := conn.Exec(ctx, `UPDATE day_revisions SET exported_at = now() WHERE day = $1 AND revision = $2`, r.day.UTC(), r.number); err != nil {
		return fmt.Errorf("note the export: %w", err)
	}
	return nil
}

// text is what tokens begin with.
type text string

func (t text) String() string { return string(t) }

// columns are those of insertDays for the applications of a shard, and a row of the nil id for the day itself.
func (r revision) columns(ours func(uuid.UUID) bool) (columns []any, rows int) {
	var application, owner []uuid.UUID
	var on, closed []time.Time
	var number []uint32
	var counts [9][]int64 // calls, successes, duration, the four states, unpriced, missing
	var tokens [5][]*int64
	var currencies [][]string
	var amounts [][]decimal.Decimal
	var unknown []bool
	itself := days.Application{Figures: days.Figures{Missing: r.missing.Anyones}}
	for _, f := range append([]days.Application{itself}, r.figures...) {
		if !ours(f.ID) {
			continue
		}
		application, owner, on, closed = append(application, f.ID), append(owner, f.Owner), append(on, r.day.UTC()), append(closed, r.closedAt)
		number = append(number, uint32(r.number))
		t := f.Tokens
		for i, n := range []int64{f.Calls, f.Successes, f.DurationMs, t.Reported, t.Partial, t.Absent, t.Unreadable, f.Unpriced, f.Missing} {
			counts[i] = append(counts[i], n)
		}
		for i, n := range []*int64{t.Input, t.Output, t.Cached, t.CacheWrite, t.Reasoning} {
			tokens[i] = append(tokens[i], n)
		}
		names, costs := []string{}, []decimal.Decimal{}
		for _, of := range f.Costs {
			names, costs = append(names, of.Currency), append(costs, of.Amount)
		}
		currencies, amounts = append(currencies, names), append(amounts, costs)
		unknown = append(unknown, f.ID == uuid.Nil && r.missing.Unknown())
	}
	return []any{application, on, number, owner, closed, counts[0], counts[1], counts[2], counts[3], counts[4], counts[5], counts[6],
		tokens[0], tokens[1], tokens[2], tokens[3], tokens[4], currencies, amounts, counts[7], counts[8], unknown}, len(application)
}
