package checks

import (
	"fmt"
	"testing"
	"time"

	"callgate/internal/openapi"
)

// TestAFirstStartWithSamplesShowsTokensAndCost: every kind of call that it makes is in the figures, priced.
func TestAFirstStartWithSamplesShowsTokensAndCost(t *testing.T) {
	d := startDevWith(t, []string{"--sample"})
	eventually(t, time.Minute, "the sample calls are counted", func() error {
		o, err := ask[openapi.Overview](t.Context(), d, "/api/statistics/applications/overview")
		if err != nil {
			return err
		}
		k := o.Tokens
		if o.Calls != 24 || o.Failures != 2 || len(o.Models) != 3 || k.ReportedCalls != 20 || k.PartialCalls != 1 || k.AbsentCalls != 2 || k.UnreadableCalls != 0 ||
			k.Input == nil || *k.Input == 0 || k.Cached == nil || *k.Cached == 0 || k.CacheWrite == nil || *k.CacheWrite == 0 || k.Reasoning == nil || *k.Reasoning == 0 {
			return fmt.Errorf("%d calls, %d failures, %d models, %+v", o.Calls, o.Failures, len(o.Models), k)
		}
		if len(o.Cost) != 1 || o.Cost[0].Amount == nil || *o.Cost[0].Currency != "USD" || o.Cost[0].PricedCalls == 0 || o.Cost[0].UnpricedCalls != 0 {
			return fmt.Errorf("cost %+v", o.Cost)
		}
		return nil
	})
}
