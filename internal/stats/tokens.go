package stats

import (
	"context"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// Count is a sum of tokens; the zero Count is that of calls of which none reported that number.
type Count struct {
	N     int64
	Known bool // at least one call reported it
}

// Add adds another sum.
func (c *Count) Add(of Count) {
	c.N += of.N
	c.Known = c.Known || of.Known
}

// Pointer is the sum, nil where it is not known.
func (c Count) Pointer() *int64 {
	if !c.Known {
		return nil
	}
	return &c.N
}

// Tokens are what the answers to some set of calls reported. The zero value is that of no calls.
type Tokens struct {
	Input, Output, Cached, CacheWrite, Reasoning Count // Cached and CacheWrite are part of Input, Reasoning of Output
	TokenStates
}

// TokenStates are calls by what their answers report. Calls without a 2xx answer, and those of before tokens were
// collected, are in none.
type TokenStates struct {
	Reported, Partial, Absent, Unreadable int64
	Streamed, StreamedAbsent              int64 // event streams among them, and those that ended and report none
}

// Add adds the tokens of other calls.
func (t *Tokens) Add(of *Tokens) {
	t.Input.Add(of.Input)
	t.Output.Add(of.Output)
	t.Cached.Add(of.Cached)
	t.CacheWrite.Add(of.CacheWrite)
	t.Reasoning.Add(of.Reasoning)
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
	Metered
}

// Metered is what of calls with usage lines must be added to the tokens of the same capability and day to be exact by tier of
// service and band of input, by meter and with its sign: what they used, or, of no tier and band, what of it stands among those
// tokens. Cost is linear, so that of both together is right.
type Metered struct {
	Tier   string
	Band   int64
	Beside int64            // calls that used it beside another model
	Meters map[string]int64 // nil: there is nothing of it
}

// take makes it what a row of meters has, and gives the calls.
func (m *Metered) take(tier string, band uint32, meters map[string]int64) (calls int64) {
	*m = Metered{Tier: tier, Band: int64(band), Beside: meters["calls_beside"]}
	calls = meters["calls"]
	delete(meters, "calls")
	delete(meters, "calls_beside")
	if len(meters) > 0 || calls != 0 || m.Beside != 0 {
		m.Meters = meters
	}
	return calls
}

// meteredColumns are those behind reportedColumns, and withoutMeters what rows of tokens have in their place. What calls used
// besides tokens stands apart, for one price may hold for all of it and another for none.
const (
	meteredColumns = ` toString(t.tier), t.band, sumMap(map(toString(t.meter), toInt64(t.amount)))`
	withoutMeters  = ` '', toUInt32(0), CAST(map(), 'Map(String, Int64)')`
	meteredGroups  = `, t.tier, t.band, t.extras`
)

// zeroColumns are reportedColumns of rows of meters.
var zeroColumns = strings.TrimSuffix(strings.Repeat(" toInt64(0),", len(tokenSums{})), ",")

// withMeters asks for tokens and for meters by the same columns, in one question.
func withMeters(columns, condition, by string) string {
	return "SELECT " + columns + reportedColumns + "," + withoutMeters + " FROM tokens_daily AS t WHERE " + condition + " GROUP BY " + by +
		" UNION ALL SELECT " + columns + zeroColumns + "," + meteredColumns + " FROM meters_daily AS t WHERE " + condition + " GROUP BY " + by + meteredGroups
}

// reportedColumns are what every query of tokens takes from the rollup rows of a group, in the order of modelTokens; the
// table's alias must be t. They are read once for all that an answer needs: reading them is most of what a question costs.
const reportedColumns = `
    sum(t.counted), sum(t.input), sum(t.output), sum(t.cached), sum(t.cache_write), sum(t.reasoning),
    sum(t.input_calls), sum(t.output_calls), sum(t.cached_calls), sum(t.cache_write_calls), sum(t.reasoning_calls),
    sum(t.reported), sum(t.partial), sum(t.absent), sum(t.unreadable), sum(t.streamed), sum(t.streamed_absent)`

const inDays = `t.application_id IN {applications:Array(UUID)} AND t.day BETWEEN {start:Date} AND {end:Date}`

// namedModel tells the models that answered apart only where a price does.
const namedModel = ` toString(t.model), toString(if(t.upstream_model IN {named:Array(String)}, t.upstream_model, '')) AS named_model,`

var dayTokensQuery = withMeters(`toUUID('00000000-0000-0000-0000-000000000000'), toInt32(t.day),`+namedModel, inDays, `t.day, t.model, named_model`)

// DayTokens gives the tokens of one application, or of several together, by day, capability and model that answered;
// models that are not named are one, the empty one. Days that are no longer kept are empty. What take is given is
// overwritten after it returns: a year of fifty applications is thousands of rows. Faults: Unavailable.
func (r *Reader) DayTokens(ctx context.Context, applications []uuid.UUID, days beijing.Range, named []string, take func(*ModelTokens)) error {
	return r.modelTokens(ctx, "tokens by day", dayTokensQuery, take, applications, days, named)
}

const ofSpan = `t.application_id, toInt32({spans:Array(Date)}[arrayCount(first -> first <= t.day, {spans:Array(Date)})]) AS span,`

var spanTokensQuery = withMeters(ofSpan+namedModel, inDays, `t.application_id, span, t.model, named_model`)

// SpanTokens is DayTokens of each application by itself, by spans of days of which these are the first, ascending.
// Faults: Unavailable.
func (r *Reader) SpanTokens(ctx context.Context, applications []uuid.UUID, days beijing.Range, spans []beijing.Day, named []string, take func(*ModelTokens)) error {
	return r.modelTokens(ctx, "tokens by span", spanTokensQuery, take, applications, days, named, "spans", firstDays(spans))
}

func firstDays(spans []beijing.Day) []string {
	first := make([]string, len(spans))
	for i, day := range spans {
		first[i] = day.String()
	}
	return first
}

func (r *Reader) modelTokens(ctx context.Context, what, query string, take func(*ModelTokens), applications []uuid.UUID, days beijing.Range, named []string, more ...any) error {
	days = r.KeptStatistics(days)
	if len(applications) == 0 || days.Days() < 1 {
		return nil
	}
	parameters := args(append(more, "applications", applications, "start", days.Start, "end", days.End, "named", named)...)
	return r.scanTokens(ctx, what, query, parameters, take)
}

// scanTokens hands the rows of a query withMeters by application, day, capability and model that answered to take.
func (r *Reader) scanTokens(ctx context.Context, what, query string, parameters []any, take func(*ModelTokens)) error {
	var m ModelTokens
	var day int32
	var calls [5]int64
	sums := [...]*Count{&m.Input, &m.Output, &m.Cached, &m.CacheWrite, &m.Reasoning}
	columns := []any{&m.Application, &day, &m.Model, &m.UpstreamModel, &m.Calls}
	for _, sum := range sums {
		columns = append(columns, &sum.N)
	}
	for i := range calls {
		columns = append(columns, &calls[i])
	}
	var tier string
	var band uint32
	var meters map[string]int64
	columns = append(columns, &m.Reported, &m.Partial, &m.Absent, &m.Unreadable, &m.Streamed, &m.StreamedAbsent, &tier, &band, &meters)
	return r.each(ctx, what, query, parameters, func(rows driver.Rows) error {
		if err := rows.Scan(columns...); err != nil {
			return unavailable(err, "read tokens")
		}
		m.Day = beijing.Day(day)
		for i, sum := range sums {
			sum.Known = calls[i] > 0
			if !sum.Known {
				sum.N = 0
			}
		}
		m.Calls += m.take(tier, band, meters)
		take(&m)
		return nil
	})
}
