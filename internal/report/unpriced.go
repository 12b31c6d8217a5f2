package report

import (
	"context"

	"callgate/internal/beijing"
	"callgate/internal/meter"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/stats"
)

// unpricedDays are the days that are looked at for what has no price, unpricedSize what is told of it at most.
const (
	unpricedDays = 7
	unpricedSize = 100
)

// Unpriced answers listUnpriced: the capabilities and models that answered of the last seven days whose tokens have no price, a
// hundred at most.
func (r *Report) Unpriced(ctx context.Context) (answer openapi.Unpriced, err error) {
	days := beijing.LastDays(unpricedDays, beijing.Today(r.Now()))
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return answer, err
	}
	reported, err := r.Stats.ReportedTokens(ctx, days)
	if err != nil {
		return answer, err
	}
	found := book.Unpriced(openapi.Each(reported, func(t stats.ReportedTokens) pricing.Usage {
		u := pricing.Usage{
			Capability: t.Model, UpstreamModel: t.UpstreamModel, Day: t.Day, Calls: t.Calls,
			Meters: pricing.Meters{meter.Input: t.Input, meter.Output: t.Output},
		}
		metered(&u, t.Metered)
		return u
	}))
	total := int64(len(found))
	return openapi.Unpriced{Start: days.Start, End: days.End, Total: total, Items: openapi.Each(found[:min(total, unpricedSize)], unpricedView)}, nil
}

func unpricedView(u pricing.Unpriced) openapi.UnpricedModel {
	view := openapi.UnpricedModel{CapabilityID: u.Capability, Calls: u.Calls, Input: u.Input, Output: u.Output, LastDay: u.LastDay}
	if u.UpstreamModel != "" {
		view.UpstreamModel = &u.UpstreamModel
	}
	return view
}
