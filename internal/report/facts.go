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

// What administrators see of a call, whoever made it: nothing of what was sent or answered.

// existing are all applications by their ids, and these, the newest first.
func (r *Report) existing(ctx context.Context) (all map[uuid.UUID]application.Owned, ids []uuid.UUID, err error) {
	list, _, err := r.Applications.Everyones(ctx)
	all = make(map[uuid.UUID]application.Owned, len(list))
	for _, a := range list {
		all[a.ID], ids = a, append(ids, a.ID)
	}
	return all, ids, err
}

// CallFacts answers lookUpCall: the facts of a call by its id alone, whichever application made it. Faults: NotFound.
func (r *Report) CallFacts(ctx context.Context, call uuid.UUID) (answer openapi.CallFacts, err error) {
	all, ids, err := r.existing(ctx)
	if err != nil {
		return answer, err
	}
	found, err := r.Stats.Facts(ctx, ids, call)
	if err != nil {
		return answer, err
	}
	names, err := r.upstreamNames(ctx)
	if err != nil {
		return answer, err
	}
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return answer, err
	}
	return callFacts(book, all, names)(found), nil
}

// TraceFacts answers lookUpCalls: the facts of the calls of a trace, whichever applications made them, newest first, a
// hundred at most.
func (r *Report) TraceFacts(ctx context.Context, days beijing.Range, trace string) (answer openapi.CallFactsFound, err error) {
	all, ids, err := r.existing(ctx)
	if err != nil {
		return answer, err
	}
	if answer.Coverage, answer.RetainedFrom, err = r.coverage(ctx, ids, days); err != nil {
		return answer, err
	}
	found, err := r.Stats.Trace(ctx, ids, days, trace, maxTraced+1)
	if err != nil {
		return answer, err
	}
	answer.More = len(found) > maxTraced
	names, err := r.upstreamNames(ctx)
	if err != nil {
		return answer, err
	}
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return answer, err
	}
	answer.Items = openapi.Each(found[:min(maxTraced, len(found))], callFacts(book, all, names))
	return answer, nil
}

func callFacts(book *pricing.Book, all map[uuid.UUID]application.Owned, names map[string]string) func(stats.OwnedCall) openapi.CallFacts {
	return func(o stats.OwnedCall) openapi.CallFacts {
		a := all[o.Application]
		return openapi.CallFacts{
			CallFields: callFields(book, o.Call), Reason: callReason(o.Reason),
			Application: openapi.ApplicationName{ID: a.ID, Name: a.Name, Status: a.Status}, Owner: openapi.User{ID: a.OwnerID, Email: a.Email},
			AttemptUpstreams: attemptUpstreams(o.Call, names),
		}
	}
}
