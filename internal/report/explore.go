package report

import (
	"cmp"
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/stats"
)

// Question is what Explore answers: one metric of an owner's calls, or of everyone's, by group and time, beside another range.
type Question struct {
	stats.Explored
	Owner    *uuid.UUID     // whose applications alone, of everyone's; nil: anybody's
	Metric   string         // one of Metrics
	Top      int            // groups that are told apart
	Currency string         // of the metric cost; empty: that of most calls
	Compare  *beijing.Range // the same question about it; nil: none
}

// Metric is something that calls have a figure of.
type Metric struct {
	rank      stats.Rank
	Durations stats.Durations                              // whose percentile it is
	value     func(stats.ExploredFigures) *decimal.Decimal // nil: the cost
}

// Wanted is what it asks the statistics for.
func (m Metric) Wanted() stats.Wanted {
	switch {
	case m.value == nil:
		return stats.WantUsage
	case m.rank.OfTokens():
		return stats.WantTokens
	}
	return stats.WantCalls
}

// Metrics are all of them, by their names in the contract.
var Metrics = map[string]Metric{
	"calls":    {stats.MostCalls, stats.NoDurations, func(p stats.ExploredFigures) *decimal.Decimal { return count(p.Calls) }},
	"failures": {stats.MostFailures, stats.NoDurations, func(p stats.ExploredFigures) *decimal.Decimal { return count(p.Calls - p.Successes) }},
	"failureRate": {stats.MostFailures, stats.NoDurations, func(p stats.ExploredFigures) *decimal.Decimal {
		if p.Calls == 0 {
			return nil
		}
		rate := decimal.NewFromInt(p.Calls-p.Successes).DivRound(decimal.NewFromInt(p.Calls), 4)
		return &rate
	}},
	"p50":              {stats.MostCalls, stats.OfCalls, func(p stats.ExploredFigures) *decimal.Decimal { return duration(p.P50) }},
	"p95":              {stats.MostCalls, stats.OfCalls, func(p stats.ExploredFigures) *decimal.Decimal { return duration(p.P95) }},
	"p99":              {stats.MostCalls, stats.OfCalls, func(p stats.ExploredFigures) *decimal.Decimal { return duration(p.P99) }},
	"firstByteP50":     {stats.MostCalls, stats.FirstBytes, func(p stats.ExploredFigures) *decimal.Decimal { return duration(p.P50) }},
	"firstByteP95":     {stats.MostCalls, stats.FirstBytes, func(p stats.ExploredFigures) *decimal.Decimal { return duration(p.P95) }},
	"firstByteP99":     {stats.MostCalls, stats.FirstBytes, func(p stats.ExploredFigures) *decimal.Decimal { return duration(p.P99) }},
	"tokens":           {stats.MostTokens, stats.NoDurations, func(p stats.ExploredFigures) *decimal.Decimal { return count(p.Input + p.Output) }},
	"inputTokens":      {stats.MostInput, stats.NoDurations, func(p stats.ExploredFigures) *decimal.Decimal { return count(p.Input) }},
	"outputTokens":     {stats.MostOutput, stats.NoDurations, func(p stats.ExploredFigures) *decimal.Decimal { return count(p.Output) }},
	"cachedTokens":     {stats.MostCached, stats.NoDurations, func(p stats.ExploredFigures) *decimal.Decimal { return count(p.Cached) }},
	"cacheWriteTokens": {stats.MostCacheWrite, stats.NoDurations, func(p stats.ExploredFigures) *decimal.Decimal { return count(p.CacheWrite) }},
	"reasoningTokens":  {stats.MostReasoning, stats.NoDurations, func(p stats.ExploredFigures) *decimal.Decimal { return count(p.Reasoning) }},
	"cost":             {rank: stats.MostTokens},
}

func count(n int64) *decimal.Decimal {
	d := decimal.NewFromInt(n)
	return &d
}

func duration(ms *int64) *decimal.Decimal {
	if ms == nil {
		return nil
	}
	return count(*ms)
}

// ReadsMuch tells whether every call is read for the answer, or as much of a rollup.
func (q *Question) ReadsMuch() bool {
	ofEach := q.Everyone != nil && q.Durations != stats.NoDurations && (q.GroupBy == stats.PerApplication || q.GroupBy == stats.PerOwner)
	return ofEach || q.FromRows() || q.Interval == stats.Hourly
}

// candidates is of how many groups, those with most tokens, the dearest are found.
const candidates = 1000

// Explore answers explore, of applications of an owner: of all of them where none is named. Those of others are as those that do
// not exist.
func (r *Report) Explore(ctx context.Context, owner uuid.UUID, q Question) (answer openapi.Exploration, err error) {
	all, ids, err := r.asked(ctx, owner, q.Applications)
	if err != nil {
		return answer, err
	}
	q.Applications = ids
	coverage, kept, err := r.coverage(ctx, q.Applications, q.Range)
	if err != nil {
		return answer, err
	}
	answer.Coverage = coverage
	if q.FromCalls() {
		answer.RetainedFrom = kept
	}
	return answer, r.explore(ctx, q, nil, &answer, func(groups []string) (map[string]string, error) { return r.labels(ctx, owner, q.GroupBy, groups, all) })
}

// explore answers a question whose applications are known. owners has those of everyone's, where they are grouped by.
func (r *Report) explore(ctx context.Context, q Question, owners map[string]uuid.UUID, answer *openapi.Exploration, labels func(groups []string) (map[string]string, error)) (err error) {
	metric := Metrics[q.Metric]
	values := exploredValues{}
	var groups []string
	if metric.value == nil {
		if groups, err = r.exploreCost(ctx, &q, owners, values); err != nil {
			return err
		}
		answer.Currency = openapi.TextOrNull(q.Currency)
	} else {
		if groups, err = r.foremost(ctx, &q, owners, metric.rank); err != nil {
			return err
		}
		if err := r.exploreFigures(ctx, q, groups, metric, values); err != nil {
			return err
		}
	}
	names, err := labels(groups)
	if err != nil {
		return err
	}
	answer.Parts = openapi.Each(partsOf(q.Range, q.Interval), func(start int64) string { return beijing.Format(time.Unix(start, 0)) })
	answer.Total.ExploredFields = values.view(stats.ExploredPlace{All: true}, q)
	answer.Items = openapi.Each(groups, func(group string) openapi.ExploredGroup {
		return openapi.ExploredGroup{Group: group, Name: openapi.TextOrNull(names[group]), ExploredFields: values.view(stats.ExploredPlace{Group: group}, q)}
	})
	if other := (stats.ExploredPlace{Other: true}); values.has(other) {
		answer.Other = &openapi.ExploredFigures{ExploredFields: values.view(other, q)}
	}
	return nil
}

// exploredPlace is a place in the range, or in the one that it is compared with.
type exploredPlace struct {
	stats.ExploredPlace
	previous bool
}

// exploredValue is a metric's; nil: there is none. unknown are calls that are in no cost.
type exploredValue struct {
	value   *decimal.Decimal
	unknown int64
}

type exploredValues map[exploredPlace]exploredValue

// at is a value; of what is added up, that of no calls is 0.
func (v exploredValues) at(place exploredPlace, q Question) *string {
	value := v[place].value
	if value == nil && (q.Metric == "cost" && q.Currency != "" || q.Metric != "cost" && q.Metric != "failureRate" && q.Durations == stats.NoDurations) {
		value = count(0)
	}
	if value == nil {
		return nil
	}
	text := value.String()
	return &text
}

func (v exploredValues) has(at stats.ExploredPlace) bool {
	_, has := v[exploredPlace{at, false}]
	return has
}

func (v exploredValues) view(at stats.ExploredPlace, q Question) openapi.ExploredFields {
	whole := exploredPlace{at, false}
	fields := openapi.ExploredFields{Value: v.at(whole, q), UnknownCalls: v[whole].unknown, Values: []*string{}}
	if q.Compare != nil {
		fields.Previous = v.at(exploredPlace{at, true}, q)
	}
	for _, at.Start = range partsOf(q.Range, q.Interval) {
		fields.Values = append(fields.Values, v.at(exploredPlace{at, false}, q))
	}
	return fields
}

// exploreFigures fills in what is not cost.
func (r *Report) exploreFigures(ctx context.Context, q Question, groups []string, metric Metric, values exploredValues) error {
	fill := func(of stats.Explored, previous bool) error {
		figures, err := r.Stats.Explore(ctx, of, groups)
		for at, f := range figures {
			values[exploredPlace{at, previous}] = exploredValue{value: metric.value(f)}
		}
		return err
	}
	if err := fill(q.Explored, false); err != nil || q.Compare == nil {
		return err
	}
	before := q.Explored
	before.Range, before.Interval = *q.Compare, stats.Whole
	return fill(before, true)
}

// exploreCost fills in the cost, in q's currency, which it chooses where none was asked for, and gives the dearest groups.
func (r *Report) exploreCost(ctx context.Context, q *Question, owners map[string]uuid.UUID, values exploredValues) (groups []string, err error) {
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return nil, err
	}
	whole := q.Explored
	whole.Interval = stats.Whole
	if q.Everyone != nil {
		whole = q.eachOf()
	} else if groups, err = r.Stats.Foremost(ctx, q.Explored, Metrics["cost"].rank, candidates); err != nil {
		return nil, err
	}
	sums, err := r.costs(ctx, book, whole, groups)
	if err != nil {
		return nil, err
	}
	if q.Currency == "" {
		q.Currency = mostUsed(sums[stats.ExploredPlace{All: true}])
	}
	amounts := map[string]decimal.Decimal{}
	for _, group := range groups {
		amounts[group] = decimal.Zero // though nothing was reported
	}
	for at, sum := range sums {
		if group, known := q.groupOf(at.Group, owners); known && !at.All && !at.Other {
			amount, _ := sum.In(q.Currency)
			amounts[group] = amounts[group].Add(amount)
		}
	}
	groups = q.choose(owners, slices.SortedFunc(maps.Keys(amounts), func(a, b string) int { return cmp.Or(amounts[b].Cmp(amounts[a]), cmp.Compare(a, b)) }))
	fill := func(of stats.Explored, previous bool) error {
		sums, err := r.costs(ctx, book, of, groups)
		for at, sum := range sums {
			amount, unknown := sum.In(q.Currency)
			value := exploredValue{&amount, unknown}
			if q.Currency == "" {
				value.value = nil
			}
			values[exploredPlace{at, previous}] = value
		}
		return err
	}
	if err := fill(q.Explored, false); err != nil || q.Compare == nil {
		return groups, err
	}
	before := q.Explored
	before.Range, before.Interval = *q.Compare, stats.Whole
	return groups, fill(before, true)
}

// costs are the sums at each place.
func (r *Report) costs(ctx context.Context, book *pricing.Book, of stats.Explored, groups []string) (map[stats.ExploredPlace]*pricing.Sum, error) {
	sums := map[stats.ExploredPlace]*pricing.Sum{}
	by := stats.Priced{Spans: openapi.Each(book.Spans(of.Range), func(r beijing.Range) beijing.Day { return r.Start }), Named: book.UpstreamModels()}
	err := r.Stats.ExploreUsage(ctx, of, groups, by, func(at stats.ExploredPlace, used *stats.ModelTokens) {
		if used.Calls == 0 && used.Meters == nil { // nothing was reported
			return
		}
		charge := chargeOf(book, used)
		for _, place := range at.Sums() {
			if sums[place] == nil {
				sums[place] = book.Sum()
			}
			sums[place].Add(charge)
		}
	})
	return sums, err
}

// mostUsed is the currency of most calls; empty: none has a price.
func mostUsed(sum *pricing.Sum) (currency string) {
	if sum == nil {
		return ""
	}
	most := int64(0)
	for _, cost := range sum.Costs() {
		if cost.Currency != "" && cost.PricedCalls > most {
			currency, most = cost.Currency, cost.PricedCalls
		}
	}
	return currency
}

// partsOf are when the parts of a range begin, ascending: the first week or month where its first day is.
func partsOf(days beijing.Range, by stats.Interval) (starts []int64) {
	add := func(day beijing.Day) {
		if at := day.Start().Unix(); len(starts) == 0 || starts[len(starts)-1] != at {
			starts = append(starts, at)
		}
	}
	for day := range days.Each() {
		switch by {
		case stats.Hourly:
			for hour := range int64(24) {
				starts = append(starts, day.Start().Unix()+hour*3600)
			}
		case stats.Daily:
			add(day)
		case stats.Weekly:
			add(beijing.WeekOf(day).Start)
		case stats.Monthly:
			add(beijing.MonthOf(day).Start)
		}
	}
	return starts
}

// labels are what groups are called, where that is not what they are.
func (r *Report) labels(ctx context.Context, owner uuid.UUID, by stats.Dimension, groups []string, all map[uuid.UUID]application.Brief) (names map[string]string, err error) {
	names = map[string]string{}
	switch by {
	case stats.PerApplication:
		for id, a := range all {
			names[id.String()] = a.Name
		}
	case stats.PerCapability:
		return r.Catalog.Names(ctx)
	case stats.PerKey:
		return r.Applications.KeyNames(ctx, owner, groups)
	}
	return names, nil
}

// ComparedWith is the range of another time that a range is compared with: "previous", as many days before it, or "month", the
// same days of the month before, of which there may be fewer.
func ComparedWith(days beijing.Range, how string) beijing.Range {
	if how == "previous" {
		return beijing.Range{Start: days.Start - beijing.Day(days.Days()), End: days.Start - 1}
	}
	before := func(day beijing.Day) beijing.Day {
		this := beijing.MonthOf(day)
		last := beijing.MonthOf(this.Start - 1)
		if day == this.End { // a month's end is compared with a month's end
			return last.End
		}
		return min(last.Start+day-this.Start, last.End)
	}
	return beijing.Range{Start: before(days.Start), End: before(days.End)}
}

// WriteExploration writes what Explore answers as a Sheet: a line for each group, the others and all.
func WriteExploration(to io.Writer, answer openapi.Exploration) error {
	file, err := NewSheet(to, append([]string{"kind", "group", "name", "value", "previous", "unknownCalls"}, answer.Parts...))
	if err != nil {
		return err
	}
	line := func(kind, group, name string, of openapi.ExploredFields) error {
		cells := []string{kind, group, name, orEmpty(of.Value), orEmpty(of.Previous), strconv.FormatInt(of.UnknownCalls, 10)}
		for _, value := range of.Values {
			cells = append(cells, orEmpty(value))
		}
		return file.Line(cells)
	}
	for _, item := range answer.Items {
		if err := line("group", item.Group, orEmpty(item.Name), item.ExploredFields); err != nil {
			return err
		}
	}
	if answer.Other != nil {
		if err := line("other", "", "", answer.Other.ExploredFields); err != nil {
			return err
		}
	}
	if err := line("total", "", "", answer.Total.ExploredFields); err != nil {
		return err
	}
	return file.Flush()
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
