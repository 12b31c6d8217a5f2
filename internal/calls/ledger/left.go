package ledger

import (
	"context"
	"time"

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

// Left tells what is left. Faults: Unavailable.
func (l *Ledger) Left(ctx context.Context, today beijing.Day) (Left, error) {
	var k keeping
	if err := l.pool.QueryRow(ctx, `SELECT `+keepingColumns+` FROM collection`).Scan(k.fields()...); err != nil {
		return Left{}, Unavailable(err)
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
	configured := retention.Days{Statistics: k.statisticsDays, Calls: k.callDays}
	return Left{
		Statistics: later(configured.StatisticsFrom(today), k.statisticsFrom),
		Calls:      later(configured.CallsFrom(today), k.callsFrom),
	}
}
