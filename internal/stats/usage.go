package stats

import (
	"cmp"
	"context"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// Usage is what applications did in a range of days. Summary, Daily and Models come from one read
// of one table, so they always add up.
type Usage struct {
	Summary Metrics
	Daily   []DayMetrics   // every day of the range, ascending, zero-filled
	Models  []ModelMetrics // by calls, descending, then by model
}

// DayMetrics is one Beijing day.
type DayMetrics struct {
	Date beijing.Day
	Metrics
}

// ModelMetrics is one capability; the empty model stands for calls that named none that exists.
type ModelMetrics struct {
	Model string
	Metrics
}

const usageQuery = `
SELECT grouping(u.day) = 0, grouping(u.model) = 0, toInt32(u.day), toString(u.model),` + figures + `
FROM usage_daily AS u
WHERE u.application_id IN {applications:Array(UUID)} AND u.day BETWEEN {start:Date} AND {end:Date}
GROUP BY GROUPING SETS ((u.day), (u.model), ())
HAVING total != 0`

// Usage gives the figures of one application, or of several together. Days
// before what is kept are empty. Faults: Unavailable.
func (r *Reader) Usage(ctx context.Context, applications []uuid.UUID, days beijing.Range) (Usage, error) {
	usage := Usage{Daily: eachDay(days), Models: []ModelMetrics{}}
	asked := r.KeptStatistics(days)
	if len(applications) == 0 || asked.Days() < 1 {
		return usage, nil
	}
	if len(applications) == 1 {
		ctx = concurrently(ctx)
	}
	parameters := args("applications", applications, "start", asked.Start, "end", asked.End)
	err := r.each(ctx, "usage", usageQuery, parameters, func(rows driver.Rows) error {
		var ofDay, ofModel bool
		var day int32 // since 1970-01-01, as beijing.Day
		var model string
		m, err := scanMetrics(rows, &ofDay, &ofModel, &day, &model)
		switch {
		case err != nil:
			return err
		case ofDay:
			usage.Daily[beijing.Day(day)-days.Start].Metrics = m
		case ofModel:
			usage.Models = append(usage.Models, ModelMetrics{model, m})
		default:
			usage.Summary = m
		}
		return nil
	})
	if err != nil {
		return Usage{}, err
	}
	slices.SortFunc(usage.Models, mostCalls)
	return usage, nil
}

// eachDay are the days of a range, without calls.
func eachDay(days beijing.Range) []DayMetrics {
	daily := make([]DayMetrics, 0, days.Days())
	for day := range days.Each() {
		daily = append(daily, DayMetrics{Date: day})
	}
	return daily
}

func mostCalls(a, b ModelMetrics) int {
	return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Model, b.Model))
}

const totalsQuery = `
SELECT u.application_id,` + figures + `
FROM usage_daily AS u
WHERE u.application_id IN {applications:Array(UUID)} AND u.day BETWEEN {start:Date} AND {end:Date}
GROUP BY u.application_id
HAVING total != 0`

// Totals gives the figures of each application by itself; one without calls is not in the map, and
// the zero Metrics is right for it. Faults: Unavailable.
func (r *Reader) Totals(ctx context.Context, applications []uuid.UUID, days beijing.Range) (map[uuid.UUID]Metrics, error) {
	totals := make(map[uuid.UUID]Metrics, len(applications))
	days = r.KeptStatistics(days)
	if len(applications) == 0 || days.Days() < 1 {
		return totals, nil
	}
	parameters := args("applications", applications, "start", days.Start, "end", days.End)
	err := r.each(ctx, "totals", totalsQuery, parameters, func(rows driver.Rows) error {
		var id uuid.UUID
		m, err := scanMetrics(rows, &id)
		totals[id] = m
		return err
	})
	if err != nil {
		return nil, err
	}
	return totals, nil
}
