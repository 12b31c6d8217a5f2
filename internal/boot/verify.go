package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/days"
	"callgate/internal/catalog"
	"callgate/internal/config"
	"callgate/internal/pricing"
	"callgate/internal/progress"
	"callgate/internal/report"
	"callgate/internal/retention"
	"callgate/internal/stats"
	"callgate/internal/verify"
)

// Verify recomputes every statistic of the days from raw rows and compares it with what the API
// answers, of days whose calls are still kept. from and to are days as the API takes them, both empty: the last 7
// days; account is the e-mail address of the only account looked at, empty: all. Differences are lines
// on out, and an error; shown tells how far it is. It needs the stores only, no secrets.
func Verify(ctx context.Context, stores config.Config, from, to, account string, out io.Writer, display progress.Output, logger *slog.Logger) error {
	asked, err := beijing.ParseRange(from, to, beijing.Today(time.Now()))
	if err != nil {
		return err
	}
	pool, err := openPostgres(ctx, stores.DatabaseURL, nil)
	if err != nil {
		return err
	}
	defer pool.Close()
	reader, err := stats.Open(ctx, stores.ClickHouseURL, logger)
	if err != nil {
		return fmt.Errorf("statistics: %w", err)
	}
	reader.Keep(stores.Retention())
	if asked, err = recountable(ctx, ledger.New(pool), stores.Retention(), asked, out); err != nil {
		return errors.Join(err, reader.Close())
	}
	applications := application.New(pool, nil, nil) // no key is opened
	owners, err := ownersOf(ctx, applications, account)
	if err != nil {
		return errors.Join(err, reader.Close())
	}
	deps := verify.Deps{
		Applications: applications, Catalog: catalog.New(pool, nil, false), Pricing: pricing.New(pool), Stats: reader, Ledger: ledger.New(pool), Days: days.New(pool),
	}
	deps.Answers = report.New(report.Deps{
		Applications: deps.Applications, Catalog: deps.Catalog, Pricing: deps.Pricing, Stats: reader, Ledger: deps.Ledger, Retention: stores.Retention(),
	})
	deps.Everyone = account == ""
	meter := display.Begin("accounts verified", int64(len(owners)))
	deps.Verified = func() { meter.Add(1) }
	verified, err := verify.Run(ctx, deps, owners, asked, out)
	meter.End()
	if err := errors.Join(err, reader.Close()); err != nil {
		return err
	}
	if verified.Differences > 0 {
		return fmt.Errorf("%d differences", verified.Differences)
	}
	return nil
}

// recountable are the days of a range whose calls are all kept. Figures outlive them, and have nothing to be compared with.
func recountable(ctx context.Context, l *ledger.Ledger, kept retention.Days, days beijing.Range, out io.Writer) (beijing.Range, error) {
	today := beijing.Today(time.Now())
	left, err := l.Left(ctx, today)
	if err != nil {
		return days, err
	}
	first := max(left.Calls, kept.CallsFrom(today))
	if days.End < first {
		return days, fmt.Errorf("calls are kept from %s on (CALL_RETENTION_DAYS): days before cannot be recounted", first)
	}
	if days.Start < first {
		_, err = fmt.Fprintf(out, "calls are kept from %s on (CALL_RETENTION_DAYS): days before it are not compared\n", first)
		days.Start = first
	}
	return days, err
}

func ownersOf(ctx context.Context, applications *application.Store, account string) ([]uuid.UUID, error) {
	if account == "" {
		return applications.Owners(ctx)
	}
	owner, err := applications.Owner(ctx, account)
	return []uuid.UUID{owner}, err
}
