package report

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
	"callgate/internal/catalog"
	"callgate/internal/openapi"
	"callgate/internal/stats"
)

// topCallers is how many applications a capability names.
const topCallers = 50

// CapabilityFiguresList answers listCapabilityFigures: the figures of everyone by capability, the most calls first, then those
// without any.
func (r *Report) CapabilityFiguresList(ctx context.Context, days beijing.Range) (answer openapi.CapabilityFiguresList, err error) {
	who, err := r.everyoneIn(ctx, days, nil, &answer.Coverage)
	if err != nil {
		return answer, err
	}
	var models []stats.ModelMetrics
	var tokens *tokenUsage
	var now stats.Now
	var callers map[string]stats.ModelCallers
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		models, err = r.Stats.EveryonesModels(groupCtx, who.inUsage, days)
		return err
	})
	group.Go(func() (err error) {
		tokens, err = r.everyonesTokens(groupCtx, who.inRows, days, nil)
		return err
	})
	group.Go(func() (err error) {
		now, err = r.Stats.Now(groupCtx, who.inRows, nil)
		return err
	})
	group.Go(func() (err error) {
		callers, err = r.Stats.ModelCallers(groupCtx, days)
		return err
	})
	if err := group.Wait(); err != nil {
		return answer, err
	}
	states, err := r.Catalog.States(ctx)
	if err != nil {
		return answer, err
	}
	answer.HoursUntil = beijing.Format(now.Until)
	answer.Items = openapi.Each(listedModels(models, states, now), func(m stats.ModelMetrics) openapi.CapabilityFiguresLine {
		return openapi.CapabilityFiguresLine{
			Model: m.Model, Name: states[m.Model].Name, Status: openapi.TextOrNull(states[m.Model].Status), MetricsFields: tokens.byModel.at(m.Model).beside(m.Metrics),
			Calling: who.hits(who.existing(slices.Values(callers[m.Model].Calling))), Failing: who.hits(who.existing(slices.Values(callers[m.Model].Failing))),
			LastHour: hourView(now.Models[m.Model].Last), HourBefore: hourView(now.Models[m.Model].Before),
		}
	})
	return answer, nil
}

// listedModels are those that were called, the most calls first, and then those of the catalog and of the last hours.
func listedModels(called []stats.ModelMetrics, states map[string]catalog.State, now stats.Now) []stats.ModelMetrics {
	seen := map[string]bool{}
	for _, m := range called {
		seen[m.Model] = true
	}
	var rest []stats.ModelMetrics
	add := func(model string) {
		if !seen[model] {
			seen[model] = true
			rest = append(rest, stats.ModelMetrics{Model: model})
		}
	}
	for model := range states {
		add(model)
	}
	for model := range now.Models {
		add(model)
	}
	slices.SortFunc(rest, func(a, b stats.ModelMetrics) int { return cmp.Compare(a.Model, b.Model) })
	return append(called, rest...)
}

// CapabilityFigures answers getCapabilityFigures: the figures of one capability, and the fifty applications that its failures hit
// most. Faults: NotFound.
func (r *Report) CapabilityFigures(ctx context.Context, id string, days beijing.Range) (answer openapi.CapabilityFigures, err error) {
	capability, err := r.Catalog.Capability(ctx, id)
	if err != nil {
		return answer, err
	}
	var ranges stats.UpstreamRanges
	read, err := r.everyones(ctx, days, &id, &answer.Coverage, func(ctx context.Context, who *everyone) (err error) {
		ranges, err = r.Stats.UpstreamRanges(ctx, who.inUsage, days, &id)
		return err
	})
	if err != nil {
		return answer, err
	}
	upstreams, err := r.upstreamNames(ctx)
	if err != nil {
		return answer, err
	}
	answer.Capability = openapi.CapabilityName{ID: capability.ID, Name: capability.Name, Status: capability.Status}
	answer.Summary, answer.Daily = openapi.Metrics{MetricsFields: read.tokens.summary(read.usage.Summary)}, openapi.Each(read.usage.Daily, read.tokens.day)
	answer.Calling, answer.Failing, answer.Hours = read.calling(), read.failing(), hoursView(read.now)
	answer.Reasons = read.worst(map[string]string{id: capability.Name})
	answer.Applications = read.applications()
	answer.UpstreamsFrom, answer.FirstByte = ranges.From, openapi.FirstByte(ranges.All.FirstByte)
	answer.Upstreams = openapi.Each(ranges.Items, func(u stats.UpstreamRange) openapi.UpstreamRange { return upstreamRangeView(u, upstreams) })
	return answer, nil
}

// applications are the callers with the most failures.
func (read *everyones) applications() openapi.CallingApplications {
	last := make([]int64, len(read.all))
	for _, h := range read.failures {
		for _, a := range h.applications {
			last[a.place] = max(last[a.place], a.lastMs)
		}
	}
	callers := slices.SortedFunc(slices.Values(read.callers), func(a, b stats.Caller) int {
		return cmp.Or(cmp.Compare(b.Failures, a.Failures), cmp.Compare(b.Calls, a.Calls), slices.Compare(a.Application[:], b.Application[:]))
	})
	return openapi.CallingApplications{Total: int64(len(callers)), Items: openapi.Each(callers[:min(topCallers, len(callers))], func(caller stats.Caller) openapi.CallingApplication {
		place := read.place[caller.Application]
		a := read.all[place]
		view := openapi.CallingApplication{
			ID: a.ID, Name: a.Name, Status: a.Status, Owner: openapi.User{ID: a.OwnerID, Email: a.Email}, Calls: caller.Calls, Failures: caller.Failures,
		}
		rate := float64((caller.Calls-caller.Failures)*10_000/caller.Calls) / 10_000
		view.SuccessRate = &rate
		if ms := last[place]; ms > 0 {
			view.LastFailureAt = openapi.TextOrNull(timeOfMs(ms))
		}
		return view
	})}
}

// upstreamNames are those of named upstreams by their ids.
func (r *Report) upstreamNames(ctx context.Context) (map[string]string, error) {
	all, err := r.Catalog.Upstreams(ctx)
	names := make(map[string]string, len(all))
	for _, u := range all {
		names[u.ID] = u.Name
	}
	return names, err
}

func upstreamRangeView(u stats.UpstreamRange, names map[string]string) openapi.UpstreamRange {
	view := openapi.UpstreamRange{
		UpstreamID: openapi.TextOrNull(u.UpstreamID), Name: openapi.TextOrNull(names[u.UpstreamID]), Calls: u.Calls, Failures: u.Failures, FailedOver: u.FailedOver,
		P50Ms: u.P50Ms, P95Ms: u.P95Ms, P99Ms: u.P99Ms, FirstByte: openapi.FirstByte(u.FirstByte),
	}
	if u.Calls > 0 {
		rate := float64((u.Calls-u.Failures)*10_000/u.Calls) / 10_000
		view.SuccessRate = &rate
	}
	return view
}
