package stats

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// TestFiguresOfEveryoneAreReadFromTheirProjections has the server refuse what it would read by application.
func TestFiguresOfEveryoneAreReadFromTheirProjections(t *testing.T) {
	store, now := newCallStore(t), time.Now()
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		store.add(randomRow(random, uuid.New(), []string{"gpt", "claude"}[random.IntN(2)], now.Add(-time.Duration(random.IntN(48))*time.Hour)))
	}
	r := store.reader(now, "?force_optimize_projection=1")
	days, gpt := beijing.LastDays(7, beijing.Today(now)), "gpt"
	for _, model := range []*string{nil, &gpt} {
		var want []row
		for _, c := range store.rows {
			if model == nil || c.model == gpt {
				want = append(want, c)
			}
		}
		usage, err := r.EveryonesUsage(t.Context(), Everyone{}, days, model)
		if err != nil {
			t.Fatal(err)
		}
		sameMetrics(t, "summary", usage.Summary, want)
		err = r.EveryonesTokens(t.Context(), Everyone{}, days, model, []string{"gpt-5"}, func(m *ModelTokens) { t.Errorf("tokens of calls that report none: %+v", m) })
		if err != nil {
			t.Fatal(err)
		}
	}
	models, err := r.EveryonesModels(t.Context(), Everyone{}, days)
	if err != nil || len(models) != 2 {
		t.Fatalf("%+v, %v", models, err)
	}
	callers, err := r.Callers(t.Context(), days, &gpt)
	if err != nil || len(callers) == 0 {
		t.Errorf("%+v, %v", callers, err)
	}
	byModel, err := r.ModelCallers(t.Context(), days)
	if err != nil || len(byModel) != 2 || len(byModel[gpt].Calling) != len(callers) {
		t.Errorf("%+v, %v", byModel, err)
	}
	err = r.each(t.Context(), "failures by day", failedPerModel, args("start", days.Start, "end", days.End), func(driver.Rows) error { return nil })
	if err != nil {
		t.Error(err)
	}
}
