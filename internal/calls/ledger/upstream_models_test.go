package ledger

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/spool"
)

// Answers that name a model of their own each do not grow the ledger's dimensions, and one application takes no
// names from others: several gateways, and those that start again, agree on what there is.
func TestADayKeepsFewNamesOfTheModelsThatAnswered(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	start := time.Now().Add(-time.Minute)
	added := 0
	ship := func(by uuid.UUID, names ...string) {
		t.Helper()
		gateway := s.open(t, spool.Config{Dir: t.TempDir()})
		for _, name := range names {
			r := callstest.Success(start)
			r.ApplicationID, r.Usage.Model = by, name
			gateway.Add(r)
		}
		added += len(names)
		if err := shut(gateway); err != nil {
			t.Fatal(err)
		}
	}
	name := func(of, i int) string { return fmt.Sprintf("model-%d-%d", of, i) }
	for of := range 8 {
		by := uuid.New()
		var names []string
		for i := range 3 * maxModelsBy {
			names = append(names, name(of, i), name(of, i), "")
		}
		ship(by, names...)
	}
	if n := s.number(t, `SELECT toInt64(uniqExact(upstream_model)) FROM calls WHERE upstream_model NOT IN ('', 'other')`); n != maxUpstreamModels {
		t.Errorf("%d names are kept", n)
	}
	ship(uuid.New(), name(0, 0), name(7, 29))
	for query, want := range map[string]int64{
		`SELECT toInt64(count()) FROM calls`:                                                                int64(added),
		`SELECT toInt64(count()) FROM calls WHERE upstream_model = 'model-0-0'`:                             3,
		`SELECT toInt64(count()) FROM calls WHERE upstream_model = 'model-7-29'`:                            0,
		`SELECT toInt64(uniqExact(upstream_model)) FROM tokens_daily WHERE upstream_model LIKE 'model-1-%'`: maxModelsBy,
	} {
		if n := s.number(t, query); n != want {
			t.Errorf("%s: %d, want %d", query, n, want)
		}
	}
}
