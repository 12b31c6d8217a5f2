package stats

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// Tokens are what the answers to some set of calls reported (design section 9). The zero value is that of no calls.
type Tokens struct {
	// Sums; nil where no call reported that number. Cached and CacheWrite are part of Input, Reasoning of Output.
	Input, Output, Cached, CacheWrite, Reasoning *int64
	// Calls by what their answers report. Calls without a 2xx answer, and those of before tokens were collected, are
	// in none.
	Reported, Partial, Absent, Unreadable int64
	Streamed, StreamedAbsent              int64 // event streams among them, and those that ended and report none
	// Unpriced are the calls with tokens of capabilities without any price, as the question named these.
	Unpriced int64
}

// TokenUsage is what Usage is, of tokens. Days and models without calls that were looked at are left out.
type TokenUsage struct {
	Summary Tokens
	Daily   map[beijing.Day]Tokens
	Models  map[string]Tokens
}

// ModelTokens are the tokens of one capability and model that answered, on a day or a span of days.
type ModelTokens struct {
	Application                       uuid.UUID // of SpanTokens only
	Day                               beijing.Day
	Model, UpstreamModel              string
	Calls                             int64 // with input or output tokens
	Input, Cached, CacheWrite, Output int64
}

// reportedFigures are the columns every query of tokens takes from the rollup rows of a group, in the order of
// scanTokens; the table's alias must be t.
const reportedFigures = `
    sum(t.input), sum(t.output), sum(t.cached), sum(t.cache_write), sum(t.reasoning),
    sum(t.input_calls), sum(t.output_calls), sum(t.cached_calls), sum(t.cache_write_calls), sum(t.reasoning_calls),
    sum(t.reported), sum(t.partial), sum(t.absent), sum(t.unreadable), sum(t.streamed), sum(t.streamed_absent),
    sumIf(t.counted, t.model NOT IN {priced:Array(String)})`

const ofReported = `
FROM tokens_daily AS t
WHERE t.application_id IN {applications:Array(UUID)} AND t.day BETWEEN {start:Date} AND {end:Date}`

const tokenUsageQuery = `
SELECT grouping(t.day) = 0, grouping(t.model) = 0, toInt32(t.day), toString(t.model),` + reportedFigures + ofReported + `
GROUP BY GROUPING SETS ((t.day), (t.model), ())`

func scanTokens(rows driver.Rows, leading ...any) (t Tokens, err error) {
	var sums, calls [5]int64
	for i := range sums {
		leading = append(leading, &sums[i])
	}
	for i := range calls {
		leading = append(leading, &calls[i])
	}
	leading = append(leading, &t.Reported, &t.Partial, &t.Absent, &t.Unreadable, &t.Streamed, &t.StreamedAbsent, &t.Unpriced)
	if err := rows.Scan(leading...); err != nil {
		return Tokens{}, unavailable(err, "read tokens")
	}
	for i, to := range []**int64{&t.Input, &t.Output, &t.Cached, &t.CacheWrite, &t.Reasoning} {
		if calls[i] > 0 {
			*to = &sums[i]
		}
	}
	return t, nil
}

// Tokens gives the tokens of one application, or of several together; priced are the capabilities that have a
// price. Days that are no longer kept are empty. Faults: Unavailable.
func (r *Reader) Tokens(ctx context.Context, applications []uuid.UUID, days beijing.Range, priced []string) (TokenUsage, error) {
	usage := TokenUsage{Daily: map[beijing.Day]Tokens{}, Models: map[string]Tokens{}}
	days = r.keptStatistics(days)
	if len(applications) == 0 || days.Days() < 1 {
		return usage, nil
	}
	parameters := args("applications", applications, "start", days.Start, "end", days.End, "priced", priced)
	err := r.each(ctx, "tokens", tokenUsageQuery, parameters, func(rows driver.Rows) error {
		var ofDay, ofModel bool
		var day int32
		var model string
		t, err := scanTokens(rows, &ofDay, &ofModel, &day, &model)
		switch {
		case err != nil:
			return err
		case ofDay:
			usage.Daily[beijing.Day(day)] = t
		case ofModel:
			usage.Models[model] = t
		default:
			usage.Summary = t
		}
		return nil
	})
	if err != nil {
		return TokenUsage{}, err
	}
	return usage, nil
}

const tokenTotalsQuery = `
SELECT t.application_id,` + reportedFigures + ofReported + `
GROUP BY t.application_id`

// TokenTotals gives the tokens of each application by itself; one without any is not in the map. Faults: Unavailable.
func (r *Reader) TokenTotals(ctx context.Context, applications []uuid.UUID, days beijing.Range, priced []string) (map[uuid.UUID]Tokens, error) {
	totals := make(map[uuid.UUID]Tokens, len(applications))
	days = r.keptStatistics(days)
	if len(applications) == 0 || days.Days() < 1 {
		return totals, nil
	}
	parameters := args("applications", applications, "start", days.Start, "end", days.End, "priced", priced)
	err := r.each(ctx, "token totals", tokenTotalsQuery, parameters, func(rows driver.Rows) error {
		var id uuid.UUID
		t, err := scanTokens(rows, &id)
		totals[id] = t
		return err
	})
	if err != nil {
		return nil, err
	}
	return totals, nil
}

// modelTokens are the columns of ModelTokens behind its application and day.
const modelTokens = `
    toString(t.model), toString(t.upstream_model), sum(t.counted) AS with_tokens, sum(t.input), sum(t.cached), sum(t.cache_write), sum(t.output)` +
	ofReported + ` AND t.model IN {priced:Array(String)}`

const dayTokensQuery = `
SELECT toUUID('00000000-0000-0000-0000-000000000000'), toInt32(t.day),` + modelTokens + `
GROUP BY t.day, t.model, t.upstream_model
HAVING with_tokens != 0`

// DayTokens gives the tokens of applications together by day, for what they cost: of the capabilities in priced
// alone. Faults: Unavailable.
func (r *Reader) DayTokens(ctx context.Context, applications []uuid.UUID, days beijing.Range, priced []string) ([]ModelTokens, error) {
	return r.modelTokens(ctx, "tokens by day", dayTokensQuery, applications, days, priced)
}

const spanTokensQuery = `
SELECT t.application_id, toInt32({spans:Array(Date)}[arrayCount(first -> first <= t.day, {spans:Array(Date)})]) AS span,` + modelTokens + `
GROUP BY t.application_id, span, t.model, t.upstream_model
HAVING with_tokens != 0`

// SpanTokens gives the tokens of each application by spans, of which these are the first days, ascending. Faults:
// Unavailable.
func (r *Reader) SpanTokens(ctx context.Context, applications []uuid.UUID, days beijing.Range, spans []beijing.Day, priced []string) ([]ModelTokens, error) {
	first := make([]string, len(spans))
	for i, day := range spans {
		first[i] = day.String()
	}
	return r.modelTokens(ctx, "tokens by span", spanTokensQuery, applications, days, priced, "spans", first)
}

func (r *Reader) modelTokens(ctx context.Context, what, query string, applications []uuid.UUID, days beijing.Range, priced []string, more ...any) (found []ModelTokens, err error) {
	days = r.keptStatistics(days)
	if len(applications) == 0 || len(priced) == 0 || days.Days() < 1 {
		return nil, nil
	}
	parameters := args(append(more, "applications", applications, "start", days.Start, "end", days.End, "priced", priced)...)
	err = r.each(ctx, what, query, parameters, func(rows driver.Rows) error {
		var m ModelTokens
		var day int32
		if err := rows.Scan(&m.Application, &day, &m.Model, &m.UpstreamModel, &m.Calls, &m.Input, &m.Cached, &m.CacheWrite, &m.Output); err != nil {
			return unavailable(err, "read tokens")
		}
		m.Day = beijing.Day(day)
		found = append(found, m)
		return nil
	})
	return found, err
}
