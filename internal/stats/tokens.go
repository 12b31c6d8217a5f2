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
}

// Add adds the tokens of other calls.
func (t *Tokens) Add(of Tokens) {
	for _, sum := range [...]struct{ to, of **int64 }{{&t.Input, &of.Input}, {&t.Output, &of.Output}, {&t.Cached, &of.Cached},
		{&t.CacheWrite, &of.CacheWrite}, {&t.Reasoning, &of.Reasoning}} {
		switch {
		case *sum.of == nil:
		case *sum.to == nil:
			n := **sum.of
			*sum.to = &n
		default:
			**sum.to += **sum.of
		}
	}
	t.Reported += of.Reported
	t.Partial += of.Partial
	t.Absent += of.Absent
	t.Unreadable += of.Unreadable
	t.Streamed += of.Streamed
	t.StreamedAbsent += of.StreamedAbsent
}

// ModelTokens are the tokens of one capability and model that answered, on a day or a span of days.
type ModelTokens struct {
	Application          uuid.UUID // of SpanTokens only
	Day                  beijing.Day
	Model, UpstreamModel string
	Calls                int64 // with input or output tokens
	Tokens
}

// reportedFigures are the columns every query of tokens takes from the rollup rows of a group, in the order of
// scanTokens; the table's alias must be t. They are read once for all that an answer needs: reading them is most of
// what a question costs.
const reportedFigures = `
    sum(t.counted), sum(t.input), sum(t.output), sum(t.cached), sum(t.cache_write), sum(t.reasoning),
    sum(t.input_calls), sum(t.output_calls), sum(t.cached_calls), sum(t.cache_write_calls), sum(t.reasoning_calls),
    sum(t.reported), sum(t.partial), sum(t.absent), sum(t.unreadable), sum(t.streamed), sum(t.streamed_absent)
FROM tokens_daily AS t
WHERE t.application_id IN {applications:Array(UUID)} AND t.day BETWEEN {start:Date} AND {end:Date}`

// namedModel tells the models that answered apart only where a price does.
const namedModel = ` toString(t.model), toString(if(t.upstream_model IN {named:Array(String)}, t.upstream_model, '')) AS named_model,`

const dayTokensQuery = `
SELECT toUUID('00000000-0000-0000-0000-000000000000'), toInt32(t.day),` + namedModel + reportedFigures + `
GROUP BY t.day, t.model, named_model`

// DayTokens gives the tokens of one application, or of several together, by day, capability and model that answered;
// models that are not named are one, the empty one. Days that are no longer kept are empty. Faults: Unavailable.
func (r *Reader) DayTokens(ctx context.Context, applications []uuid.UUID, days beijing.Range, named []string) ([]ModelTokens, error) {
	return r.modelTokens(ctx, "tokens by day", dayTokensQuery, applications, days, named)
}

const spanTokensQuery = `
SELECT t.application_id, toInt32({spans:Array(Date)}[arrayCount(first -> first <= t.day, {spans:Array(Date)})]) AS span,` +
	namedModel + reportedFigures + `
GROUP BY t.application_id, span, t.model, named_model`

// SpanTokens is DayTokens of each application by itself, by spans of days of which these are the first, ascending.
// Faults: Unavailable.
func (r *Reader) SpanTokens(ctx context.Context, applications []uuid.UUID, days beijing.Range, spans []beijing.Day, named []string) ([]ModelTokens, error) {
	first := make([]string, len(spans))
	for i, day := range spans {
		first[i] = day.String()
	}
	return r.modelTokens(ctx, "tokens by span", spanTokensQuery, applications, days, named, "spans", first)
}

func (r *Reader) modelTokens(ctx context.Context, what, query string, applications []uuid.UUID, days beijing.Range, named []string, more ...any) (found []ModelTokens, err error) {
	days = r.keptStatistics(days)
	if len(applications) == 0 || days.Days() < 1 {
		return nil, nil
	}
	parameters := args(append(more, "applications", applications, "start", days.Start, "end", days.End, "named", named)...)
	err = r.each(ctx, what, query, parameters, func(rows driver.Rows) error {
		m, err := scanTokens(rows)
		found = append(found, m)
		return err
	})
	return found, err
}

func scanTokens(rows driver.Rows) (m ModelTokens, err error) {
	var day int32
	var sums, calls [5]int64
	if err := rows.Scan(&m.Application, &day, &m.Model, &m.UpstreamModel, &m.Calls,
		&sums[0], &sums[1], &sums[2], &sums[3], &sums[4], &calls[0], &calls[1], &calls[2], &calls[3], &calls[4],
		&m.Reported, &m.Partial, &m.Absent, &m.Unreadable, &m.Streamed, &m.StreamedAbsent); err != nil {
		return m, unavailable(err, "read tokens")
	}
	m.Day = beijing.Day(day)
	for i, to := range [...]**int64{&m.Input, &m.Output, &m.Cached, &m.CacheWrite, &m.Reasoning} {
		if calls[i] > 0 {
			*to = &sums[i]
		}
	}
	return m, nil
}
