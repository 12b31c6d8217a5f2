package verify

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/days"
)

// callRow is the calls of one application on one day whose capability and model that answered are the same, counted from
// the rows of calls alone.
type callRow struct {
	Application                  uuid.UUID
	Calls, Successes, DurationMs int64
	tokenRow
}

// reportedOfRows are the columns of a tokenRow behind its labels, but for streams.
const reportedOfRows = `
    toInt64(sumIf(input_tokens IS NOT NULL OR output_tokens IS NOT NULL, is_reported)),
    toInt64(sumIf(input_tokens, is_reported)), toInt64(sumIf(output_tokens, is_reported)), toInt64(sumIf(cached_tokens, is_reported)),
    toInt64(sumIf(cache_write_tokens, is_reported)), toInt64(sumIf(reasoning_tokens, is_reported)),
    toInt64(sum(usage_state = 'reported')), toInt64(sum(usage_state = 'partial')), toInt64(sum(usage_state = 'absent')), toInt64(sum(usage_state = 'unreadable')),` + usedOfRows

func (t *tokenRow) reportedFields() []any {
	return append([]any{&t.Counted, &t.Input, &t.Output, &t.Cached, &t.CacheWrite, &t.Reasoning, &t.Reported, &t.Partial, &t.Absent, &t.Unreadable}, t.fields()...)
}

var recountDayQuery = `
WITH usage_state != '' AND usage_state != 'none' AS is_reported
SELECT application_id, toString(model) AS of_model, toString(upstream_model) AS of_upstream, toInt64(count()), toInt64(sum(success)), toInt64(sum(duration_ms)),` + reportedOfRows + `
FROM calls
WHERE ` + between

// callsOfDay counts the calls of a day, of some applications or, nil, of all that have any, deleted ones too; what is of
// one application is handed out in one piece. It reads every row of the day. Faults: Unavailable.
func (v *verifier) callsOfDay(ctx context.Context, day beijing.Day, applications []uuid.UUID, take func(callRow)) error {
	return ofSome(applications, func(condition string, pairs []any) error {
		query := recountDayQuery + condition + " GROUP BY application_id, of_model, of_upstream" + usedGroups + " ORDER BY application_id"
		parameters := append(pairs, "from", day.Start().Unix(), "to", day.End().Unix())
		return v.Stats.Stream(ctx, "recount a day", query, parameters, func(scan func(...any) error) error {
			c := callRow{tokenRow: tokenRow{Day: day}}
			labels := []any{&c.Application, &c.Model, &c.UpstreamModel, &c.Calls, &c.Successes, &c.DurationMs}
			if err := scan(append(labels, c.reportedFields()...)...); err != nil {
				return err
			}
			take(c)
			return nil
		})
	})
}

// idsAtOnce bounds the ids of one parameter: a server takes 128 KiB over HTTP.
const idsAtOnce = 2_000

// ofSome asks about applications, some at a time, or, nil, about all.
func ofSome(applications []uuid.UUID, ask func(condition string, pairs []any) error) error {
	if applications == nil {
		return ask("", nil)
	}
	for some := range slices.Chunk(applications, idsAtOnce) {
		if err := ask(" AND application_id IN {applications:Array(UUID)}", []any{"applications", some}); err != nil {
			return err
		}
	}
	return nil
}

// seenFigures is what data teams see of an application on a closed day; of the nil one, of the day itself.
type seenFigures struct {
	Revision       int
	MissingUnknown bool
	days.Application
}

const closedFiguresQuery = `
SELECT application_id, user_id, toInt64(revision), missing_unknown, calls, successes, duration_ms, unpriced_calls, missing_calls,
    input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, reported, partial, absent, unreadable, currencies, amounts
FROM live_days_closed
WHERE day = {day:Date}`

// seenFigures gives them of some applications or, nil, of all. Faults: Unavailable.
func (v *verifier) seenFigures(ctx context.Context, day beijing.Day, applications []uuid.UUID) (found []seenFigures, err error) {
	err = ofSome(applications, func(condition string, pairs []any) error {
		return v.Stats.Stream(ctx, "figures of a closed day", closedFiguresQuery+condition, append(pairs, "day", day), func(scan func(...any) error) error {
			c := seenFigures{Application: days.Application{Figures: days.Figures{Costs: []days.Cost{}}}}
			var revision int64
			var currencies []string
			var amounts []decimal.Decimal
			t := &c.Tokens
			if err := scan(&c.ID, &c.Owner, &revision, &c.MissingUnknown, &c.Calls, &c.Successes, &c.DurationMs, &c.Unpriced, &c.Missing,
				&t.Input, &t.Output, &t.Cached, &t.CacheWrite, &t.Reasoning, &t.Reported, &t.Partial, &t.Absent, &t.Unreadable, &currencies, &amounts); err != nil {
				return err
			}
			c.Revision = int(revision)
			for i, currency := range currencies {
				c.Costs = append(c.Costs, days.Cost{Currency: currency, Amount: amounts[i]})
			}
			found = append(found, c)
			return nil
		})
	})
	return found, err
}
