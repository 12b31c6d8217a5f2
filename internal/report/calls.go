package report

import (
	"context"

	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/stats"
)

// CallPage answers listCalls: one page of ten of the call flow of one application, newest first.
func (r *Report) CallPage(ctx context.Context, q stats.CallsQuery) (answer openapi.CallPage, err error) {
	page, book, coverage, err := r.callPage(ctx, q)
	if err != nil {
		return answer, err
	}
	answer.Coverage, answer.PageFields, answer.Until = coverage, openapi.PageOf(page.Page, stats.PageSize, int(page.Total)), beijing.Format(page.Until)
	answer.Items, answer.Summary, answer.Models = openapi.Each(page.Items, callView(book)), openapi.CallsSummary(page.Summary), page.Models
	return answer, nil
}

// OwnCallPage answers listOwnCalls: one page of q.Size of the calls of applications of an owner, newest first; of all of them where
// q names none. Those of others are as those that do not exist.
func (r *Report) OwnCallPage(ctx context.Context, owner uuid.UUID, q stats.CallsQuery) (answer openapi.OwnCallPage, err error) {
	all, ids, err := r.asked(ctx, owner, q.Applications)
	if err != nil {
		return answer, err
	}
	q.Applications = ids
	page, book, coverage, err := r.callPage(ctx, q)
	if err != nil {
		return answer, err
	}
	answer.Coverage, answer.PageFields, answer.Until = coverage, openapi.PageOf(page.Page, q.Size, int(page.Total)), beijing.Format(page.Until)
	answer.Items, answer.Summary, answer.Models = openapi.Each(page.Items, ownCallView(book, all)), openapi.CallsSummary(page.Summary), page.Models
	return answer, nil
}

func (r *Report) callPage(ctx context.Context, q stats.CallsQuery) (page stats.CallsPage, book *pricing.Book, coverage openapi.Coverage, err error) {
	if coverage, err = r.callCoverageOf(ctx, q.Applications, q.Range); err != nil {
		return page, nil, coverage, err
	}
	if page, err = r.Stats.Calls(ctx, q); err != nil {
		return page, nil, coverage, err
	}
	book, err = r.Pricing.Book(ctx)
	return page, book, coverage, err
}

const topFacetValues = 20

// CallFacets answers countOwnCalls, of the calls that OwnCallPage pages: of each filter the twenty values that most of them have.
func (r *Report) CallFacets(ctx context.Context, owner uuid.UUID, q stats.CallsQuery) (answer openapi.CallFacets, err error) {
	all, ids, err := r.asked(ctx, owner, q.Applications)
	if err != nil {
		return answer, err
	}
	q.Applications = ids
	every := make([]uuid.UUID, 0, len(all))
	for id := range all {
		every = append(every, id)
	}
	found, err := r.Stats.Facets(ctx, q, every, topFacetValues)
	if err != nil {
		return answer, err
	}
	for facet, to := range map[stats.Facet]*openapi.FacetValues{
		stats.FacetApplication: &answer.Application, stats.FacetModel: &answer.Model, stats.FacetResult: &answer.Result,
		stats.FacetStatus: &answer.Status, stats.FacetReason: &answer.Reason, stats.FacetKey: &answer.Key,
	} {
		names, err := r.facetNames(ctx, owner, facet, found[facet], all)
		if err != nil {
			return answer, err
		}
		*to = openapi.Each(found[facet], func(c stats.FacetCount) openapi.FacetValue {
			return openapi.FacetValue{Value: c.Value, Name: openapi.TextOrNull(names[c.Value]), Calls: c.Calls}
		})
	}
	return answer, nil
}

func (r *Report) facetNames(ctx context.Context, owner uuid.UUID, facet stats.Facet, counts []stats.FacetCount, all map[uuid.UUID]application.Brief) (map[string]string, error) {
	by := map[stats.Facet]stats.Dimension{
		stats.FacetApplication: stats.PerApplication, stats.FacetModel: stats.PerCapability, stats.FacetKey: stats.PerKey,
	}[facet]
	values := make([]string, len(counts))
	for i, c := range counts {
		values[i] = c.Value
	}
	return r.labels(ctx, owner, by, values, all)
}

const topMessages = 20

// FailureMessages answers groupOwnFailures, of the failures that OwnCallPage pages: the twenty messages that most of them have.
func (r *Report) FailureMessages(ctx context.Context, owner uuid.UUID, q stats.CallsQuery) (answer openapi.FailureMessages, err error) {
	all, ids, err := r.asked(ctx, owner, q.Applications)
	if err != nil {
		return answer, err
	}
	q.Applications = ids
	found, err := r.Stats.Messages(ctx, q, topMessages)
	if err != nil {
		return answer, err
	}
	answer.Failures, answer.Other = found.Failures, openapi.OtherMessages{Messages: found.Messages - int64(len(found.Top)), Failures: found.Failures}
	for _, m := range found.Top {
		answer.Other.Failures -= m.Failures
	}
	answer.Items = openapi.Each(found.Top, func(m stats.MessageFigures) openapi.FailureMessage {
		return openapi.FailureMessage{Message: m.Message, Newest: m.Newest, Failures: m.Failures, FirstSeen: m.FirstSeen, LastSeen: m.LastSeen,
			ApplicationCount: m.Applications, TopApplication: hitMost(all[m.Top], m.TopFailures)}
	})
	return answer, nil
}
