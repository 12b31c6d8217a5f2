package stats

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

// Facet is something that calls are told apart by and filtered by.
type Facet string

// The facets.
const (
	FacetApplication Facet = "application"
	FacetModel       Facet = "model"
	FacetResult      Facet = "result"
	FacetStatus      Facet = "status"
	FacetReason      Facet = "reason" // of failures; type:code
	FacetKey         Facet = "key"    // of calls whose key is known
)

var facets = []Facet{FacetApplication, FacetModel, FacetResult, FacetStatus, FacetReason, FacetKey}

// noValue is that of a call which no value of a facet selects.
const noValue = "-"

var facetValues = map[Facet]string{
	FacetApplication: labels[PerApplication], FacetModel: labels[PerCapability], FacetResult: `if(success, 'success', 'failure')`,
	FacetStatus: labels[PerStatus], FacetReason: `if(success, '` + noValue + `', ` + labels[PerReason] + `)`,
	FacetKey: `if(key_id = toUUID('00000000-0000-0000-0000-000000000000'), '` + noValue + `', toString(key_id))`,
}

// FacetCount is how many calls a value of a facet selects.
type FacetCount struct {
	Value string // as the filter of that name takes it
	Calls int64
}

// without is the query without its filter of a facet; all are the applications that may be asked about.
func (q CallsQuery) without(f Facet, all []uuid.UUID) (free CallsQuery, filtered bool) {
	free = q
	switch f {
	case FacetApplication:
		free.Applications, filtered = all, len(all) != len(q.Applications)
	case FacetModel:
		free.Model, filtered = nil, q.Model != nil
	case FacetResult:
		free.Result, filtered = AnyResult, q.Result != AnyResult
	case FacetStatus:
		free.Outcome.Status, filtered = 0, q.Outcome.Status != 0
	case FacetReason:
		free.Outcome.Reason, filtered = nil, q.Outcome.Reason != nil
	case FacetKey:
		free.Key, filtered = uuid.Nil, q.Key != uuid.Nil
	}
	return free, filtered
}

// Facets counts the calls that a query would list with each other value of a facet in place of its own, most calls first: every
// facet and at most most of its values. Every call is read. Faults: Unavailable.
func (r *Reader) Facets(ctx context.Context, q CallsQuery, all []uuid.UUID, most int) (map[Facet][]FacetCount, error) {
	if q.Until != nil && !r.inBounds(*q.Until) {
		q.Until = nil
	}
	q = r.within(q)
	group, groupCtx := errgroup.WithContext(concurrently(ctx))
	group.SetLimit(r.parallel)
	counts := make([][]FacetCount, len(facets))
	var together []int // those of the calls of the query as it is
	for i, f := range facets {
		free, filtered := q.without(f, all)
		if !filtered {
			together = append(together, i)
			continue
		}
		group.Go(func() error { return r.countFacets(groupCtx, free, []int{i}, counts) })
	}
	if len(together) > 0 {
		group.Go(func() error { return r.countFacets(groupCtx, q, together, counts) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	found := make(map[Facet][]FacetCount, len(facets))
	for i, f := range facets {
		slices.SortFunc(counts[i], func(a, b FacetCount) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Value, b.Value)) })
		found[f] = counts[i][:min(most, len(counts[i]))]
	}
	return found, nil
}

// countFacets fills in the counts of some facets, by their places, of the same calls.
func (r *Reader) countFacets(ctx context.Context, q CallsQuery, places []int, counts [][]FacetCount) error {
	days := dayBuckets(r.kept(q))
	if len(days) == 0 || len(q.Applications) == 0 {
		return nil
	}
	var values, names, sets, grouped []string
	for i, place := range places {
		name := fmt.Sprintf("value%d", i)
		values = append(values, facetValues[facets[place]]+" AS "+name)
		names, sets, grouped = append(names, name), append(sets, "("+name+")"), append(grouped, "grouping("+name+")")
	}
	condition, bounds := within(days)
	query := `
SELECT toInt32(indexOf([` + strings.Join(grouped, ", ") + `], 0)) - 1, concat('', ` + strings.Join(names, ", ") + `), toInt64(count())
FROM (SELECT ` + strings.Join(values, ", ") + ` FROM calls WHERE ` + q.ofApplications() + ` AND (` + condition + `)` + q.filters() + `)
GROUP BY GROUPING SETS (` + strings.Join(sets, ", ") + `)`
	return r.each(ctx, "facets", query, q.parameters(append(bounds, textDays(days)...)...), func(rows driver.Rows) error {
		var i int64
		var c FacetCount
		if err := rows.Scan(&i, &c.Value, &c.Calls); err != nil {
			return unavailable(err, "read facets")
		}
		if c.Value != noValue {
			counts[places[i]] = append(counts[places[i]], c)
		}
		return nil
	})
}
