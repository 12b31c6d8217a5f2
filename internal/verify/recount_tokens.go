package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/stats"
)

// tokenRow is what the calls of one application on one Beijing day reported whose capability and model that answered
// are the same, counted from the rows of calls alone.
type tokenRow struct {
	Day                  beijing.Day
	Model, UpstreamModel string
	Counted              int64 // calls with input or output tokens
	rowTokens
	shape
	one *usedLine // of lines, apart from what else the calls are
}

// shape is how the lines of calls look alike, and what these add up to, number by number; empty: the calls have none.
type shape struct {
	Models, Tiers, Meters []string
	Bands                 []uint32
	Lined                 int64 // calls
	Amounts               []uint64
}

// usedOfRows are the columns of a shape, and usedGroups what rows of one are grouped by.
const (
	usedOfRows = `
    CAST(used.model, 'Array(String)') AS used_models, CAST(used.tier, 'Array(String)') AS used_tiers, CAST(used.meter, 'Array(String)') AS used_meters, used.band AS used_bands,
    toInt64(countIf(notEmpty(used.meter))), sumForEach(used.amount)`
	usedGroups = `, used_models, used_tiers, used_meters, used_bands`
)

func (s *shape) fields() []any {
	return []any{&s.Models, &s.Tiers, &s.Meters, &s.Bands, &s.Lined, &s.Amounts}
}

// form names a shape.
func (s *shape) form() string {
	if s.Lined == 0 {
		return ""
	}
	return fmt.Sprintf("%q %q %q %v", s.Models, s.Tiers, s.Meters, s.Bands)
}

// add takes in other calls of the same shape.
func (s *shape) add(of shape) {
	s.Lined += of.Lined
	s.Amounts = slices.Clone(s.Amounts)
	for i, n := range of.Amounts {
		s.Amounts[i] += n
	}
}

// usedLine is what calls used of one model at one tier and band.
type usedLine struct {
	model, tier string
	band        uint32
	calls       int64 // that it is a line of
	first       bool  // of their lines
	meters      map[string]decimal.Decimal
}

// lines are what the calls of a row used: as their lines say, or, without any, their tokens.
func (r *tokenRow) lines() (lines []usedLine) {
	if r.one != nil {
		return []usedLine{*r.one}
	}
	if r.Lined == 0 {
		number := func(n *int64) decimal.Decimal {
			if n == nil {
				return decimal.Zero
			}
			return decimal.NewFromInt(*n)
		}
		if r.Counted == 0 {
			return nil
		}
		return []usedLine{{model: r.UpstreamModel, calls: r.Counted, first: true, meters: map[string]decimal.Decimal{
			"input": number(r.Input), "output": number(r.Output), "cached_input": number(r.Cached), "cache_write": number(r.CacheWrite), "reasoning": number(r.Reasoning)}}}
	}
	for i, model := range r.Models {
		last := len(lines) - 1
		if last < 0 || lines[last].model != model || lines[last].tier != r.Tiers[i] || lines[last].band != r.Bands[i] {
			lines = append(lines, usedLine{model: model, tier: r.Tiers[i], band: r.Bands[i], calls: r.Lined, first: i == 0, meters: map[string]decimal.Decimal{}})
			last++
		}
		of := lines[last].meters
		of[r.Meters[i]] = of[r.Meters[i]].Add(decimal.NewFromUint64(r.Amounts[i]))
	}
	return lines
}

// rowTokens are stats.Tokens as the rows of calls tell them: nil where no call reported that number.
type rowTokens struct {
	Input, Output, Cached, CacheWrite, Reasoning *int64
	stats.TokenStates
}

// tokenRowsQuery counts by comparing states and nulls, not as the view does it.
var tokenRowsQuery = `
SELECT
    toInt32(intDiv(toUnixTimestamp64Milli(start_time) + 8 * 3600000, 24 * 3600000)) AS day, toString(model) AS of_model, toString(upstream_model) AS of_upstream,
    toInt64(sum(input_tokens IS NOT NULL OR output_tokens IS NOT NULL)),
    toInt64(sum(input_tokens)), toInt64(sum(output_tokens)), toInt64(sum(cached_tokens)), toInt64(sum(cache_write_tokens)), toInt64(sum(reasoning_tokens)),
    toInt64(sum(usage_state = 'reported')), toInt64(sum(usage_state = 'partial')), toInt64(sum(usage_state = 'absent')), toInt64(sum(usage_state = 'unreadable')),
    toInt64(sum(streamed)), toInt64(sum(streamed AND usage_state = 'absent')),` + usedOfRows + `
FROM calls
WHERE application_id = {application:UUID} AND ` + between + ` AND usage_state != '' AND usage_state != 'none'
GROUP BY day, of_model, of_upstream` + usedGroups

// tokenRows counts the tokens of one application in the days that are answered. It reads every row of the range.
// Faults: Unavailable.
func (v *verifier) tokenRows(ctx context.Context, application uuid.UUID, days beijing.Range) (found []tokenRow, err error) {
	days = v.Stats.KeptStatistics(days)
	if days.Days() < 1 {
		return nil, nil
	}
	parameters := []any{"application", application, "from", days.Start.Start().Unix(), "to", days.End.End().Unix()}
	err = v.Stats.Stream(ctx, "recount tokens", tokenRowsQuery, parameters, func(scan func(...any) error) error {
		var row tokenRow
		var day int32
		columns := []any{&day, &row.Model, &row.UpstreamModel, &row.Counted, &row.Input, &row.Output, &row.Cached, &row.CacheWrite, &row.Reasoning,
			&row.Reported, &row.Partial, &row.Absent, &row.Unreadable, &row.Streamed, &row.StreamedAbsent}
		if err := scan(append(columns, row.fields()...)...); err != nil {
			return err
		}
		row.Day = beijing.Day(day)
		found = append(found, row)
		return nil
	})
	return found, err
}
