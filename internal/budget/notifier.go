package budget

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/leader"
)

// Notice is that a threshold of a budget is reached, or that it will be used up at the rate of the period so far.
type Notice struct {
	Budget
	Percent  int16 // the highest threshold that is reached; 0: it is the forecast
	Spent    decimal.Decimal
	Holds    decimal.Decimal // the amount that holds now
	UsedUpOn *beijing.Day    // of the forecast; nil: not in this period
}

// NotifierConfig says what a Notifier works with.
type NotifierConfig struct {
	Pool   *pgxpool.Pool
	Spent  func(ctx context.Context, asks []Ask) ([]Spent, error)
	Notify func(ctx context.Context, n Notice) // must not wait
	Logger *slog.Logger

	now func() time.Time
}

// Notifier tells of thresholds, each once a period, from one console at a time.
type Notifier struct {
	config  NotifierConfig
	store   *Store
	cancel  context.CancelFunc
	running sync.WaitGroup
}

const (
	notifyEvery  = 15 * time.Second
	notifierLock = 0x6275646765740001 // "budget"
	// usedForecast is the part of a period, in percent, after which its rate says something.
	usedForecast = 20
)

// StartNotifier goes on until Close.
func StartNotifier(config NotifierConfig) *Notifier {
	if config.now == nil {
		config.now = time.Now
	}
	ctx, cancel := context.WithCancel(context.Background())
	t := &Notifier{config: config, store: New(config.Pool), cancel: cancel}
	t.running.Go(func() {
		ticker := time.NewTicker(notifyEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			err := leader.Turn(ctx, config.Pool, notifierLock, func(ctx context.Context, _ *pgx.Conn) error { return t.tell(ctx) })
			if err != nil && ctx.Err() == nil {
				config.Logger.Warn("thresholds of budgets cannot be looked at; it is tried again", "error", err)
			}
		}
	})
	return t
}

// Close ends it.
func (t *Notifier) Close() {
	t.cancel()
	t.running.Wait()
}

// tell looks at all budgets once.
func (t *Notifier) tell(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	budgets, err := query(ctx, t.config.Pool, `WHERE cardinality(b.thresholds) > 0`)
	if err != nil {
		return err
	}
	now := t.config.now()
	asks := make([]Ask, len(budgets))
	for i := range budgets {
		asks[i] = Ask{&budgets[i], budgets[i].Period.Of(beijing.DayOf(now)).Start}
	}
	spent, err := t.config.Spent(ctx, asks)
	if err != nil {
		return err
	}
	for i, ask := range asks {
		if err := t.look(ctx, ask, spent[i].Amount, now); err != nil {
			return err
		}
	}
	_, err = t.config.Pool.Exec(ctx, `DELETE FROM budget_notices WHERE period < $1`, (beijing.DayOf(now) - 100).UTC())
	return err
}

// look tells of a budget's highest threshold that is reached and was not told yet, else of the forecast.
func (t *Notifier) look(ctx context.Context, ask Ask, spent decimal.Decimal, now time.Time) error {
	n := Notice{Budget: *ask.Budget, Spent: spent, Holds: ask.Holds(now)}
	var reached []int16
	for _, percent := range ask.Thresholds {
		if !spent.Mul(decimal.NewFromInt(100)).LessThan(n.Holds.Mul(decimal.NewFromInt(int64(percent)))) {
			reached = append(reached, percent)
		}
	}
	_, n.UsedUpOn, _ = Forecast(ask.Budget, spent, now)
	period := ask.Period.Of(ask.From)
	elapsed := now.Sub(period.Start.Start()) * 100 / period.End.End().Sub(period.Start.Start())
	if spent.LessThan(n.Holds) && n.UsedUpOn != nil && elapsed >= usedForecast {
		reached = append(reached, 0)
	}
	if len(reached) == 0 {
		return nil
	}
	rows, err := t.config.Pool.Query(ctx, `INSERT INTO budget_notices (budget_id, period, threshold) SELECT $1, $2, unnest($3::smallint[])
		ON CONFLICT DO NOTHING RETURNING threshold`, ask.ID, ask.From.UTC(), reached)
	if err != nil {
		return fmt.Errorf("note thresholds of a budget: %w", err)
	}
	fresh, err := pgx.CollectRows(rows, pgx.RowTo[int16])
	if err != nil {
		return fmt.Errorf("note thresholds of a budget: %w", err)
	}
	if len(fresh) == 0 {
		return nil
	}
	for _, percent := range fresh {
		n.Percent = max(n.Percent, percent)
	}
	t.config.Notify(ctx, n)
	return nil
}
