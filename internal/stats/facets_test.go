package stats

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// TestAValueOfAFacetSelectsAsManyCallsAsItSays asks for the list with every value in place of the query's own.
func TestAValueOfAFacetSelectsAsManyCallsAsItSays(t *testing.T) {
	now := clocks()[0]
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	l, all := randomCallStore(t, random, now)
	r := l.reader(now, "")
	today := beijing.Today(now)
	asked := 0
	for range 20 {
		q := CallsQuery{Applications: all, Page: 1, Range: beijing.Range{Start: today - beijing.Day(random.IntN(31)), End: today}}
		if random.IntN(3) == 0 {
			q.Applications = all[:1+random.IntN(3)]
		}
		if random.IntN(3) == 0 {
			q.Model = &testModels[random.IntN(len(testModels))]
		}
		q.Result = []Result{AnyResult, AnyResult, OnlyFailures}[random.IntN(3)]
		if random.IntN(3) == 0 {
			q.Outcome.Status = []uint16{200, 499}[random.IntN(2)]
		}
		if random.IntN(4) == 0 {
			q.Outcome.Reason = &ReasonKind{Type: "interrupted"}
		}
		found, err := r.Facets(t.Context(), q, all, 20)
		if err != nil {
			t.Fatal(err)
		}
		for facet, counts := range found {
			for i, c := range counts {
				asked++
				page, err := r.Calls(t.Context(), withValue(q, facet, c.Value))
				if err != nil || page.Total != c.Calls || c.Calls == 0 || i > 0 && c.Calls > counts[i-1].Calls {
					t.Errorf("%+v: %s %q says %d calls, the list holds %d, %v", q, facet, c.Value, c.Calls, page.Total, err)
				}
			}
		}
	}
	if asked < 100 {
		t.Errorf("only %d values", asked)
	}
}

// withValue is a query with a value of a facet in place of its own.
func withValue(q CallsQuery, facet Facet, value string) CallsQuery {
	switch facet {
	case FacetApplication:
		q.Applications = []uuid.UUID{uuid.MustParse(value)}
	case FacetModel:
		q.Model = &value
	case FacetResult:
		q.Result = Result(value)
	case FacetStatus:
		status, _ := strconv.ParseUint(value, 10, 16)
		q.Outcome.Status = uint16(status)
	case FacetReason:
		kind, code, _ := strings.Cut(value, ":")
		q.Outcome.Reason = &ReasonKind{Type: kind, Code: code}
	case FacetKey:
		q.Key = uuid.MustParse(value)
	}
	return q
}
