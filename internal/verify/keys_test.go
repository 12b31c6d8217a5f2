package verify

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/meter"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/stats"
)

// TestWhatKeysUsedCostsWhatTheirApplicationsCallsCost: a year of prices, models, tiers, bands and meters, with lines and
// without, of an application with one key and of one with several.
func TestWhatKeysUsedCostsWhatTheirApplicationsCallsCost(t *testing.T) {
	w := newWorld(t)
	w.capability("gpt")
	w.capability("claude")
	w.capability("free")
	owner, first := w.owner("ada"), beijing.Today(time.Now())-364
	source := []uuid.UUID{uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New()}
	alone, several := w.application(owner, "one key"), w.application(owner, "several keys")
	for _, row := range yearOfPrices {
		w.put(first, row)
	}
	w.randomYear(source, first, 6000)
	w.linedYear(source, first, 600)
	keys := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	for id, of := range map[uuid.UUID][]uuid.UUID{alone: keys[:1], several: keys} {
		w.exec(`INSERT INTO calls SELECT * REPLACE ($1 AS application_id, generateUUIDv4() AS call_id, arrayElement($2, 1 + rand(1) % $3) AS key_id, rand(2) % 5 != 0 AS success)
			FROM (SELECT * FROM calls WHERE application_id IN $4) SETTINGS max_partitions_per_insert_block = 1000`, id, of, len(of), source)
	}
	book, err := w.deps.Pricing.Book(w.Ctx)
	if err != nil {
		t.Fatal(err)
	}
	days := beijing.Range{Start: first, End: first + 364}
	charged := func(sum *pricing.Sum, u pricing.Usage, of stats.Metered) {
		if of.Meters != nil {
			u.Tier, u.Band, u.Beside, u.Meters = of.Tier, of.Band, of.Beside, pricing.Meters{}
			for name, n := range of.Meters {
				u.Add(name, n)
			}
		}
		if u.Calls != 0 || of.Meters != nil {
			sum.Add(book.Charge(u))
		}
	}
	for _, id := range []uuid.UUID{alone, several} {
		want, sums := book.Sum(), map[uuid.UUID]*pricing.Sum{}
		err := w.deps.Stats.DayTokens(w.Ctx, []uuid.UUID{id}, days, book.UpstreamModels(), func(row *stats.ModelTokens) {
			charged(want, pricing.Usage{Capability: row.Model, UpstreamModel: row.UpstreamModel, Day: row.Day, Calls: row.Calls, Meters: pricing.Meters{
				meter.Input: row.Input.N, meter.CachedInput: row.Cached.N, meter.CacheWrite: row.CacheWrite.N, meter.Output: row.Output.N, meter.Reasoning: row.Reasoning.N}}, row.Metered)
		})
		if err != nil {
			t.Fatal(err)
		}
		var total, failed int64
		spans := openapi.Each(book.Spans(days), func(r beijing.Range) beijing.Day { return r.Start })
		err = w.deps.Stats.KeyTokens(w.Ctx, []uuid.UUID{id}, keys, days, spans, book.UpstreamModels(), func(u *stats.KeyUsage) {
			if sums[u.Key] == nil {
				sums[u.Key] = book.Sum()
			}
			charged(sums[u.Key], pricing.Usage{Capability: u.Model, UpstreamModel: u.UpstreamModel, Day: u.Day, Calls: u.Calls}, u.Metered)
			total, failed = total+u.Total, failed+u.Failed
			if u.Application != id {
				t.Fatalf("a row of application %s", u.Application)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		all := book.Sum()
		for _, sum := range sums {
			all.AddSum(sum)
		}
		got, wanted := all.Costs(), want.Costs()
		same := func(a, b pricing.Cost) bool {
			return a.Currency == b.Currency && a.Amount.Equal(b.Amount) && a.PricedCalls == b.PricedCalls && a.UnpricedCalls == b.UnpricedCalls
		}
		if !slices.EqualFunc(got, wanted, same) || len(got) != 2 || got[0].Amount.IsZero() || got[0].UnpricedCalls == 0 {
			t.Errorf("keys cost %+v, all calls %+v", got, wanted)
		}
		if number := map[uuid.UUID]int{alone: 1, several: 3}[id]; len(sums) != number || total == 0 || failed == 0 {
			t.Errorf("%d keys, want %d; %d calls, %d failed", len(sums), number, total, failed)
		}
		var found findings
		if err := (&verifier{Deps: w.deps}).compareKeys(w.Ctx, &found, "application", id, days); err != nil || found.differences != 0 {
			t.Errorf("%d differences, %v: %q", found.differences, err, found.lines)
		}
	}
}

// TestVerifyLeavesKeysAloneThatAreYetToBeFilled: of days before the rollup was there.
func TestVerifyLeavesKeysAloneThatAreYetToBeFilled(t *testing.T) {
	w, busy := bordered(t)
	w.exec(`INSERT INTO keys_daily (application_id, key_id, day, model, meter, amount) VALUES ($1, generateUUIDv4(), $2, 'gpt', 'total', 1)`, busy, beijing.DayOf(border()).String())
	w.Exec(`UPDATE collection SET started_at = started_at - interval '40 days', days_from = $1`, beijing.Today(time.Now()).String())
	got, out := w.verifyDays(40)
	if got.Differences != 0 || !strings.Contains(out, "keys of "+beijing.DayOf(border()).String()+": they are to be filled or repaired; not compared") {
		t.Errorf("not filled: %+v\n%s", got, out)
	}
	w.compared(beijing.DayOf(border()), beijing.Today(time.Now())-1)
	if got, out = w.verifyDays(40); got.Differences == 0 || !strings.Contains(out, "keys_daily "+beijing.DayOf(border()).String()) {
		t.Errorf("not filled, and compared: %+v\n%s", got, out)
	}
}
