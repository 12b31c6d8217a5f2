package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/beijing"
	"callgate/internal/retention"
)

// Left is the first day of which everything is there, by what the tables were told and have lost; what a process
// answers may begin later.
type Left struct {
	Statistics beijing.Day
	Calls      beijing.Day
}

// later gives the later of two days; nil is long ago.
func later(day beijing.Day, other *time.Time) beijing.Day {
	if other == nil {
		return day
	}
	return max(day, beijing.Date(other.Date()))
}

// NoteRetention is called before rows are made to live as long as days says, lived being how long they did until
// then (0: not known, there are none). Where they are to live longer, what is gone stays gone, and is said to be.
// It may be repeated.
func NoteRetention(ctx context.Context, pool *pgxpool.Pool, lived, days retention.Days, today beijing.Day) error {
	lives := days.Lives()
	lost := func(lived, lives int) *time.Time {
		if lived == 0 || lived >= lives {
			return nil
		}
		from := date(retention.Survivors(today, lived))
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

// Left tells what is left. Faults: Unavailable.
func (l *Ledger) Left(ctx context.Context, today beijing.Day) (Left, error) {
	var k keeping
	if err := l.pool.QueryRow(ctx, `SELECT `+keepingColumns+` FROM collection`).Scan(k.fields()...); err != nil {
		return Left{}, unavailable(err)
	}
	return k.left(today), nil
}

// keeping is what collection says of retention.
type keeping struct {
	statisticsDays, callDays  int
	statisticsFrom, callsFrom *time.Time
}

const keepingColumns = `statistics_days, call_days, statistics_from, calls_from`

func (k *keeping) fields() []any {
	return []any{&k.statisticsDays, &k.callDays, &k.statisticsFrom, &k.callsFrom}
}

func (k *keeping) left(today beijing.Day) Left {
	told := retention.Days{Statistics: k.statisticsDays, Calls: k.callDays}
	return Left{
		Statistics: later(told.StatisticsFrom(today), k.statisticsFrom),
		Calls:      later(told.CallsFrom(today), k.callsFrom),
	}
}
