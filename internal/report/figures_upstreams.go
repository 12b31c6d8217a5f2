package report

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/stats"
)

// UpstreamFigures answers upstreamStatistics: what went to each named upstream in the last hour and in the range, the most calls
// first.
func (r *Report) UpstreamFigures(ctx context.Context, days beijing.Range) (answer openapi.UpstreamFigures, err error) {
	who, err := r.everyoneIn(ctx, days, nil, &answer.Coverage)
	if err != nil {
		return answer, err
	}
	var lately stats.UpstreamFigures
	var ranges stats.UpstreamRanges
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		lately, err = r.Stats.Upstreams(groupCtx, who.inRows)
		return err
	})
	group.Go(func() (err error) {
		ranges, err = r.Stats.UpstreamRanges(groupCtx, who.inUsage, days, nil)
		return err
	})
	if err := group.Wait(); err != nil {
		return answer, err
	}
	names, err := r.upstreamNames(ctx)
	if err != nil {
		return answer, err
	}
	answer.Since, answer.UpstreamsFrom = beijing.Format(lately.Since), ranges.From
	answer.Items = upstreamLines(lately.Items, ranges.Items, names)
	return answer, nil
}

// upstreamLines brings together what went to upstreams lately and in a range, the most calls first.
func upstreamLines(lately []stats.UpstreamUsage, ranges []stats.UpstreamRange, names map[string]string) []openapi.UpstreamUsage {
	lines := map[string]*openapi.UpstreamUsage{}
	for _, u := range lately {
		lines[u.UpstreamID] = &openapi.UpstreamUsage{
			UpstreamID: u.UpstreamID, Calls: u.Calls, Failures: u.Failures, FailedOver: u.FailedOver, P95Ms: u.P95Ms, HourBefore: hourView(u.Before),
			Range: upstreamRangeView(stats.UpstreamRange{UpstreamID: u.UpstreamID}, names),
		}
	}
	for _, u := range ranges {
		if u.UpstreamID == "" {
			continue
		}
		if lines[u.UpstreamID] == nil {
			lines[u.UpstreamID] = &openapi.UpstreamUsage{UpstreamID: u.UpstreamID}
		}
		lines[u.UpstreamID].Range = upstreamRangeView(u, names)
	}
	list := make([]openapi.UpstreamUsage, 0, len(lines))
	for _, line := range lines {
		list = append(list, *line)
	}
	slices.SortFunc(list, func(a, b openapi.UpstreamUsage) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(b.Range.Calls, a.Range.Calls), cmp.Compare(a.UpstreamID, b.UpstreamID))
	})
	return list
}
