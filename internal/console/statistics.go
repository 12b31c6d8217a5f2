package console

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/fault"
	"callgate/internal/openapi"
	"callgate/internal/stats"
)

// applicationStatistics lists the account's applications with the figures of each.
func (c *Console) applicationStatistics(ctx *fiber.Ctx) (any, error) {
	days, err := c.daysOf(ctx)
	if err != nil {
		return nil, err
	}
	page, err := pageNumber(ctx)
	if err != nil {
		return nil, err
	}
	by, err := choiceOf(ctx)
	if err != nil {
		return nil, err
	}
	by.days = days
	return c.applicationList(ctx.UserContext(), principal(ctx).UserID, by, page)
}

// ApplicationList answers a page of an owner's applications with the figures of each.
func (c *Console) ApplicationList(ctx context.Context, owner uuid.UUID, days beijing.Range, page int) (openapi.ApplicationUsagePage, error) {
	return c.applicationList(ctx, owner, choice{days: days}, page)
}

func (c *Console) applicationList(ctx context.Context, owner uuid.UUID, by choice, page int) (answer openapi.ApplicationUsagePage, err error) {
	days := by.days
	found, total, err := c.chosen(ctx, owner, by, page, stats.PageSize)
	if err != nil {
		return answer, err
	}
	ids := make([]uuid.UUID, len(found))
	for i, a := range found {
		ids[i] = a.ID
	}
	if answer.Coverage, err = c.coverageOf(ctx, ids, days); err != nil {
		return answer, err
	}
	var figures map[uuid.UUID]stats.Metrics
	var tokens pricedBy[uuid.UUID]
	var last map[uuid.UUID]time.Time
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		figures, err = c.Stats.Totals(groupCtx, ids, days)
		return err
	})
	group.Go(func() (err error) {
		tokens, err = c.tokenTotals(groupCtx, ids, days)
		return err
	})
	group.Go(func() (err error) {
		last, err = c.Stats.LastCalls(groupCtx, ids)
		return err
	})
	if err := group.Wait(); err != nil {
		return answer, err
	}
	answer.PageFields = pageFields(page, stats.PageSize, total)
	answer.Items = each(found, func(a application.Application) openapi.ApplicationUsage {
		return openapi.ApplicationUsage{
			ID: a.ID, Name: a.Name, Status: a.Status, MaskedAccessKey: a.MaskedAccessKey,
			DisabledByAdministrator: disablingView(a.Disabling), LastCallAt: timeOrNull(last[a.ID]),
			MetricsFields: tokens.at(a.ID).beside(figures[a.ID]),
		}
	})
	return answer, nil
}

// overviewStatistics covers all existing applications, however they are paged (spec section 4.1, rule 4).
func (c *Console) overviewStatistics(ctx *fiber.Ctx) (any, error) {
	days, err := c.daysOf(ctx)
	if err != nil {
		return nil, err
	}
	return c.Overview(ctx.UserContext(), principal(ctx).UserID, days)
}

// Overview answers the figures of all applications of an owner.
func (c *Console) Overview(ctx context.Context, owner uuid.UUID, days beijing.Range) (answer openapi.Overview, err error) {
	all, err := c.Applications.All(ctx, owner)
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
	usage, tokens, err := c.usage(ctx, ids, days, &answer.Coverage, &answer.Models)
	if err != nil {
		return answer, err
	}
	answer.MetricsFields, answer.Daily = tokens.summary(usage.Summary), each(usage.Daily, tokens.day)
	return answer, nil
}

func (c *Console) oneApplicationStatistics(ctx *fiber.Ctx) (any, error) {
	days, err := c.daysOf(ctx)
	if err != nil {
		return nil, err
	}
	a, err := c.ownApplication(ctx)
	if err != nil {
		return nil, err
	}
	return c.ApplicationDetail(ctx.UserContext(), a, days)
}

// ApplicationDetail answers the figures of one application.
func (c *Console) ApplicationDetail(ctx context.Context, a application.Application, days beijing.Range) (answer openapi.ApplicationStatistics, err error) {
	answer.Application = openapi.ApplicationName{ID: a.ID, Name: a.Name, Status: a.Status}
	usage, tokens, err := c.usage(ctx, []uuid.UUID{a.ID}, days, &answer.Coverage, &answer.Models)
	if err != nil {
		return answer, err
	}
	answer.Summary, answer.Daily = openapi.Metrics{MetricsFields: tokens.summary(usage.Summary)}, each(usage.Daily, tokens.day)
	return answer, nil
}

// listCalls is the call flow. Its own dates, page and filters never depend on those of the lists.
func (c *Console) listCalls(ctx *fiber.Ctx) (any, error) {
	q, err := c.callsQuery(ctx)
	if err != nil {
		return nil, err
	}
	if q.Page, err = pageNumber(ctx); err != nil {
		return nil, err
	}
	if q.Until, err = timeParam(ctx, "until"); err != nil {
		return nil, err
	}
	if q.At, err = timeParam(ctx, "at"); err != nil {
		return nil, err
	}
	if q.At != nil && ctx.Context().QueryArgs().Has("page") {
		return nil, fault.InvalidFields(map[string]string{"at": "must not be given together with page"})
	}
	return c.CallPage(ctx.UserContext(), q)
}

// CallPage answers one page of the call flow; whose application q names is decided before.
func (c *Console) CallPage(ctx context.Context, q stats.CallsQuery) (answer openapi.CallPage, err error) {
	if answer.Coverage, err = c.callCoverageOf(ctx, q.Application, q.Range); err != nil {
		return answer, err
	}
	page, err := c.Stats.Calls(ctx, q)
	if err != nil {
		return answer, err
	}
	answer.PageFields, answer.Until = pageFields(page.Page, stats.PageSize, int(page.Total)), beijing.Format(page.Until)
	answer.Items, answer.Summary, answer.Models = each(page.Items, callView), openapi.CallsSummary(page.Summary), page.Models
	return answer, nil
}

// getCall tells why one call failed.
func (c *Console) getCall(ctx *fiber.Ctx) (any, error) {
	a, err := c.ownApplication(ctx)
	if err != nil {
		return nil, err
	}
	call, err := idParam(ctx, "callId")
	if err != nil {
		return nil, err
	}
	return c.FailedCall(ctx.UserContext(), a.ID, call)
}

// FailedCall answers why a call of an application failed.
func (c *Console) FailedCall(ctx context.Context, application, call uuid.UUID) (openapi.FailedCall, error) {
	found, err := c.Stats.Call(ctx, application, call)
	if err != nil {
		return openapi.FailedCall{}, err
	}
	return failedCallView(found), nil
}

// ownApplication is the application of the path; somebody else's is absent.
func (c *Console) ownApplication(ctx *fiber.Ctx) (application.Application, error) {
	id, err := idParam(ctx, "id")
	if err != nil {
		return application.Application{}, err
	}
	return c.Applications.Get(ctx.UserContext(), principal(ctx).UserID, id)
}

// usage asks for the usage of applications, fills in what is known about its completeness, and
// names the models.
func (c *Console) usage(ctx context.Context, ids []uuid.UUID, days beijing.Range, known *openapi.Coverage, models *[]openapi.ModelMetrics) (usage stats.Usage, tokens *tokenUsage, err error) {
	if *known, err = c.coverageOf(ctx, ids, days); err != nil {
		return usage, nil, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		usage, err = c.Stats.Usage(groupCtx, ids, days)
		return err
	})
	group.Go(func() (err error) {
		tokens, err = c.tokenUsage(groupCtx, ids, days)
		return err
	})
	if err := group.Wait(); err != nil {
		return usage, nil, err
	}
	names, err := c.Catalog.Names(ctx) // as they are now
	*models = each(usage.Models, func(m stats.ModelMetrics) openapi.ModelMetrics { return tokens.model(m, names[m.Model]) })
	return usage, tokens, err
}

// coverageOf must be asked before ClickHouse is: what the ledger calls complete by now is there
// when ClickHouse answers later.
func (c *Console) coverageOf(ctx context.Context, ids []uuid.UUID, days beijing.Range) (openapi.Coverage, error) {
	coverage, _, err := c.coverage(ctx, ids, days)
	return coverage, err
}

// callCoverageOf is coverageOf for the calls themselves, of which less may be kept.
func (c *Console) callCoverageOf(ctx context.Context, id uuid.UUID, days beijing.Range) (openapi.Coverage, error) {
	coverage, calls, err := c.coverage(ctx, []uuid.UUID{id}, days)
	coverage.RetainedFrom = calls
	return coverage, err
}

// everyonesCoverage is coverageOf all applications that exist.
func (c *Console) everyonesCoverage(ctx context.Context, days beijing.Range) (openapi.Coverage, error) {
	known, err := c.Ledger.EveryonesCoverage(ctx, days)
	if err != nil {
		return openapi.Coverage{}, err
	}
	coverage, _, err := c.coverageView(ctx, known, days)
	return coverage, err
}

// coverage also gives the first day whose calls are kept.
func (c *Console) coverage(ctx context.Context, ids []uuid.UUID, days beijing.Range) (coverage openapi.Coverage, calls beijing.Day, err error) {
	known, err := c.Ledger.Coverage(ctx, ids, days)
	if err != nil {
		return coverage, 0, err
	}
	return c.coverageView(ctx, known, days)
}

func (c *Console) coverageView(ctx context.Context, known ledger.Coverage, days beijing.Range) (coverage openapi.Coverage, calls beijing.Day, err error) {
	today := beijing.Today(c.Now())
	if promised, ok, err := c.Stats.Promise(ctx, c.Ledger.Through); err != nil {
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
		RetainedFrom: max(known.Left.Statistics, c.Retention.StatisticsFrom(today)),
	}, max(known.Left.Calls, c.Retention.CallsFrom(today)), nil
}

// daysOf reads the query parameters start and end. One that is there but empty is no date.
func (c *Console) daysOf(ctx *fiber.Ctx) (beijing.Range, error) {
	for _, name := range []string{"start", "end"} {
		if ctx.Context().QueryArgs().Has(name) && ctx.Query(name) == "" {
			return beijing.Range{}, fault.New(fault.InvalidDate, "%s must be a date of the form YYYY-MM-DD", name)
		}
	}
	return beijing.ParseRange(ctx.Query("start"), ctx.Query("end"), beijing.Today(c.Now()))
}

// callsQuery reads what listCalls and exportCalls have in common and checks the owner.
func (c *Console) callsQuery(ctx *fiber.Ctx) (stats.CallsQuery, error) {
	days, err := c.daysOf(ctx)
	if err != nil {
		return stats.CallsQuery{}, err
	}
	q := stats.CallsQuery{Range: days}
	if q.Model, err = modelParam(ctx); err != nil {
		return stats.CallsQuery{}, err
	}
	if ctx.Context().QueryArgs().Has("traceId") {
		if q.TraceID, err = traceParam(ctx); err != nil {
			return stats.CallsQuery{}, err
		}
	}
	if err := outcomeOf(ctx, &q); err != nil {
		return stats.CallsQuery{}, err
	}
	if err := timesOf(ctx, &q); err != nil {
		return stats.CallsQuery{}, err
	}
	a, err := c.ownApplication(ctx)
	q.Application = a.ID
	return q, err
}
