package verify

import (
	"context"

	"github.com/google/uuid"

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

func callFigures(c stats.Call) openapi.CallFields {
	figures := openapi.CallFields{
		CallID: c.CallID, StartTime: c.StartTime, Model: c.Model, Success: c.Success, StatusCode: int64(c.StatusCode),
		DurationMs: int64(c.DurationMs), EndedBy: c.EndedBy, Streamed: c.Streamed, FirstByteMs: wide(c.FirstByteMs),
		UsageState: orNull(c.UsageState), UpstreamModel: orNull(c.UpstreamModel), InputTokens: wide(c.Input), OutputTokens: wide(c.Output),
		CachedTokens: wide(c.Cached), CacheWriteTokens: wide(c.CacheWrite), ReasoningTokens: wide(c.Reasoning),
		UpstreamID: orNull(c.UpstreamID), Attempts: int64(c.Attempts), AttemptList: []openapi.CallAttempt{},
	}
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

func callLine(c stats.Call) openapi.Call {
	return openapi.Call{CallFields: callFigures(c), Reason: reasonOf(c.Reason)}
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
