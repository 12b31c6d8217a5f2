package verify

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/stats"
)

// How a recounted figure stands in an answer is said here once more, not asked of whoever answers.

func each[T, V any](items []T, figure func(T) V) []V {
	figures := make([]V, len(items))
	for i, item := range items {
		figures[i] = figure(item)
	}
	return figures
}

// named are the figures of models with the names that capabilities have now.
func (v *verifier) named(ctx context.Context, usage []stats.ModelMetrics, counted *tokens) ([]openapi.ModelMetrics, error) {
	names, err := v.Catalog.Names(ctx)
	if err != nil {
		return nil, err
	}
	return each(usage, func(m stats.ModelMetrics) openapi.ModelMetrics { return counted.model(m, names[m.Model]) }), nil
}

func (t *tokens) call(c stats.Call) openapi.CallFields {
	figures := openapi.CallFields{
		CallID: c.CallID, StartTime: c.StartTime, Model: c.Model, Success: c.Success, StatusCode: int64(c.StatusCode),
		DurationMs: int64(c.DurationMs), EndedBy: c.EndedBy, Streamed: c.Streamed, FirstByteMs: wide(c.FirstByteMs),
		UsageState: orNull(c.UsageState), UpstreamModel: orNull(c.UpstreamModel), InputTokens: wide(c.Input), OutputTokens: wide(c.Output),
		CachedTokens: wide(c.Cached), CacheWriteTokens: wide(c.CacheWrite), ReasoningTokens: wide(c.Reasoning),
		UpstreamID: orNull(c.UpstreamID), Attempts: int64(c.Attempts), AttemptList: []openapi.CallAttempt{},
	}
	t.lines(&figures, c)
	if c.Estimated != 0 {
		figures.EstimatedTokens = wide(&c.Estimated)
	}
	if f := c.Failed; f.UpstreamID != "" {
		failed := openapi.CallAttempt{Reason: orNull(f.Reason), DurationMs: int64(f.DurationMs)}
		if f.Status != 0 {
			failed.Status = wide(&f.Status)
		}
		last := openapi.CallAttempt{DurationMs: figures.DurationMs - failed.DurationMs}
		if c.Success {
			last.Status = &figures.StatusCode
		} else if c.Reason != nil {
			last.Status, last.Reason = wide(c.Reason.UpstreamStatus), &c.Reason.Code
		}
		figures.AttemptList = append(figures.AttemptList, failed, last)
	}
	if c.KeyID != uuid.Nil {
		figures.KeyID = &c.KeyID
	}
	return figures
}

func (t *tokens) callLine(c stats.Call) openapi.Call {
	return openapi.Call{CallFields: t.call(c), Reason: reasonOf(c.Reason)}
}

func reasonOf(r *stats.FailureReason) *openapi.CallReason {
	if r == nil {
		return nil
	}
	return &openapi.CallReason{Type: r.Type, Code: r.Code, UpstreamStatus: wide(r.UpstreamStatus)}
}

// failureReasonOf is what a row tells of a call's failure; the message does not stand in the row.
func failureReasonOf(r *stats.FailureReason) *openapi.FailureReason {
	if r == nil {
		return nil
	}
	return &openapi.FailureReason{Type: r.Type, Code: r.Code, UpstreamStatus: wide(r.UpstreamStatus)}
}

func wide[N uint16 | uint32](n *N) *int64 {
	if n == nil {
		return nil
	}
	number := int64(*n)
	return &number
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// lines fills in what a call used, and what that costs: as a row of one call does.
func (t *tokens) lines(f *openapi.CallFields, c stats.Call) {
	day, _ := time.ParseInLocation(time.DateOnly, c.StartTime[:len(time.DateOnly)], time.UTC)
	row := tokenRow{Day: beijing.Date(day.Date()), Model: c.Model, UpstreamModel: c.UpstreamModel,
		rowTokens: rowTokens{Input: wide(c.Input), Output: wide(c.Output), Cached: wide(c.Cached), CacheWrite: wide(c.CacheWrite), Reasoning: wide(c.Reasoning)}}
	if c.Input != nil || c.Output != nil {
		row.Counted = 1
	}
	f.Lines = []openapi.CallLine{}
	for _, l := range c.Lines {
		line := openapi.CallLine{Model: orNull(l.Model), Tier: orNull(l.Tier), Band: int64(l.Band), Meters: map[string]int64{}}
		row.Lined = 1
		for _, m := range l.Meters {
			if !slices.Contains(ofCost, m.Name) {
				line.Meters[m.Name] = int64(m.Amount) //nolint:gosec // bounded when it was kept
			}
			row.Models, row.Tiers, row.Bands = append(row.Models, l.Model), append(row.Tiers, l.Tier), append(row.Bands, l.Band)
			row.Meters, row.Amounts = append(row.Meters, m.Name), append(row.Amounts, m.Amount)
		}
		f.Lines = append(f.Lines, line)
	}
	if row.Lined == 0 {
		meters := map[string]int64{}
		for name, n := range map[string]*uint32{"input": c.Input, "output": c.Output, "cached_input": c.Cached, "cache_write": c.CacheWrite, "reasoning": c.Reasoning} {
			if n != nil {
				meters[name] = int64(*n)
			}
		}
		if len(meters) > 0 {
			f.Lines = append(f.Lines, openapi.CallLine{Model: orNull(c.UpstreamModel), Meters: meters})
		}
	}
	one := tokens{book: t.book, rows: []tokenRow{row}}
	f.Cost = one.summary(stats.Metrics{}).Cost
	f.AnswerID, f.User, f.Tags = orNull(c.AnswerID), orNull(c.EndUser), map[string]string{}
	for _, tag := range c.Tags {
		f.Tags[tag.Name] = tag.Value
	}
	if c.ReportedCost != nil {
		f.ReportedCost = &openapi.ReportedCost{Amount: c.ReportedCost.String(), Currency: orNull(c.ReportedCurrency)}
	}
}
