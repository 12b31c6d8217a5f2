package report

import (
	"context"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/openapi"
	"callgate/internal/stats"
)

// ApplicationList answers listApplicationStatistics: a page of ten of an owner's applications, from 1, with the figures of
// each.
func (r *Report) ApplicationList(ctx context.Context, owner uuid.UUID, by ApplicationChoice, page int) (answer openapi.ApplicationUsagePage, err error) {
	days := by.Days
	found, total, err := r.ChosenApplications(ctx, owner, by, page, stats.PageSize)
	if err != nil {
		return answer, err
	}
	ids := make([]uuid.UUID, len(found))
	for i, a := range found {
		ids[i] = a.ID
	}
	if answer.Coverage, err = r.coverageOf(ctx, ids, days); err != nil {
		return answer, err
	}
	var figures map[uuid.UUID]stats.Metrics
	var tokens pricedBy[uuid.UUID]
	var last map[uuid.UUID]time.Time
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		figures, err = r.Stats.Totals(groupCtx, ids, days)
		return err
	})
	group.Go(func() (err error) {
		tokens, err = r.tokenTotals(groupCtx, ids, days)
		return err
	})
	group.Go(func() (err error) {
		last, err = r.Stats.LastCalls(groupCtx, ids)
		return err
	})
	if err := group.Wait(); err != nil {
		return answer, err
	}
	answer.PageFields = openapi.PageOf(page, stats.PageSize, total)
	answer.Items = openapi.Each(found, func(a application.Application) openapi.ApplicationUsage {
		return openapi.ApplicationUsage{
			ID: a.ID, Name: a.Name, Status: a.Status, MaskedAccessKey: a.MaskedAccessKey,
			DisabledByAdministrator: DisablingView(a.Disabling), LastCallAt: openapi.TimeOrNull(last[a.ID]),
			MetricsFields: tokens.at(a.ID).beside(figures[a.ID]),
		}
	})
	return answer, nil
}

// Overview answers getOverview: the figures of all applications of an owner together, by day and by capability.
func (r *Report) Overview(ctx context.Context, owner uuid.UUID, days beijing.Range) (answer openapi.Overview, err error) {
	all, err := r.Applications.All(ctx, owner)
	if err != nil {
		return answer, err
	}
	answer.ApplicationCount = int64(len(all))
	ids := make([]uuid.UUID, len(all))
	for i, a := range all {
		ids[i] = a.ID
		if a.Status == application.Active {
			answer.EnabledCount++
		}
	}
	usage, tokens, err := r.usage(ctx, ids, days, &answer.Coverage, &answer.Models)
	if err != nil {
		return answer, err
	}
	answer.MetricsFields, answer.Daily = tokens.summary(usage.Summary), openapi.Each(usage.Daily, tokens.day)
	return answer, nil
}

// ApplicationDetail answers getApplicationStatistics: the figures of one application, by day and by capability.
func (r *Report) ApplicationDetail(ctx context.Context, a application.Application, days beijing.Range) (answer openapi.ApplicationStatistics, err error) {
	answer.Application = openapi.ApplicationName{ID: a.ID, Name: a.Name, Status: a.Status}
	usage, tokens, err := r.usage(ctx, []uuid.UUID{a.ID}, days, &answer.Coverage, &answer.Models)
	if err != nil {
		return answer, err
	}
	answer.Summary, answer.Daily = openapi.Metrics{MetricsFields: tokens.summary(usage.Summary)}, openapi.Each(usage.Daily, tokens.day)
	return answer, nil
}

// FailedCall answers getCall: why a call of an application failed. Faults: NotFound, and NoFailureDetail for one that succeeded.
func (r *Report) FailedCall(ctx context.Context, application, call uuid.UUID) (openapi.FailedCall, error) {
	found, err := r.Stats.Call(ctx, application, call)
	if err != nil {
		return openapi.FailedCall{}, err
	}
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return openapi.FailedCall{}, err
	}
	return failedCallView(book, found), nil
}

// usage asks for the usage of applications, fills in what is known about its completeness, and
// names the models.
func (r *Report) usage(ctx context.Context, ids []uuid.UUID, days beijing.Range, known *openapi.Coverage, models *[]openapi.ModelMetrics) (usage stats.Usage, tokens *tokenUsage, err error) {
	if *known, err = r.coverageOf(ctx, ids, days); err != nil {
		return usage, nil, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		usage, err = r.Stats.Usage(groupCtx, ids, days)
		return err
	})
	group.Go(func() (err error) {
		tokens, err = r.tokenUsage(groupCtx, ids, days)
		return err
	})
	if err := group.Wait(); err != nil {
		return usage, nil, err
	}
	names, err := r.Catalog.Names(ctx) // as they are now
	*models = openapi.Each(usage.Models, func(m stats.ModelMetrics) openapi.ModelMetrics { return tokens.model(m, names[m.Model]) })
	return usage, tokens, err
}

// coverageOf must be asked before ClickHouse is: what the ledger calls complete by now is there
// when ClickHouse answers later.
func (r *Report) coverageOf(ctx context.Context, ids []uuid.UUID, days beijing.Range) (openapi.Coverage, error) {
	coverage, _, err := r.coverage(ctx, ids, days)
	return coverage, err
}

// callCoverageOf is coverageOf for the calls themselves, of which less may be kept.
func (r *Report) callCoverageOf(ctx context.Context, ids []uuid.UUID, days beijing.Range) (openapi.Coverage, error) {
	coverage, calls, err := r.coverage(ctx, ids, days)
	coverage.RetainedFrom = calls
	return coverage, err
}

// everyonesCoverage is coverageOf all applications that exist.
func (r *Report) everyonesCoverage(ctx context.Context, days beijing.Range) (openapi.Coverage, error) {
	known, err := r.Ledger.EveryonesCoverage(ctx, days)
	if err != nil {
		return openapi.Coverage{}, err
	}
	coverage, _, err := r.coverageView(ctx, known, days)
	return coverage, err
}

// coverage also gives the first day whose calls are kept.
func (r *Report) coverage(ctx context.Context, ids []uuid.UUID, days beijing.Range) (coverage openapi.Coverage, calls beijing.Day, err error) {
	known, err := r.Ledger.Coverage(ctx, ids, days)
	if err != nil {
		return coverage, 0, err
	}
	return r.coverageView(ctx, known, days)
}

func (r *Report) coverageView(ctx context.Context, known ledger.Coverage, days beijing.Range) (coverage openapi.Coverage, calls beijing.Day, err error) {
	today := beijing.Today(r.Now())
	if promised, ok, err := r.Stats.Promise(ctx, r.Ledger.Through); err != nil {
		return coverage, 0, err
	} else if ok && promised.Before(known.Through) {
		known.Through = promised
		if promised.Before(known.Since) { // no call is older
			known.Through = known.Since
		}
	}
	return openapi.Coverage{
		Start: days.Start, End: days.End,
		DataThrough: beijing.Format(known.Through), Missed: known.Missed, CollectedSince: beijing.Format(known.Since),
		RetainedFrom: max(known.Left.Statistics, r.Retention.StatisticsFrom(today)),
	}, max(known.Left.Calls, r.Retention.CallsFrom(today)), nil
}
