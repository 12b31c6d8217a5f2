package stats

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// TestFiguresOfEveryoneAreReadFromTheirProjections has the server refuse what it would read by application, and counts
// the rows, should it not be asked for projections at all.
func TestFiguresOfEveryoneAreReadFromTheirProjections(t *testing.T) {
	store, now := newCallStore(t), time.Now()
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		store.add(randomRow(random, uuid.New(), []string{"gpt", "claude"}[random.IntN(2)], now.Add(-time.Duration(random.IntN(48))*time.Hour)))
	}
	r := store.reader(now, "?force_optimize_projection=1")
	var read atomic.Uint64
	ctx := clickhouse.Context(t.Context(), clickhouse.WithProgress(func(p *clickhouse.Progress) { read.Add(p.Rows) }))
	days, gpt := beijing.LastDays(7, beijing.Today(now)), "gpt"
	for _, model := range []*string{nil, &gpt} {
		var want []row
		for _, c := range store.rows {
			if model == nil || c.model == gpt {
				want = append(want, c)
			}
		}
		usage, err := r.EveryonesUsage(ctx, Everyone{}, days, model)
		if err != nil {
			t.Fatal(err)
		}
		sameMetrics(t, "summary", usage.Summary, want)
		err = r.EveryonesTokens(ctx, Everyone{}, days, model, []string{"gpt-5"}, func(m *ModelTokens) { t.Errorf("tokens of calls that report none: %+v", m) })
		if err != nil {
			t.Fatal(err)
		}
	}
	models, err := r.EveryonesModels(ctx, Everyone{}, days)
	if err != nil || len(models) != 2 {
		t.Fatalf("%+v, %v", models, err)
	}
	ranges, err := r.UpstreamRanges(ctx, Everyone{}, days, nil)
	if err != nil || ranges.All.Calls != 300 || ranges.From != days.Start {
		t.Fatalf("%+v, %v", ranges, err)
	}
	if len(ranges.Items) != 1 {
		t.Errorf("calls of no named upstream: %+v", ranges.Items)
	}
	if rows := read.Load(); rows >= 300 {
		t.Errorf("%d rows were read of 300 applications", rows)
	}
	callers, err := r.Callers(ctx, days, &gpt)
	if err != nil || len(callers) == 0 {
		t.Errorf("%+v, %v", callers, err)
	}
	byModel, err := r.ModelCallers(ctx, days)
	if err != nil || len(byModel) != 2 || len(byModel[gpt].Calling) != len(callers) {
		t.Errorf("%+v, %v", byModel, err)
	}
	err = r.each(fromProjections(ctx), "failures by day", failedPerModel, args("start", days.Start, "end", days.End), func(driver.Rows) error { return nil })
	if err != nil {
		t.Error(err)
	}
}
