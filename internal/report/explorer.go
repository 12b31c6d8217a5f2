package report

import (
	"bytes"
	"context"
	"slices"

	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/stats"
)

const (
	topReasons = 20  // that are told apart
	maxTraced  = 100 // calls of a trace
)

// owned are an owner's applications by their ids, and these.
func (r *Report) owned(ctx context.Context, owner uuid.UUID) (all map[uuid.UUID]application.Brief, ids []uuid.UUID, err error) {
	list, err := r.Applications.All(ctx, owner)
	all = make(map[uuid.UUID]application.Brief, len(list))
	for _, a := range list {
		all[a.ID], ids = a, append(ids, a.ID)
	}
	return all, ids, err
}

// asked are an owner's applications by their ids, and those that are asked about: all of them where none is named. Those of others
// are as those that do not exist.
func (r *Report) asked(ctx context.Context, owner uuid.UUID, named []uuid.UUID) (all map[uuid.UUID]application.Brief, ids []uuid.UUID, err error) {
	if all, ids, err = r.owned(ctx, owner); err == nil && named != nil {
		ids = slices.DeleteFunc(named, func(id uuid.UUID) bool { _, own := all[id]; return !own })
		slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
		ids = slices.Compact(ids)
	}
	return all, ids, err
}

// FindCall answers findCall: a call of any application of an owner. Faults: NotFound where none of them made it.
func (r *Report) FindCall(ctx context.Context, owner, call uuid.UUID) (answer openapi.FoundCall, err error) {
	all, ids, err := r.owned(ctx, owner)
	if err != nil {
		return answer, err
	}
	found, of, err := r.Stats.Find(ctx, ids, call)
	if err != nil {
		return answer, err
	}
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return answer, err
	}
	answer = openapi.FoundCall{CallFields: callFields(book, found.Call), Application: nameOf(all[of])}
	if !found.Success {
		failure := failureView(found.Failure)
		answer.Failure = &failure
	}
	return answer, nil
}

// FindCalls answers findCalls: the calls of a trace that any application of an owner made, newest first, a hundred at most.
func (r *Report) FindCalls(ctx context.Context, owner uuid.UUID, days beijing.Range, trace string) (answer openapi.FoundCalls, err error) {
	all, ids, err := r.owned(ctx, owner)
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
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return answer, err
	}
	answer.More = len(found) > maxTraced
	answer.Items = openapi.Each(found[:min(maxTraced, len(found))], ownCallView(book, all))
	return answer, nil
}

func nameOf(a application.Brief) openapi.ApplicationName {
	return openapi.ApplicationName{ID: a.ID, Name: a.Name, Status: a.Status}
}

// ApplicationReasons answers getApplicationReasons: why calls of an application failed, the twenty foremost reasons apart and the
// others summed up.
func (r *Report) ApplicationReasons(ctx context.Context, id uuid.UUID, days beijing.Range, model *string) (answer openapi.ApplicationReasons, err error) {
	if answer.Coverage, err = r.coverageOf(ctx, []uuid.UUID{id}, days); err != nil {
		return answer, err
	}
	found, names, err := r.reasons(ctx, []uuid.UUID{id}, days, model)
	if err != nil {
		return answer, err
	}
	answer.Failures, answer.Other = summed(found)
	answer.Items = openapi.Each(found[:min(topReasons, len(found))], func(f stats.ReasonFigures) openapi.Reason {
		return openapi.Reason{ReasonFields: reasonFields(f, names)}
	})
	return answer, nil
}

// OverviewReasons answers getOverviewReasons: ApplicationReasons of all applications of an owner, with the one that each hit most.
func (r *Report) OverviewReasons(ctx context.Context, owner uuid.UUID, days beijing.Range, model *string) (answer openapi.OverviewReasons, err error) {
	all, ids, err := r.owned(ctx, owner)
	if err != nil {
		return answer, err
	}
	if answer.Coverage, err = r.coverageOf(ctx, ids, days); err != nil {
		return answer, err
	}
	found, names, err := r.reasons(ctx, ids, days, model)
	if err != nil {
		return answer, err
	}
	answer.Failures, answer.Other = summed(found)
	answer.Items = openapi.Each(found[:min(topReasons, len(found))], func(f stats.ReasonFigures) openapi.OverviewReason {
		return openapi.OverviewReason{
			ReasonFields: reasonFields(f, names), ApplicationCount: f.Applications, TopApplication: hitMost(all[f.Top], f.TopFailures),
		}
	})
	return answer, nil
}

func hitMost(a application.Brief, failures int64) openapi.HitApplication {
	return openapi.HitApplication{ID: a.ID, Name: a.Name, Status: a.Status, Failures: failures}
}

// reasons are those of some applications, and the names that capabilities have now.
func (r *Report) reasons(ctx context.Context, ids []uuid.UUID, days beijing.Range, model *string) (found []stats.ReasonFigures, names map[string]string, err error) {
	if found, err = r.Stats.Reasons(ctx, ids, days, model); err != nil {
		return nil, nil, err
	}
	names, err = r.Catalog.Names(ctx)
	return found, names, err
}

// summed are all failures, and those that are not told apart.
func summed(found []stats.ReasonFigures) (failures int64, other openapi.OtherReasons) {
	for i, f := range found {
		failures += f.Failures
		if i >= topReasons {
			other.Reasons++
			other.Failures += f.Failures
		}
	}
	return failures, other
}

func reasonFields(f stats.ReasonFigures, names map[string]string) openapi.ReasonFields {
	fields := openapi.ReasonFields{
		Type: openapi.TextOrNull(f.Type), Code: openapi.TextOrNull(f.Code), Model: f.Model, Name: names[f.Model],
		Failures: f.Failures, FirstSeen: f.FirstSeen, LastSeen: f.LastSeen,
	}
	if f.UpstreamStatus != 0 {
		fields.UpstreamStatus = widened(&f.UpstreamStatus)
	}
	return fields
}

// Hours answers getApplicationHours: the 24 hours of a day of some applications together, ascending.
func (r *Report) Hours(ctx context.Context, ids []uuid.UUID, day beijing.Day, model *string) (answer openapi.HourlyStatistics, err error) {
	if answer.Coverage, err = r.coverageOf(ctx, ids, beijing.Range{Start: day, End: day}); err != nil {
		return answer, err
	}
	hours, err := r.Stats.Hourly(ctx, ids, day, model)
	answer.Hours = openapi.Each(hours, func(h stats.HourMetrics) openapi.HourMetrics {
		return openapi.HourMetrics{
			Hour: h.Hour, Calls: h.Calls, Successes: h.Successes, Failures: h.Failures, SuccessRate: h.SuccessRate,
			AvgDurationMs: h.AvgDurationMs, P50Ms: h.P50Ms, P95Ms: h.P95Ms, P99Ms: h.P99Ms, FirstByte: openapi.FirstByte(h.FirstByte),
		}
	})
	return answer, err
}

// OverviewHours answers getOverviewHours: Hours of all applications of an owner.
func (r *Report) OverviewHours(ctx context.Context, owner uuid.UUID, day beijing.Day, model *string) (openapi.HourlyStatistics, error) {
	_, ids, err := r.owned(ctx, owner)
	if err != nil {
		return openapi.HourlyStatistics{}, err
	}
	return r.Hours(ctx, ids, day, model)
}
