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
	asked := r.KeptStatistics(days)
	if len(applications) == 0 || asked.Days() < 1 {
		return tallies{}.usage(days), nil
	}
	u, err := r.countUsage(ctx, applications, asked)
	if err != nil {
		return Usage{}, err
	}
	return u.usage(days), nil
}

// tallies are a Usage as it is counted: those without calls are left out.
type tallies struct {
	whole  tally
	days   map[beijing.Day]tally
	models map[string]tally
}

func newTallies() tallies { return tallies{days: map[beijing.Day]tally{}, models: map[string]tally{}} }

func (u tallies) usage(days beijing.Range) Usage {
	usage := Usage{Summary: u.whole.metrics(), Daily: make([]DayMetrics, 0, days.Days()), Models: make([]ModelMetrics, 0, len(u.models))}
	for day := range days.Each() {
		usage.Daily = append(usage.Daily, DayMetrics{day, u.days[day].metrics()})
	}
	for model, t := range u.models {
		usage.Models = append(usage.Models, ModelMetrics{model, t.metrics()})
	}
	slices.SortFunc(usage.Models, func(a, b ModelMetrics) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Model, b.Model))
	})
	return usage
}

// countUsage reads the usage of applications from the rollup.
func (r *Reader) countUsage(ctx context.Context, applications []uuid.UUID, days beijing.Range) (tallies, error) {
	u := newTallies()
	parameters := args("applications", applications, "start", days.Start, "end", days.End)
	if len(applications) == 1 {
		ctx = concurrently(ctx)
	}
	err := r.each(ctx, "usage", usageQuery, parameters, func(rows driver.Rows) error {
		var ofDay, ofModel bool
		var day int32 // since 1970-01-01, as beijing.Day
		var model string
		t, err := scanTally(rows, &ofDay, &ofModel, &day, &model)
		switch {
		case err != nil:
			return err
		case ofDay:
			u.days[beijing.Day(day)] = t
		case ofModel:
			u.models[model] = t
		default:
			u.whole = t
		}
		return nil
	})
	return u, err
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
