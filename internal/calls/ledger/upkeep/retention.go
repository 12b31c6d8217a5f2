package upkeep

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/beijing"
	"callgate/internal/retention"
)

// NoteRetention is called before rows are made to live as long as days says, lived being how long they did until
// then (0: not known, there are none). Where they are to live longer, what is gone stays gone, and is said to be.
// It may be repeated.
func NoteRetention(ctx context.Context, pool *pgxpool.Pool, lived, days retention.Days, today beijing.Day) error {
	lives := days.Lives()
	lost := func(lived, lives int) *time.Time {
		if lived == 0 || lived >= lives {
			return nil
		}
		from := retention.Survivors(today, lived).UTC()
		return &from
	}
	_, err := pool.Exec(ctx, `
		UPDATE collection SET statistics_days = $1, call_days = $2,
			statistics_from = CASE WHEN (started_at AT TIME ZONE 'Asia/Shanghai')::date < $3 THEN greatest(statistics_from, $3) ELSE statistics_from END,
			calls_from = CASE WHEN (started_at AT TIME ZONE 'Asia/Shanghai')::date < $4 THEN greatest(calls_from, $4) ELSE calls_from END`,
		days.Statistics, days.Calls, lost(lived.Statistics, lives.Statistics), lost(lived.Calls, lives.Calls))
	if err != nil {
		return fmt.Errorf("note how long calls are kept: %w", err)
	}
	return nil
}
